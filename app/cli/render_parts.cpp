#include "app/cli/render_parts.h"

#include <utility>

#include "app/common/map/actions.h"
#include "app/common/map/state.h"

namespace attn::cli {
namespace {

Result<void> refuse_message(const view::AppState& state, view::Severity from) {
    if (state.message.severity < from) return {};
    return bad_input(state.message.words);
}

}  // namespace

Result<void> carry_out(const Start& start, view::AppState& state, jobs::Jobs& jobs) {
    const std::string before = state.message.words;
    const auto strict = [&before](const view::AppState& after) {
        if (after.message.restored || after.message.words == before) return Result<void>{};
        return refuse_message(after, view::Severity::warning);
    };
    const auto lenient = [](const view::AppState&) { return Result<void>{}; };
    if (auto done = jobs::play(state, jobs, start.actions, strict); !done) return done;
    return jobs::play(state, jobs, start.replay, lenient);
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
