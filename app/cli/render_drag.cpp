#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "app/cli/map_worker.h"
#include "app/cli/render_parts.h"

namespace attn::cli {
namespace {

constexpr double kPanStep = 0.02;  // of the canvas, a frame

/// A slider pulled from one end to the other: the temperature, or d_k of the saturation workspace. The map is
/// dragged along, an eighth of it in view.
view::Actions drag(view::Workspace workspace, int frames) {
    view::Actions actions;
    if (workspace == view::Workspace::large) actions.emplace_back(view::ZoomMap{8.0});
    for (int n = 0; n < frames; ++n) {
        const double part = static_cast<double>(n) / std::max(frames - 1, 1);
        if (workspace == view::Workspace::step)
            actions.emplace_back(view::SetTemperature{0.25 * std::exp2(4.0 * part)});
        else if (workspace == view::Workspace::large)
            actions.emplace_back(view::PanMap{kPanStep, kPanStep});
        else
            actions.emplace_back(
                view::SetSaturationWidth{static_cast<Index>(std::exp2(12.0 * part))});
    }
    return actions;
}

void exchange(MapWorker& mapper, view::AppState& state) {
    mapper.want(view::wanted_map(state));
    for (const view::Action& answer : mapper.take()) view::apply(state, answer);
}

/// Until the map's preview is on the screen: from there on a person moves it.
void await_preview(MapWorker& mapper, view::AppState& state) {
    const auto waits = [&] {
        const auto& large = state.large;
        return view::wanted_map(state) && large.fault.empty() &&
               !(large.snapshot && large.snapshot->preview.ready);
    };
    while (waits()) {
        exchange(mapper, state);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

/// One frame after each action: its milliseconds, from the action to the last pixel.
std::vector<double> time_frames(Studio& studio, view::AppState state, MapWorker& mapper,
                                const view::Actions& actions) {
    std::vector<double> times;
    for (const view::Action& action : actions) {
        const auto start = std::chrono::steady_clock::now();
        view::apply(state, action);
        exchange(mapper, state);
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
    const auto at = [&](double part) {
        return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
    };
    io.out << fmt::format("{} frames: median {:.1f} ms, 95 % {:.1f} ms, slowest {:.1f} ms\n",
                          times.size(), at(0.5), at(0.95), at(1.0));
}

}  // namespace

Result<void> time_drag(Studio& studio, view::AppState state, int frames, Streams io) {
    if (auto swept = complete_wishes(state); !swept) return swept;
    arrive(state);
    MapWorker mapper([] {}, MapWorker::Measure::nothing);
    await_preview(mapper, state);
    if (!state.large.fault.empty()) return bad_input(state.large.fault);
    for (int frame = 0; frame < kFramesToSettle; ++frame) draw_frame(studio, state);
    print_times(time_frames(studio, state, mapper, drag(state.workspace, frames)), io);
    return {};
}

}  // namespace attn::cli
