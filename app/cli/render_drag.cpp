#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

#include "app/cli/render_parts.h"
#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/map/camera.h"
#include "app/common/workspace.h"
#include "app/workspaces/large/workspace.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/state.h"

namespace attn::cli {
namespace {

constexpr double kPanStep = 0.02;  // of the canvas, a frame

/// A slider pulled from one end to the other: the workspace's, or the temperature. The map is
/// dragged along, an eighth of it in view.
view::Action drag(const view::AppState& state, int n, int frames) {
    const double part = static_cast<double>(n) / std::max(frames - 1, 1);
    if (auto pulled = view::shown_workspace(state).pull(state, part)) return *pulled;
    if (state.workspace == "step") return view::SetTemperature{0.25 * std::exp2(4.0 * part)};
    const view::MapLook& look = view::map_look(state);
    const view::MapCanvas canvas = view::canvas_of(look);
    if (n == 0) return view::moved_map(look, view::zoomed(look, 8.0));
    return view::moved_map(look,
                           view::panned(look, -kPanStep * canvas.width, -kPanStep * canvas.height));
}

/// From stage to stage, each with all frames of its story, and from the last to the first again.
view::Action step(const view::AppState& state) {
    constexpr double kFrameSeconds = 1.0 / 60.0;
    if (view::is_animating(state)) return view::Tick{kFrameSeconds};
    if (view::step_look(state).stage == view::ribbon_stages(state.document()).back())
        return view::GoToEnd{false};
    return view::StepBy{1};
}

view::Action moved(const view::AppState& state, Movement movement, int n, int frames) {
    return movement == Movement::drag ? drag(state, n, frames) : step(state);
}

void exchange(jobs::Jobs& jobs, view::AppState& state) {
    jobs.update(state);
    for (const view::Action& answer : jobs.take()) view::apply(state, answer);
}

/// Until the map's preview is on the screen: from there on a person moves it.
void await_preview(jobs::Jobs& jobs, view::AppState& state) {
    const auto waits = [&] {
        const auto& large = view::map_look(state);
        return state.workspace == "large" && large.fault.empty() &&
               !(large.snapshot && large.snapshot->preview.ready);
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
        const view::Action action = moved(state, movement, n, frames);
        const auto start = std::chrono::steady_clock::now();
        view::apply(state, action);
        exchange(jobs, state);
        studio.draw(state);
        const std::chrono::duration<double, std::milli> time =
            std::chrono::steady_clock::now() - start;
        times.push_back(time.count());
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

Result<void> time_movement(Studio& studio, view::AppState state, Movement movement, int frames,
                           jobs::Jobs& jobs, Streams io) {
    if (movement == Movement::step && state.workspace != "step")
        return bad_input(
            "--time-step goes through the stages of Step: expected no other workspace");
    arrive(state);
    await_preview(jobs, state);
    if (!view::map_look(state).fault.empty()) return bad_input(view::map_look(state).fault);
    for (int frame = 0; frame < kFramesToSettle; ++frame) draw_frame(studio, state);
    print_times(time_frames(studio, state, jobs, movement, frames), io);
    return {};
}

}  // namespace attn::cli
