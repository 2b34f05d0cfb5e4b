#pragma once

#include <utility>

#include "core/dimensions.h"
#include "core/forward.h"
#include "core/result.h"
#include "core/spec.h"

namespace attn {

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

}  // namespace attn
