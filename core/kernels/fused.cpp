#include "core/kernels/fused.h"

#include <cmath>

#include <fmt/format.h>

#include "core/kernels/fused_drive_backward.h"
#include "core/kernels/projections.h"
#include "core/memory.h"

namespace attn {
namespace {

tl::unexpected<Error> stopped() { return failed("the attention call was stopped"); }

Result<void> check_logsumexp(const Trace& forward, const Dimensions& size) {
    const Shape wanted{size.batch, size.heads, size.tq, 1};
    if (forward.logsumexp.shape() == wanted) return {};
    return bad_input(fmt::format("the forward trace holds logsumexp as {} but backward needs {}",
                                 to_string(forward.logsumexp.shape()), to_string(wanted)));
}

/// P = exp(S − L) loses what L loses to rounding: its relative error is |L| · 2^-24. Beyond this limit that
/// is 0.4 %, and no gradient comes of it rather than a plausible wrong one.
constexpr float kLargestLogsumexp = 65536.0F;

Result<void> check_weights_survive(const Tensor& logsumexp) {
    for (const float l : logsumexp.values())
        if (std::isfinite(l) && std::abs(l) > kLargestLogsumexp)
            return bad_input(fmt::format(
                "the logsumexp of a row is {:g}: fused takes gradients up to {:g}, because it "
                "computes weights anew from it; expected backend staged or reference",
                l, kLargestLogsumexp));
    return {};
}

class FusedBackend final : public Backend {
  public:
    std::string_view name() const override { return "fused"; }
    std::string_view description() const override {
        return "single precision, SIMD and threads, never stores scores or weights";
    }
    StageSet stages() const override { return fused_stages(); }

    Result<Trace> forward(const Inputs& inputs, const AttentionSpec& spec,
                          StageSet keep) const override {
        return forward_stoppable(inputs, spec, keep, {});
    }
    Result<Trace> forward_stoppable(const Inputs& inputs, const AttentionSpec& spec, StageSet keep,
                                    const RunControl& control) const override {
        return checked(inputs, spec).and_then([&](const Dimensions& size) {
            return fused_forward(inputs, spec, size, keep, control);
        });
    }

    Result<Trace> backward(const Inputs& inputs, const AttentionSpec& spec, const Trace& forward,
                           const Upstream& upstream) const override {
        return checked(inputs, spec).and_then([&](const Dimensions& size) {
            return fused_backward(inputs, spec, size, forward, upstream);
        });
    }

  private:
    /// The sizes of a call that fits in memory.
    static Result<Dimensions> checked(const Inputs& inputs, const AttentionSpec& spec) {
        return validate(inputs, spec).and_then([&](const Dimensions& size) {
            return check_fits_in_memory(size, spec, fused_stages(), sizeof(float)).map([&] {
                return size;
            });
        });
    }
};

}  // namespace

StageSet fused_stages() { return ~pair_stages(); }

Result<Trace> fused_forward(const Inputs& inputs, const AttentionSpec& spec, const Dimensions& size,
                            StageSet keep, const RunControl& control) {
    Trace trace;
    const HeadTensors heads = head_tensors(inputs, spec, size, trace);
    auto attended = attend_fused(heads, spec, size, control);
    if (!attended) return stopped();
    trace[Stage::context] = std::move(attended->context);
    trace.logsumexp = std::move(attended->logsumexp);
    if (keep[index_of(Stage::output)])
        trace[Stage::output] = join_heads(inputs, size, trace[Stage::context]);
    keep_only(inputs, keep, trace);
    return trace;
}

Result<Trace> fused_backward(const Inputs& inputs, const AttentionSpec& spec,
                             const Dimensions& size, const Trace& forward, const Upstream& upstream,
                             const RunControl& control) {
    if (auto fine = check_logsumexp(forward, size); !fine) return tl::unexpected(fine.error());
    if (auto fine = check_weights_survive(forward.logsumexp); !fine)
        return tl::unexpected(fine.error());
    Trace d;
    d[Stage::context] = Tensor(stage_shape(Stage::context, size, spec));
    d[upstream.stage] = upstream.gradient.empty()
                            ? Tensor(stage_shape(upstream.stage, size, spec), 1.0F)
                            : upstream.gradient;
    if (upstream.stage == Stage::output) output_backward(inputs, size, forward[Stage::context], d);
    const HeadTensors heads{forward[Stage::q], forward[Stage::k], forward[Stage::v]};
    auto gradients =
        differentiate_fused({heads, forward[Stage::context], forward.logsumexp, d[Stage::context]},
                            spec, size, control);
    if (!gradients) return stopped();
    d[Stage::q] = std::move(gradients->d_q);
    d[Stage::k] = std::move(gradients->d_k);
    d[Stage::v] = std::move(gradients->d_v);
    inputs_backward(inputs, d);
    return d;
}

const Backend& fused_backend() {
    static const FusedBackend backend;
    return backend;
}

}  // namespace attn
