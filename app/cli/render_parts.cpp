#include "app/cli/render_parts.h"

#include "app/cli/start.h"
#include "app/common/map/actions.h"
#include "app/common/map/state.h"
#include "app/window/requests.h"

namespace attn::cli {

Result<void> carry_out(const Start& start, view::AppState& state, jobs::Jobs& jobs) {
    const std::string before = state.message.text;
    const auto strict = [&before](const view::AppState& after) -> Result<void> {
        const auto& message = after.message;
        if (message.restored || message.text == before ||
            message.severity < view::Severity::warning)
            return {};
        return bad_input(message.text);
    };
    const auto answer = [&] { jobs::answer(state, jobs); };
    if (auto done = view::play(state, start.actions, answer, strict); !done) return done;
    return view::play(state, start.replay, answer);
}

Result<void> complete(view::AppState& state, jobs::Jobs& jobs) {
    arrive(state);  // a moving view leaves the pass
    jobs::answer(state, jobs);
    arrive(state);
    const std::string& fault = view::map_look(std::as_const(state)).fault;
    if (!fault.empty() && view::is_map_shown(state)) return failed(fault);
    state.trace_ms = 0.0;
    return {};
}

void arrive(view::AppState& state) {
    for (const view::WorkspaceInfo* workspace : state.workspaces) workspace->still(state);
}

void draw_frame(Studio& studio, view::AppState& state) {
    for (const view::Action& asked : studio.draw(state))
        if (asked.is<view::SetMapCanvas>()) view::apply(state, asked);
}

}  // namespace attn::cli
