#pragma once

#include <utility>

#include "core/result.h"
#include "core/spec.h"
#include "core/trace.h"

namespace attn {

/// The sizes of one call, worked out from inputs and spec. H query heads share Hkv key/value heads.
struct Dimensions {
    Index batch = 0;
    Index heads = 0;
    Index kv_heads = 0;
    Index tq = 0;
    Index tk = 0;
    Index d_k = 0;
    Index d_v = 0;
    Index d_model = 0;       // 0 when Q, K, V are given
    Index d_model_kv = 0;    // of X_kv; 0 when there is none
    Index d_out = 0;         // of `output`: columns of W_O, or H·d_v
    Index query_offset = 0;  // position of query 0
};

/// Position of query 0 in a call with these numbers of queries and keys.
inline Index query_offset(const AttentionSpec& spec, const Dimensions& size) {
    const bool bottom_right = spec.mask.causal == CausalAlign::bottom_right;
    return spec.query_offset.value_or(bottom_right ? size.tk - size.tq : 0);
}

/// One attention call whose inputs and options fit together: validate() alone makes it, and backends trust it. It looks
/// at the inputs, which the caller keeps.
template <class Scalar>
class CallOf {
  public:
    const InputsOf<Scalar>& inputs() const { return *inputs_; }
    const AttentionSpec& spec() const { return spec_; }
    const Dimensions& size() const { return size_; }

    template <class Any>
    friend Result<CallOf<Any>> validate(const InputsOf<Any>& inputs, const AttentionSpec& spec);

  private:
    CallOf(const InputsOf<Scalar>& inputs, AttentionSpec spec, const Dimensions& size)
        : inputs_(&inputs), spec_(std::move(spec)), size_(size) {}

    const InputsOf<Scalar>* inputs_;
    AttentionSpec spec_;
    Dimensions size_;
};

using Call = CallOf<float>;
using CallD = CallOf<double>;

/// Checks every shape and option against every other. The sentence of an error names the tensor or
/// option, its value and what was expected. NaN and inf in tensors are allowed: they travel.
template <class Scalar>
Result<CallOf<Scalar>> validate(const InputsOf<Scalar>& inputs, const AttentionSpec& spec);
extern template Result<Call> validate(const Inputs& inputs, const AttentionSpec& spec);
extern template Result<CallD> validate(const InputsD& inputs, const AttentionSpec& spec);

/// The factor from scores to scaled: scale / temperature.
double score_factor(const AttentionSpec& spec, Index d_k);

/// How long an axis of a stage is; 0: none of softmax attention's has it.
Index length(Axis axis, const Dimensions& size);
/// Whether a call of this spec has what exists so; what only comes with X has width 0 without it.
bool exists(Exists when, const AttentionSpec& spec);

/// The shape of a stage in this call; count 0 when the call does not have it (StageInfo::exists).
Shape stage_shape(Stage stage, const Dimensions& size, const AttentionSpec& spec);
/// `stage` if this call has it, else its substitute: the stage that it would be made from
/// (scaled for biased, weights for dropped, q for q_rot).
Stage stage_or_source(Stage stage, const AttentionSpec& spec);

}  // namespace attn
