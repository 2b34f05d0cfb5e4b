#include "app/cli/trace_parts.h"

#include <fmt/format.h>

#include "app/common/or_throw.h"
#include "app/files/call.h"
#include "app/files/text.h"
#include "core/call.h"
#include "core/engine.h"
#include "core/stages.h"
#include "core/stopwatch.h"
#include "core/text.h"
#include "core/train/task_table.h"

namespace attn::cli {
namespace {

const OperationInfo& row_of(const files::FileCall& call) { return info(call.operation->operation); }

std::vector<bool> parse_keep(const OperationInfo& operation, std::string_view text) {
    std::vector<std::string> keys;
    for (const OperationStage& stage : operation.stages) keys.emplace_back(stage.key);
    std::vector<bool> keep(keys.size(), text.empty());
    for (const std::string_view key : files::split_list(text)) {
        const auto found = std::ranges::find(keys, key);
        if (found == keys.end())
            throw bad_input(
                fmt::format("--keep has the unknown stage '{}' of operation {}{}; expected {}", key,
                            operation.key, files::did_you_mean(key, keys), choices(keys)));
        keep[found - keys.begin()] = true;
    }
    return keep;
}

/// The context of softmax attention with the same inputs and options.
Tensor exact_context(const Call& call) {
    StageSet keep;
    keep.set(index_of(Stage::context));
    const Backend& backend = *or_throw(choose_backend("auto", call, keep));
    Trace trace = or_throw(attend(call, backend, keep));
    return std::move(trace[Stage::context]);
}

/// A joined stage is [B,T,d]; one number a row is [B,H,T].
std::vector<Index> stage_extents(const OperationStage& stage, const Shape& shape) {
    if (stage.heads == HeadAxis::none) return {shape.b, shape.t, shape.d};
    if (stage.columns == Axis::one) return {shape.b, shape.h, shape.t};
    return {shape.b, shape.h, shape.t, shape.d};
}

void add_stages(const OperationTrace& trace, const std::vector<bool>& keep, std::string_view prefix,
                std::vector<NpzEntry>& entries) {
    const auto stages = info(trace.operation).stages;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        const Tensor& tensor = trace.stages[s];
        if (!keep[s] || tensor.empty()) continue;
        entries.push_back({fmt::format("{}{}", prefix, stages[s].key),
                           stage_extents(stages[s], tensor.shape()), tensor.values()});
    }
}

/// "12 kB" of a count of bytes.
std::string bytes_text(double bytes) {
    if (bytes < 1e4) return fmt::format("{:.0f} B", bytes);
    if (bytes < 1e7) return fmt::format("{:.0f} kB", bytes * 1e-3);
    return fmt::format("{:.0f} MB", bytes * 1e-6);
}

}  // namespace

OperationRun run_operation_of(const files::FileCall& call, const OperationRequest& request) {
    if (request.backend != "auto")
        throw bad_input(
            fmt::format("--backend is '{}', but operation {} has none to choose: it computes in "
                        "double, plain loops",
                        request.backend, row_of(call).key));
    auto keep = parse_keep(row_of(call), request.keep);
    const auto checked = or_throw(validate(call.inputs, call.spec));
    OperationRun run;
    run.keep = std::move(keep);
    const Stopwatch start;
    auto forward = or_throw(run_operation(*call.operation, checked, call.operation_params));
    run.forward = std::move(forward);
    run.forward_ms = start.ms();
    const auto exact = exact_context(checked);
    run.error = operation_error(run.forward["context"], exact);
    if (!request.grad) return run;
    const Stopwatch turn;
    auto gradient = or_throw(
        run_operation_backward(*call.operation, checked, call.operation_params, call.upstream));
    run.gradient = std::move(gradient);
    run.backward_ms = turn.ms();
    return run;
}

std::vector<NpzEntry> operation_entries(const files::FileCall& call, const OperationRun& run) {
    std::vector<NpzEntry> entries;
    add_stages(run.forward, run.keep, "", entries);
    if (!run.gradient) return entries;
    add_stages(*run.gradient, run.keep, "d_", entries);
    const auto params = row_of(call).params;
    for (std::size_t p = 0; p < params.size(); ++p) {
        const Tensor& tensor = run.gradient->params.tensors[p];
        const Shape shape = tensor.shape();
        std::vector<Index> extents{shape.h, shape.t, shape.d};
        if (params[p].rows == Axis::query) {  // [B,H,Tq] or [B,H,Tq,d_k], as stages
            extents.insert(extents.begin(), shape.b);
            if (params[p].columns == Axis::one) extents.pop_back();
        }
        entries.push_back(
            {fmt::format("d_{}", params[p].key), std::move(extents), tensor.values()});
    }
    add_param_gradients(call, run.gradient->call_params, entries);
    return entries;
}

std::string operation_summary(const files::FileCall& call, const OperationRun& run) {
    const OperationInfo& row = row_of(call);
    const OperationCost cost = row.cost(call.size, call.spec, *call.operation);
    const OperationCost softmax = attention_cost(call.size, call.spec);
    std::string text = fmt::format("operation {}, forward {:.2f} ms", row.key, run.forward_ms);
    if (run.gradient)
        text += fmt::format(", forward and backward {:.2f} ms from {} at {}", run.backward_ms,
                            call.upstream.gradient.empty() ? "ones" : "the given gradient",
                            info(call.upstream.stage).key);
    text += fmt::format("\n{:.3g} FLOPs, keeps {}; softmax attention {:.3g} FLOPs, keeps {}\n",
                        cost.flops(), bytes_text(cost.stored_bytes()), softmax.flops(),
                        bytes_text(softmax.stored_bytes()));
    return text + fmt::format(
                      "context against softmax attention's: at most {:.3g} apart, ‖difference‖ / "
                      "‖softmax‖ {:.3g}\n",
                      run.error.largest, run.error.relative);
}

}  // namespace attn::cli
