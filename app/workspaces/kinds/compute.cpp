#include "app/workspaces/kinds/compute.h"

#include "app/workspaces/kinds/state.h"
#include "app/workspaces/kinds/workspace.h"
#include "core/engine.h"

namespace attn::view {
namespace {

/// Q, K and V of the head shown as they are given, of the trace, or projected here.
Result<KindsCall> call_of(const AppState& state) {
    const Document& document = state.document();
    const Inputs& inputs = *document.inputs;
    const auto of_head = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
        const Index group = state.head_in(HeadAxis::key_value);
        return KindsCall{kind_input(q, state.batch, state.head),
                         kind_input(k, state.batch, group),
                         kind_input(v, state.batch, group),
                         mask_of_head(document.spec.mask, state.batch, state.head),
                         document.spec.empty_rows,
                         document.size.query_offset,
                         state.head,
                         std::max<Index>(document.size.heads, 1),
                         kinds_controls(state).seed};
    };
    if (!inputs.projects()) return of_head(inputs.q, inputs.k, inputs.v);
    const Trace& trace = *state.trace;
    if (!trace[Stage::q].empty() && !trace[Stage::k].empty() && !trace[Stage::v].empty())
        return of_head(trace[Stage::q], trace[Stage::k], trace[Stage::v]);
    StageSet keep;
    keep.set(index_of(Stage::q)).set(index_of(Stage::k)).set(index_of(Stage::v));
    return attend(inputs, document.spec, kAuto, keep).map([&](const Trace& own) {
        return of_head(own[Stage::q], own[Stage::k], own[Stage::v]);
    });
}

KindsResult compute_kinds(const AppState& state) {
    const KindsControls& controls = kinds_controls(state);
    KindsResult result;
    result.document = state.shared_document();
    result.batch = state.batch;
    result.head = state.head;
    result.a_kind = controls.a;
    result.b_kind = controls.b;
    result.call.seed = controls.seed;
    result.fault = kinds_lacks(state);
    if (!result.fault.empty()) return result;
    auto call = call_of(state);
    if (!call) {
        result.fault = call.error().sentence;
        return result;
    }
    result.call = *std::move(call);
    result.a = compute_kind(result.call, controls.a);
    result.b = compute_kind(result.call, controls.b);
    if (result.whole()) static_cast<KindsComparison&>(result) = compare_kinds(result.a, result.b);
    return result;
}

}  // namespace

bool is_current(const KindsResult& result, const AppState& state) {
    const KindsControls& controls = kinds_controls(state);
    return result.document == state.shared_document() && result.batch == state.batch &&
           result.head == state.head && result.a_kind == controls.a &&
           result.b_kind == controls.b && result.call.seed == controls.seed;
}

void follow_kinds(AppState& state) {
    KindsLook& look = kinds_look(state);
    if (state.workspace != "kinds") return;
    if (look.result && is_current(*look.result, state)) return;
    look.result = std::make_shared<const KindsResult>(compute_kinds(state));
}

}  // namespace attn::view
