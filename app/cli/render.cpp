// attnscope render: pictures of the window, without one.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "app/cli/arguments.h"
#include "app/cli/start.h"
#include "app/cli/studio.h"
#include "app/cli/subcommands.h"
#include "app/gl/png.h"
#include "app/view/wishes.h"
#include "core/io/file.h"

namespace attn::cli {
namespace {

// ImGui lays out with the sizes of the frame before; a tooltip or popup takes one more.
constexpr int kFramesToSettle = 4;

struct RenderOptions {
    StartOptions start;
    std::string output;
    bool all = false;
    int time_drag = 0;  // frames
};

/// An action that cannot be carried out is an error here: nobody would see the message.
Result<void> carry_out(const view::Actions& actions, view::AppState& state) {
    for (const view::Action& action : actions) {
        view::apply(state, action);
        if (state.message.severity == view::Severity::error) return bad_input(state.message.words);
    }
    return {};
}

/// Computes, on this thread, what the screen wants and the window would wait for.
Result<void> complete(view::AppState& state) {
    view::fulfil(state);
    state.trace_ms = state.sweep_ms = 0.0;  // a picture is the same every time
    if (state.message.severity == view::Severity::error) return bad_input(state.message.words);
    return {};
}

/// The end of a cross-fade that the last action began.
void arrive(view::AppState& state) {
    while (state.step.fade < 1.0) view::apply(state, view::Tick{1.0});
}

Result<gl::Pixels> draw(Studio& studio, view::AppState state) {
    if (auto done = complete(state); !done) return tl::unexpected(std::move(done.error()));
    arrive(state);
    for (int frame = 0; frame < kFramesToSettle; ++frame) studio.draw(state);
    return studio.read();
}

Result<void> draw_to_file(Studio& studio, view::AppState state, const std::filesystem::path& path) {
    auto pixels = draw(studio, std::move(state));
    if (!pixels) return tl::unexpected(std::move(pixels.error()));
    return write_file_atomically(path, gl::encode_png(*pixels));
}

struct Screen {
    std::string_view file;
    view::Actions actions;
};

/// What --all draws: every workspace, and the stages people look at most.
std::vector<Screen> all_screens() {
    using view::GoToStage, view::SelectCell, view::SetTheme, view::SetWorkspace;
    const auto dark = SetTheme{view::ThemeName::dark};
    const auto light = SetTheme{view::ThemeName::light};
    const auto step = SetWorkspace{view::Workspace::step};
    const auto saturation = SetWorkspace{view::Workspace::saturation};
    const auto weights = GoToStage{Stage::weights};
    const auto cell = SelectCell{{Stage::weights, 1, 2}};
    return {
        {"step-dark.png", {dark, step, weights, cell}},
        {"step-light.png", {light, step, weights, cell}},
        {"saturation-dark.png", {dark, saturation}},
        {"saturation-light.png", {light, saturation}},
    };
}

Result<void> draw_all(Studio& studio, const view::AppState& state,
                      const std::filesystem::path& folder, Streams io) {
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    if (fault)
        return failed(
            fmt::format("{}: cannot make this folder: {}", folder.string(), fault.message()));
    for (const Screen& screen : all_screens()) {
        view::AppState shown = state;
        const auto path = folder / screen.file;
        if (auto done = carry_out(screen.actions, shown); !done) return done;
        if (auto done = draw_to_file(studio, std::move(shown), path); !done) return done;
        io.out << path.string() << '\n';
    }
    return {};
}

/// A slider pulled from one end to the other: the temperature, or d_k of the saturation workspace.
view::Actions drag(view::Workspace workspace, int frames) {
    view::Actions actions;
    for (int n = 0; n < frames; ++n) {
        const double part = static_cast<double>(n) / std::max(frames - 1, 1);
        if (workspace == view::Workspace::step)
            actions.emplace_back(view::SetTemperature{0.25 * std::exp2(4.0 * part)});
        else
            actions.emplace_back(
                view::SetSaturationWidth{static_cast<Index>(std::exp2(12.0 * part))});
    }
    return actions;
}

/// One frame after each action: its milliseconds, from the action to the last pixel.
std::vector<double> time_frames(Studio& studio, view::AppState state,
                                const view::Actions& actions) {
    std::vector<double> times;
    for (const view::Action& action : actions) {
        const auto start = std::chrono::steady_clock::now();
        view::apply(state, action);
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

Result<void> time_drag(Studio& studio, view::AppState state, int frames, Streams io) {
    if (auto done = complete(state); !done) return done;
    arrive(state);
    for (int frame = 0; frame < kFramesToSettle; ++frame) studio.draw(state);
    print_times(time_frames(studio, state, drag(state.workspace, frames)), io);
    return {};
}

Result<void> render(const RenderOptions& options, Streams io) {
    auto start = read_start(options.start, io.backends);
    if (!start) return tl::unexpected(std::move(start.error()));
    const auto size = parse_size(options.start.size);
    if (!size) return tl::unexpected(size.error());
    auto studio = io.open_studio(*size);
    if (!studio) return tl::unexpected(std::move(studio.error()));
    if (auto done = carry_out(start->actions, start->state); !done) return done;
    if (options.time_drag > 0)
        return time_drag(**studio, std::move(start->state), options.time_drag, io);
    if (options.all) return draw_all(**studio, start->state, options.output, io);
    return draw_to_file(**studio, std::move(start->state), options.output);
}

}  // namespace

int run_render(Args args, Streams io) {
    CLI::App app("Draws what the window would show into a PNG file: no display is needed.",
                 "attnscope render");
    RenderOptions options;
    add_start_options(app, options.start);
    app.add_option("-o,--output", options.output, "the picture; with --all, the folder")
        ->type_name("OUT");
    app.add_flag("--all", options.all, "every workspace, in both themes");
    app.add_option("--time-drag", options.time_drag,
                   "no picture: pull a slider for so many frames and print how long they take")
        ->type_name("FRAMES")
        ->check(CLI::PositiveNumber);
    if (const auto code = parse(app, args, io)) return *code;
    if (options.output.empty() && options.time_drag == 0)
        return report({"no -o; the name of the picture was wanted, as in -o step.png"},
                      "attnscope render", io);
    const auto done = render(options, io);
    return done ? kSuccess : report(done.error(), "attnscope render", io);
}

}  // namespace attn::cli
