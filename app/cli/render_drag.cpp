#include <fmt/format.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "app/cli/render_parts.h"
#include "app/common/actions.h"
#include "app/common/map/state.h"
#include "app/common/state.h"
#include "core/large/weight_map.h"
#include "core/stopwatch.h"

namespace attn::cli {
namespace {

/// What the shown workspace moves by; while the stages are gone through, each with all frames of its story.
std::optional<view::Action> moved(const view::AppState& state, Movement movement, double part) {
    constexpr double kFrameSeconds = 1.0 / 60.0;
    if (movement == Movement::step && view::is_animating(state)) return view::Tick{kFrameSeconds};
    return view::shown_workspace(state).moved(state, movement, part);
}

void exchange(jobs::Jobs& jobs, view::AppState& state) {
    jobs.update(state);
    for (const view::Action& answer : jobs.take()) view::apply(state, answer);
}

/// Until the map's preview is on the screen: from there on a person moves it.
void await_preview(jobs::Jobs& jobs, view::AppState& state) {
    const auto waits = [&] {
        const auto& map = view::map_look(state);
        return map.own_shown && map.fault.empty() && !(map.snapshot && map.snapshot->preview.ready);
    };
    while (waits()) {
        exchange(jobs, state);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

/// One frame after each action: its milliseconds, from the action to the last pixel.
std::vector<double> time_frames(Studio& studio, view::AppState state, jobs::Jobs& jobs,
                                Movement movement, int frames) {
    std::vector<double> times;
    for (int n = 0; n < frames; ++n) {
        const auto action =
            moved(state, movement, static_cast<double>(n) / std::max(frames - 1, 1));
        const Stopwatch watch;
        view::apply(state, *action);
        exchange(jobs, state);
        studio.draw(state);
        times.push_back(watch.ms());
    }
    return times;
}

void print_times(std::vector<double> times, Streams io) {
    if (times.empty()) return;
    std::ranges::sort(times);
    const double mean =
        std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
    const auto at = [&](double part) {
        return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
    };
    io.out << fmt::format(
        "{} frames: median {:.1f} ms, 95 % {:.1f} ms, slowest {:.1f} ms, {:.0f} frames/s\n",
        times.size(), at(0.5), at(0.95), at(1.0), 1e3 / mean);
}

}  // namespace

void time_movement(Studio& studio, view::AppState state, Movement movement, int frames,
                   jobs::Jobs& jobs, Streams io) {
    const view::WorkspaceInfo& shown = view::shown_workspace(state);
    if (!shown.moved(state, movement, 0.0))
        throw bad_input(fmt::format("the {} workspace has nothing that {}", shown.title,
                                    movement == Movement::drag
                                        ? "--time-drag can pull: expected another one"
                                        : "--time-step can go through: expected step"));
    arrive(state);
    await_preview(jobs, state);
    if (!view::map_look(state).fault.empty()) throw bad_input(view::map_look(state).fault);
    for (int frame = 0; frame < kLayoutFrames; ++frame) draw_frame(studio, state);
    print_times(time_frames(studio, state, jobs, movement, frames), io);
}

}  // namespace attn::cli
