#include "app/workspaces/kinds/compute.h"

#include <new>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/state.h"
#include "app/workspaces/kinds/actions.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/kinds/text.h"
#include "app/workspaces/kinds/view.h"
#include "core/engine.h"
#include "core/stages.h"

namespace attn::view {
namespace {

/// Q, K and V of the head as they are given, of the trace, or projected here.
Result<KindsCall> call_of(const KindsRequest& request) {
    const Document& document = *request.document;
    const Inputs& inputs = *document.inputs;
    const auto of_head = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
        return KindsCall{kind_input(q, request.batch, request.head),
                         kind_input(k, request.batch, request.group),
                         kind_input(v, request.batch, request.group),
                         mask_of_head(document.spec.mask, request.batch, request.head),
                         document.spec.bias_before_softcap,
                         document.spec.empty_rows,
                         document.size.query_offset,
                         request.head,
                         std::max<Index>(document.size.heads, 1),
                         request.seed};
    };
    if (!inputs.projects()) return of_head(inputs.q, inputs.k, inputs.v);
    const Trace& trace = *request.trace;
    if (!trace[Stage::q].empty() && !trace[Stage::k].empty() && !trace[Stage::v].empty())
        return of_head(trace[Stage::q], trace[Stage::k], trace[Stage::v]);
    StageSet keep;
    keep.set(index_of(Stage::q)).set(index_of(Stage::k)).set(index_of(Stage::v));
    return attend(inputs, document.spec, kAuto, keep).map([&](const Trace& own) {
        return of_head(own[Stage::q], own[Stage::k], own[Stage::v]);
    });
}

/// What it is of.
KindsResult result_for(const KindsRequest& request) {
    KindsResult result;
    result.document = request.document;
    result.batch = request.batch;
    result.head = request.head;
    result.a_kind = request.a;
    result.b_kind = request.b;
    result.call.seed = request.seed;
    return result;
}

KindsResult compute_kinds(const KindsRequest& request) {
    KindsResult result = result_for(request);
    auto call = call_of(request);
    if (!call) {
        result.fault = call.error().text();
        return result;
    }
    result.call = *std::move(call);
    result.a = compute_kind(result.call, request.a);
    result.b = compute_kind(result.call, request.b);
    if (result.whole()) static_cast<KindsComparison&>(result) = compare_kinds(result.a, result.b);
    return result;
}

std::vector<std::uint8_t> inverted(std::vector<std::uint8_t> allowed) {
    for (std::uint8_t& one : allowed) one = one == 0 ? 1 : 0;
    return allowed;
}

/// Both sides have one where both are weights: to the larger of their largest.
ColorRange range_of_side(const KindsResult& result, KindsSide which) {
    const KindComputed& side = result.side(which);
    const auto of = [](const KindComputed& one) { return weights_range(one.shown.matrix(0, 0)); };
    if (!side.has_shares) return signed_range(side.shown.matrix(0, 0));
    ColorRange range = of(side);
    for (const KindComputed* other : {&result.a, &result.b})
        if (other->has_shares) range.high = std::max(range.high, of(*other).high);
    return range;
}

MapCellsPtr side_cells(const std::shared_ptr<const KindsResult>& result, KindsSide which) {
    const KindComputed& side = result->side(which);
    const auto values = side.shown.matrix(0, 0);
    return make_cells(
        {.title = fmt::format("{}  {}", which == KindsSide::a ? "A" : "B", kind_text(side.kind)),
         .noun = "weight",
         .values = values,
         .owner = result,
         .masked = inverted(side.allowed),
         .range = range_of_side(*result, which)});
}

/// A, B and B − A as maps; none where they are grids.
MapCellsSet cells_of(const std::shared_ptr<const KindsResult>& result) {
    if (!result->whole() || !is_long(*result->document)) return {};
    MapCells change{.title = "B − A", .noun = "B − A", .role = Role::score};
    change.values = result->difference_shown.matrix(0, 0);
    change.owner = result;
    change.masked = masked_on_both(*result);
    change.range = signed_range(change.values);
    return {side_cells(result, KindsSide::a), side_cells(result, KindsSide::b),
            make_cells(std::move(change))};
}

KindsRequest request_of(const AppState& state) {
    const KindsControls& controls = kinds_controls(state);
    return {state.shared_document(),
            state.trace,
            state.batch,
            state.head,
            state.head_in(HeadAxis::key_value),
            controls.a,
            controls.b,
            controls.seed};
}

}  // namespace

bool is_current(const KindsResult& result, const AppState& state) {
    const KindsControls& controls = kinds_controls(state);
    return result.document == state.shared_document() && result.batch == state.batch &&
           result.head == state.head && result.a_kind == controls.a &&
           result.b_kind == controls.b && result.call.seed == controls.seed;
}

std::vector<std::uint8_t> masked_on_both(const KindsResult& result) {
    std::vector<std::uint8_t> masked = inverted(result.a.allowed);
    for (std::size_t n = 0; n < masked.size(); ++n)
        if (result.b.allowed[n] != 0) masked[n] = 0;
    return masked;
}

std::optional<KindsRequest> requested_kinds(const AppState& state) {
    const auto& result = kinds_look(state).result;
    if (state.workspace != "kinds" || (result && is_current(*result, state))) return std::nullopt;
    return request_of(state);
}

Action run(const KindsRequest& request, const RunControl&) {
    KindsResult result;
    try {
        result = compute_kinds(request);
    } catch (const std::bad_alloc&) {
        result = result_for(request);
        result.fault = "There is not enough memory for both sides.";
    }
    return KindsReady{std::make_shared<const KindsResult>(std::move(result))};
}

void carry_out(AppState& state, const KindsReady& action) {
    if (!action.result || !is_current(*action.result, state)) return;
    kinds_look(state).result = action.result;
    kinds_look(state).maps = cells_of(action.result);
}

void follow_kinds(AppState& state) {
    const auto request = requested_kinds(state);
    if (!request) return;
    const Dimensions& size = state.document().size;
    if (const std::string fault = kinds_missing_data(state); !fault.empty()) {
        KindsResult missing = result_for(*request);
        missing.fault = fault;
        carry_out(state, KindsReady{std::make_shared<const KindsResult>(std::move(missing))});
    } else if (size.tq * size.tk <= kAtOncePairs) {
        run(*request, {}).carry_out(state);
    }
}

}  // namespace attn::view
