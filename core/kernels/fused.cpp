#include "core/kernels/fused.h"

#include <fmt/format.h>

#include "core/call.h"
#include "core/kernels/fused_drive_few.h"
#include "core/kernels/projections.h"
#include "core/memory.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/trace.h"

namespace attn {
namespace {

Failure stopped() { return failed("the attention call was stopped"); }

Result<void> check_row_sums(const Trace& forward, const Dimensions& size) {
    const Shape wanted{size.batch, size.heads, size.tq, 1};
    for (const Tensor* each : {&forward.logsumexp, &forward.row_max, &forward.row_log2_sum})
        if (each->shape() != wanted)
            return bad_input(fmt::format(
                "the forward trace holds the rows' sums as {} but backward needs {}: expected a "
                "trace of backend fused",
                to_string(each->shape()), to_string(wanted)));
    return {};
}

/// What keeps V may be differentiated: then both passes round scores alike, in the same tiles.
FusedKernels own_kernels(const RunControl& control, bool keeps_v = true) {
    return {[&control, keeps_v](const Call& call, const HeadTensors& operands) {
                const bool few = has_few_queries(call.size()) && !keeps_v;
                return (few ? attend_few_queries : attend_fused)(call, operands, control);
            },
            [&](const BackwardInputs& in) { return differentiate_fused(in, control); }};
}

class FusedBackend final : public Backend {
  public:
    std::string_view name() const override { return "fused"; }
    std::string_view description() const override {
        return "single precision, SIMD and threads, never stores scores or weights";
    }
    StageSet stages() const override { return fused_stages(); }

    std::optional<std::string> supports(const Call& call) const override {
        const Score score = call.spec().score;
        if (is_dot(score)) return std::nullopt;
        return fmt::format("score {} is not a dot product; expected backend staged or reference",
                           info(score).key);
    }

    Result<Trace> forward(const Call& call, StageSet keep,
                          const RunControl& control) const override {
        return fits(call).and_then([&] { return fused_forward(call, keep, control); });
    }

    Result<Trace> backward(const Call& call, const Trace& forward, const Upstream& upstream,
                           const RunControl& control) const override {
        return fits(call)
            .and_then([&] {
                return check_fits_in_memory(backward_bytes(call), "the gradients",
                                            "use fewer threads or attend over fewer tokens",
                                            call.size());
            })
            .and_then([&] { return fused_backward(call, forward, upstream, control); });
    }

  private:
    static Result<void> fits(const Call& call) {
        return check_fits_in_memory(call.size(), call.spec(), fused_stages(), sizeof(float));
    }
};

}  // namespace

StageSet fused_stages() { return ~pair_stages(); }

Result<Trace> fused_forward(const Call& call, StageSet keep, const RunControl& control) {
    return fused_forward(call, keep, own_kernels(control, keep[index_of(Stage::v)]));
}

Result<Trace> fused_backward(const Call& call, const Trace& forward, const Upstream& upstream,
                             const RunControl& control) {
    return fused_backward(call, forward, upstream, own_kernels(control));
}

Result<Trace> fused_forward(const Call& call, StageSet keep, const FusedKernels& kernels) {
    Trace trace;
    const HeadTensors heads = head_tensors(call, trace);
    const Operands made = make_operands(call, heads.q, heads.k);
    auto attended = kernels.attend(call, operands_of(heads, made));
    if (!attended) return stopped();
    trace[Stage::context] = std::move(attended->context);
    trace.logsumexp = std::move(attended->logsumexp);
    trace.row_max = std::move(attended->row_max);
    trace.row_log2_sum = std::move(attended->row_log2_sum);
    if (keep[index_of(Stage::output)])
        trace[Stage::output] = join_heads(call.inputs(), call.size(), trace[Stage::context]);
    keep_only(call.inputs(), keep, trace);
    return trace;
}

Result<Trace> fused_backward(const Call& call, const Trace& forward, const Upstream& upstream,
                             const FusedKernels& kernels) {
    if (auto valid = check_row_sums(forward, call.size()); !valid)
        return tl::unexpected(valid.error());
    Trace d = begin_gradients(call, forward[Stage::context], upstream);
    const HeadTensors heads = held_heads(call, forward);
    const Operands made = make_operands(call, heads.q, heads.k);
    const HeadTensors operands = operands_of(heads, made);
    auto gradients = kernels.differentiate({call, operands, forward, d[Stage::context]});
    if (!gradients) return stopped();
    d[Stage::v] = std::move(gradients->d_v);
    d.params[Param::sinks] = std::move(gradients->d_sinks);
    d.bias = std::move(gradients->d_bias);
    scores_backward(call, forward, heads, {std::move(gradients->d_q), std::move(gradients->d_k)},
                    d);
    inputs_backward(call.inputs(), d);
    return d;
}

const Backend& fused_backend() {
    static const FusedBackend backend;
    return backend;
}

}  // namespace attn
