#pragma once

#include <string_view>

#include "core/forward.h"
#include "core/result.h"
#include "core/run_control.h"
#include "core/stage.h"

namespace attn {

struct AttentionSpec;

/// Checks that `upstream` is given at context or output, in that stage's shape or empty, and that
/// `forward` holds what backward needs of the stages that the backend keeps: q, k, v, q_rot and k_rot (with RoPE),
/// weights, dropped (when p > 0) and context.
template <class Scalar>
Result<void> validate_backward(const CallOf<Scalar>& call, const TraceOf<Scalar>& forward,
                               const UpstreamOf<Scalar>& upstream, StageSet stored = all_stages());
extern template Result<void> validate_backward(const Call&, const Trace&, const Upstream&,
                                               StageSet);
extern template Result<void> validate_backward(const CallD&, const TraceD&, const UpstreamD&,
                                               StageSet);

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

Result<Trace> attend(const Call& call, const Backend& backend, StageSet keep = all_stages(),
                     const RunControl& control = {});

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
Result<Trace> attend_backward(const Call& call, const Trace& forward, const Upstream& upstream,
                              const Backend& backend, const RunControl& control = {});

/// The reference in full precision: double in, double out, plain loops.
Result<TraceD> attend_exact(const InputsD& inputs, const AttentionSpec& spec);
Result<TraceD> attend_exact_backward(const InputsD& inputs, const AttentionSpec& spec,
                                     const TraceD& forward, const UpstreamD& upstream);

}  // namespace attn
