// A film as an animated PNG: each line of a journal is carried out, what it moves is drawn frame by frame, and it rests. Without
// a journal it is what the workspace plays by itself.

#include <fmt/format.h>

#include "app/cli/render_parts.h"
#include "app/cli/start.h"
#include "app/common/actions.h"
#include "app/common/map/state.h"
#include "app/common/or_throw.h"
#include "app/gl/animated_png.h"
#include "app/window/requests.h"

namespace attn::cli {
namespace {

constexpr int kFrameMs = 50;
constexpr int kMostFrames = 600;  // of one line: what plays on is cut after 30 s

}  // namespace

void finish_layout(Studio& studio, view::AppState& state, jobs::Jobs& jobs) {
    for (std::optional<view::MapCanvas> canvas; canvas != view::map_look(state).canvas;) {
        canvas = view::map_look(state).canvas;  // a map that is there leaves itself less of it
        or_throw(complete(state, jobs));
        for (int frame = 0; frame < kLayoutFrames; ++frame) draw_frame(studio, state);
    }
}

std::string film(Studio& studio, const Start& start, view::AppState state, jobs::Jobs& jobs,
                 double rest_s) {
    gl::AnimatedPng film;
    const auto add = [&](int frames, int ms) {
        for (int frame = 0; frame < frames; ++frame) draw_frame(studio, state);
        film.add(or_throw(parse_png(or_throw(studio.picture(state)), "a frame")), ms);
    };
    const int rest_ms = static_cast<int>(std::lround(1000.0 * rest_s));
    const auto answer = [&] { jobs::answer(state, jobs); };
    const auto play = [&] {
        for (int n = 0; n < kMostFrames && view::is_animating(state); ++n) {
            view::apply(state, view::Tick{kFrameMs / 1000.0});
            for (const view::Action& due : view::due_actions(state)) view::apply(state, due);
            state.trace_ms = 0.0;
            add(1, kFrameMs);
        }
        or_throw(complete(state, jobs));
        add(kLayoutFrames, rest_ms);
    };
    view::apply(state, view::Tick{0.0});  // from now on the clock of a window
    if (start.replay.empty()) {
        if (!view::is_animating(state))
            throw bad_input(fmt::format(
                "--film needs --replay, because {} has no animation of its own", state.workspace));
        answer();
        add(kLayoutFrames, kFrameMs);
        play();
        return film.finish();
    }
    finish_layout(studio, state, jobs);
    add(kLayoutFrames, rest_ms);
    for (const view::Action& line : start.replay) {
        or_throw(view::play(state, {line}, answer));
        answer();
        play();
    }
    return film.finish();
}

}  // namespace attn::cli
