#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/edits.h"
#include "app/common/workspace.h"
#include "app/window/tour.h"

namespace attn::view {
namespace {

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

void follow_all(AppState& state) {
    for (const WorkspaceInfo* workspace : state.workspaces) workspace->follow(state);
    warn_of_backend(state);
}

void apply(AppState& state, const Action& action) {
    for (const WorkspaceInfo* workspace : state.workspaces) workspace->before(state, action);
    settle_gesture(state, action);
    if (kind_of(action) != Kind::moment) state.notice.reset();
    const std::uint64_t before = state.edits;
    action.carry_out(state);
    const bool edited = state.edits != before;
    if (state.gesture && kind_of(action) == Kind::drag && (edited || action.is<TypeText>()))
        state.gesture->action = &action.type();
    if (state.gesture) state.gesture->joins = false;
    follow_all(state);
    if (kind_of(action) != Kind::moment) follow_tour(state);
}

Actions due_actions(const AppState& state) {
    for (const WorkspaceInfo* workspace : state.workspaces)
        if (Actions due = workspace->due(state); !due.empty()) return due;
    return {};
}

}  // namespace attn::view
