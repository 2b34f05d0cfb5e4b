#pragma once

#include <string_view>

#include "core/backend.h"

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
    Index d_model = 0;  // 0 when Q, K, V are given
    Index d_out = 0;    // of `output`: columns of W_O, or H·d_v
};

/// Checks every shape and option against every other. The sentence of an error names the tensor or
/// option, its value and what was wanted. NaN and inf in tensors are allowed: they travel.
Result<Dimensions> validate(const Inputs& inputs, const AttentionSpec& spec);
Result<Dimensions> validate(const InputsD& inputs, const AttentionSpec& spec);

/// The factor from scores to scaled: scale / temperature.
double score_factor(const AttentionSpec& spec, Index d_k);

/// validate -> backend -> trace. `backend` is a name of backends(); "auto" picks one
/// (staged while every stage is wanted). Shape of each stage: see DESIGN of stages.h.
Result<Trace> attend(const Inputs& inputs, const AttentionSpec& spec,
                     std::string_view backend = "auto", StageSet keep = all_stages());

/// Gradients of L = Σ upstream ∘ stage, for every stage, input and parameter.
/// `forward` is what `attend` gave for the same inputs, spec and backend with all stages kept.
Result<Trace> attend_backward(const Inputs& inputs, const AttentionSpec& spec,
                              const Trace& forward, const Upstream& upstream,
                              std::string_view backend = "auto");

/// The judge in full precision: double in, double out, plain loops.
Result<TraceD> attend_exact(const InputsD& inputs, const AttentionSpec& spec);
Result<TraceD> attend_exact_backward(const InputsD& inputs, const AttentionSpec& spec,
                                     const TraceD& forward, const UpstreamD& upstream);

}  // namespace attn
