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
    Index d_model = 0;     // 0 when Q, K, V are given
    Index d_model_kv = 0;  // of X_kv; 0 when there is none
    Index d_out = 0;       // of `output`: columns of W_O, or H·d_v
};

/// Checks every shape and option against every other. The sentence of an error names the tensor or
/// option, its value and what was expected. NaN and inf in tensors are allowed: they travel.
Result<Dimensions> validate(const Inputs& inputs, const AttentionSpec& spec);
Result<Dimensions> validate(const InputsD& inputs, const AttentionSpec& spec);

/// The factor from scores to scaled: scale / temperature.
double score_factor(const AttentionSpec& spec, Index d_k);

/// The shape of a stage in this call; count 0 when the call does not have it (X when Q, K, V are
/// given, X_kv without cross-attention, dropped without dropout).
Shape stage_shape(Stage stage, const Dimensions& size, const AttentionSpec& spec);

/// Checks that `upstream` is given at context or output, in that stage's shape or empty, and that
/// `forward` holds what backward needs of the stages that the backend keeps: q, k, v, weights,
/// dropped (when p > 0) and context.
Result<void> validate_backward(const Dimensions& size, const AttentionSpec& spec,
                               const Trace& forward, const Upstream& upstream,
                               StageSet kept = all_stages());
Result<void> validate_backward(const Dimensions& size, const AttentionSpec& spec,
                               const TraceD& forward, const UpstreamD& upstream,
                               StageSet kept = all_stages());

/// validate -> backend -> trace. `backend` is a name of backends(), or "auto": choose_backend() has the rule.
/// Shape of each stage: stage_shape().
/// Edge: a forbidden pair weighs exactly 0 and contributes nothing, in value and in gradient, even
/// where its K or V is NaN; only `scores`, `scaled` and the gradient of `weights` show it. A NaN or
/// +inf at an allowed pair makes NaN of the allowed weights of its row, and so do allowed scores
/// that are all −inf (0/0): only a row that the mask left empty follows `empty_rows`.
/// Fails (ErrorKind::failure) when the stages to keep do not fit in this machine's memory.
Result<Trace> attend(const Inputs& inputs, const AttentionSpec& spec,
                     std::string_view backend = "auto", StageSet keep = all_stages());
/// By a backend that may be none of backends(). Once `control` was stopped it fails, where the backend can be stopped.
Result<Trace> attend(const Inputs& inputs, const AttentionSpec& spec, const Backend& backend,
                     StageSet keep = all_stages(), const RunControl& control = {});

/// Gradients of L = Σ upstream ∘ stage, for every stage, input and parameter.
/// `forward` is what `attend` gave for the same inputs, spec and backend with all stages kept; "auto" goes by the
/// stages that it holds.
/// d_weights is full, forbidden pairs too: what a weight there would do. d_masked, d_scaled and
/// d_scores are exactly 0 at a forbidden pair, so an empty row has no gradient; under
/// EmptyRows::nan its NaN travels to d_q, d_k and d_v instead.
Result<Trace> attend_backward(const Inputs& inputs, const AttentionSpec& spec, const Trace& forward,
                              const Upstream& upstream, std::string_view backend = "auto");
Result<Trace> attend_backward(const Inputs& inputs, const AttentionSpec& spec, const Trace& forward,
                              const Upstream& upstream, const Backend& backend);

/// The reference in full precision: double in, double out, plain loops.
Result<TraceD> attend_exact(const InputsD& inputs, const AttentionSpec& spec);
Result<TraceD> attend_exact_backward(const InputsD& inputs, const AttentionSpec& spec,
                                     const TraceD& forward, const UpstreamD& upstream);

}  // namespace attn
