#include "app/view/actions.h"
#include "app/view/document/edits.h"
#include "app/view/heads/compute.h"
#include "app/view/kinds/compute.h"
#include "app/view/lookup/compute.h"
#include "app/view/step/edit_cell.h"
#include "app/view/step_map.h"

namespace attn::view {
namespace {

/// What undo covers, to see whether an action changed it.
struct Present {
    std::size_t now, steps;
    std::shared_ptr<const Document> document;
    SaturationControls saturation;
    KindsControls kinds;
    NumericsControls numerics;
    CostControls cost;
    LookupControls lookup;
    LearnControls learn;

    explicit Present(const AppState& state)
        : now(state.now),
          steps(state.history.size()),
          document(state.shared_document()),
          saturation(state.saturation()),
          kinds(state.kinds()),
          numerics(state.numerics()),
          cost(state.cost()),
          lookup(state.lookup()),
          learn(state.learn_controls()) {}
    bool operator==(const Present&) const = default;
};

bool is_typing(const AppState& state) {
    return state.gesture && state.gesture->action == &kActionType<TypeText>;
}

/// Within a gesture the edits of one kind of action are one step; anything else but what happens beside it ends it. Typing
/// is a gesture without a mouse: anything else ends it too.
void settle_gesture(AppState& state, const Action& action) {
    const Kind kind = kind_of(action);
    if (kind == Kind::moment || kind == Kind::answer) return;
    const bool types = action.is<TypeText>();
    if (kind != Kind::drag || (is_typing(state) && !types)) return state.gesture.reset();
    if (state.gesture) state.gesture->joins = state.gesture->action == &action.type();
}

}  // namespace

void apply(AppState& state, const Action& action) {
    if (leaves_cell(state, action)) leave_cell(state);
    settle_gesture(state, action);
    if (kind_of(action) != Kind::moment) state.notice.reset();
    const Present before(state);
    action.carry_out(state);
    const bool edited = !(Present(state) == before);
    const bool types = action.is<TypeText>();
    if (state.gesture && kind_of(action) == Kind::drag && (edited || types))
        state.gesture->action = &action.type();
    if (state.gesture) state.gesture->joins = false;
    follow_map(state);
    follow_kinds(state);
    follow_heads(state);
    follow_lookup(state);
    warn_of_backend(state);
    if (kind_of(action) != Kind::moment) follow_tour(state);
}

Actions due_actions(const AppState& state) {
    constexpr double kSecondsPerStage = 1.2;
    const KindsLook& kinds = state.kinds_look;
    if (kinds.playing && kinds.clock_s >= kSecondsPerStage) return {StepOnline{1}};
    if (!state.step.playing || state.step.play_clock_s < kSecondsPerStage) return {};
    return {StepBy{1}};
}

}  // namespace attn::view
