#include "app/cli/render_parts.h"
#include "app/common/map/actions.h"
#include "app/common/map/state.h"
#include "app/workspaces/numerics/state.h"
#include "app/workspaces/saturation/state.h"
#include "app/workspaces/step/state.h"

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
    const bool mapped =
        state.workspace == "large" || view::map_look(state).form != view::MapForm::own;
    if (!view::map_look(state).fault.empty() && mapped) return failed(view::map_look(state).fault);
    state.trace_ms = view::saturation_curves(state).elapsed_ms =
        view::numerics_curves(state).elapsed_ms = 0.0;
    if (!view::map_look(state).snapshot) return {};
    large::MapSnapshot timeless = *view::map_look(state).snapshot;
    timeless.pass.seconds = timeless.pass.gflops = timeless.preview.seconds = 0.0;
    view::map_look(state).snapshot =
        std::make_shared<const large::MapSnapshot>(std::move(timeless));
    return {};
}

void arrive(view::AppState& state) {
    while (view::step_look(state).fade < 1.0 || view::map_look(state).moving_s > 0.0)
        view::apply(state, view::Tick{1.0});
}

void draw_frame(Studio& studio, view::AppState& state) {
    for (const view::Action& asked : studio.draw(state))
        if (asked.is<view::SetMapCanvas>()) view::apply(state, asked);
}

}  // namespace attn::cli
