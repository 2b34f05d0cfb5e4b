#include <variant>

#include "app/view/actions.h"
#include "app/view/document/edits.h"
#include "app/view/step/edit_cell.h"
#include "app/view/step_map.h"

namespace attn::view {
namespace {

/// What undo covers, to see whether an action changed it.
struct Present {
    std::size_t now, steps;
    std::shared_ptr<const Document> document;
    SaturationControls saturation;

    explicit Present(const AppState& state)
        : now(state.now),
          steps(state.history.size()),
          document(state.shared_document()),
          saturation(state.saturation()) {}
    bool operator==(const Present&) const = default;
};

/// Within a gesture the edits of one kind of action are one step; anything else but what happens beside it ends it.
void settle_gesture(AppState& state, const Action& action) {
    const Kind kind = kind_of(action);
    if (kind == Kind::moment || kind == Kind::answer) return;
    if (kind != Kind::drag) return state.gesture.reset();
    if (state.gesture) state.gesture->joins = state.gesture->action == action.index();
}

}  // namespace

Action::Action(const Action&) = default;
Action::Action(Action&&) noexcept = default;
Action& Action::operator=(const Action&) = default;
Action& Action::operator=(Action&&) noexcept = default;
Action::~Action() = default;

Kind kind_of(const Action& action) {
    return std::visit([](const auto& kind) { return kind.kMeta.kind; }, action);
}

std::string_view name_of(const Action& action) {
    return std::visit([](const auto& kind) { return kind.kMeta.name; }, action);
}

void apply(AppState& state, const Action& action) {
    if (leaves_cell(state, action)) leave_cell(state);
    settle_gesture(state, action);
    if (kind_of(action) != Kind::moment) state.notice.reset();
    const Present before(state);
    std::visit([&](const auto& kind) { carry_out(state, kind); }, action);
    const bool edited = !(Present(state) == before);
    if (state.gesture && kind_of(action) == Kind::drag && edited)
        state.gesture->action = action.index();
    if (state.gesture) state.gesture->joins = false;
    follow_map(state);
    warn_of_backend(state);
}

Actions due_actions(const AppState& state) {
    constexpr double kSecondsPerStage = 1.2;
    if (!state.step.playing || state.step.play_clock_s < kSecondsPerStage) return {};
    return {StepBy{1}};
}

}  // namespace attn::view
