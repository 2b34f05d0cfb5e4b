#include "app/cli/render_parts.h"

#include <utility>

#include "app/cli/map_worker.h"
#include "app/view/requests.h"

namespace attn::cli {

Result<void> carry_out(std::span<const view::Action> actions, view::AppState& state) {
    for (const view::Action& action : actions) {
        view::Message before = std::exchange(state.message, {});
        view::apply(state, action);
        if (state.message.severity != view::Severity::info) return bad_input(state.message.words);
        if (state.message.words.empty()) state.message = std::move(before);
    }
    return {};
}

void replay(std::span<const view::Action> actions, view::AppState& state) {
    for (const view::Action& action : actions) view::apply(state, action);
}

Result<void> complete_wishes(view::AppState& state) {
    const std::string before = state.message.words;
    view::fulfil(state);
    state.trace_ms = state.sweep_ms = 0.0;  // a picture is the same every time
    const bool failed = state.message.severity == view::Severity::error;
    if (failed && state.message.words != before) return bad_input(state.message.words);
    return {};
}

void arrive(view::AppState& state) {
    while (state.step.fade < 1.0 || state.large.moving_s > 0.0) view::apply(state, view::Tick{1.0});
}

void draw_frame(Studio& studio, view::AppState& state) {
    for (const view::Action& asked : studio.draw(state))
        if (std::holds_alternative<view::SetMapCanvas>(asked)) view::apply(state, asked);
}

Result<void> complete_map(view::AppState& state) {
    MapWorker mapper([] {}, MapWorker::Measure::nothing);
    for (bool news = true; news;) {
        arrive(state);  // going to the needle moves the view, and a moving view leaves the pass
        mapper.want(view::wanted_map(state));
        mapper.settle();
        const view::Actions answers = mapper.take();
        news = !answers.empty();
        if (auto done = carry_out(answers, state); !done) return done;
    }
    if (!state.large.snapshot) return {};
    large::MapSnapshot timeless = *state.large.snapshot;  // a picture is the same every time
    timeless.pass.seconds = timeless.pass.gflops = timeless.preview.seconds = 0.0;
    state.large.snapshot = std::make_shared<const large::MapSnapshot>(std::move(timeless));
    return {};
}

}  // namespace attn::cli
