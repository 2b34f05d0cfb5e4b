// attnscope render: figures, and pictures of the window, without one.

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "app/cli/arguments.h"
#include "app/cli/render_parts.h"
#include "app/cli/start.h"
#include "app/cli/subcommands.h"
#include "core/io/file.h"

namespace attn::cli {
namespace {

struct RenderOptions {
    StartOptions start;
    std::string output;
    bool all = false;
    bool chrome = false;
    std::string format;
    bool full_pass = false;
    int time_drag = 0;  // frames
};

Result<std::string> draw(Studio& studio, view::AppState state) {
    if (auto done = complete_wishes(state); !done) return tl::unexpected(std::move(done.error()));
    arrive(state);
    for (std::optional<view::MapCanvas> room; room != state.large.canvas;) {
        room = state.large.canvas;  // a map that is there leaves itself less of it
        if (auto mapped = complete_map(state); !mapped)
            return tl::unexpected(std::move(mapped.error()));
        for (int frame = 0; frame < kFramesToSettle; ++frame) draw_frame(studio, state);
    }
    return studio.picture(state);
}

Result<void> draw_to_file(Studio& studio, view::AppState state, const std::filesystem::path& path) {
    auto bytes = draw(studio, std::move(state));
    if (!bytes) return tl::unexpected(std::move(bytes.error()));
    return write_file_atomically(path, *bytes);
}

Result<void> draw_to_output(Studio& studio, view::AppState state, const std::string& output,
                            Streams io) {
    if (output != "-") return draw_to_file(studio, std::move(state), output);
    auto bytes = draw(studio, std::move(state));
    if (!bytes) return tl::unexpected(std::move(bytes.error()));
    io.out << *bytes;
    return {};
}

/// --format, or what the name says. Pictures of the window (--all, --time-drag) are PNG.
Result<figures::Format> format_of(const RenderOptions& options) {
    if (options.all || options.time_drag > 0) return figures::Format::png;
    if (!options.format.empty()) {
        if (const auto format = figures::format_of("figure." + options.format); format)
            return format;
        return bad_input(fmt::format("--format is '{}'; svg, pdf or png expected", options.format));
    }
    if (options.output == "-")
        return bad_input("-o - has no extension; --format svg, pdf or png expected");
    return figures::format_of(options.output);
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
    const auto large = view::OpenPlanted{{.tokens = 4096}};
    const auto weights = GoToStage{Stage::weights};
    const auto cell = SelectCell{{Stage::weights, 1, 2}};
    return {
        {"step-dark.png", {dark, step, weights, cell}},
        {"step-light.png", {light, step, weights, cell}},
        {"saturation-dark.png", {dark, saturation}},
        {"saturation-light.png", {light, saturation}},
        {"large-dark.png", {dark, large}},
        {"large-light.png", {light, large}},
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

Result<void> render(const RenderOptions& options, Streams io) {
    auto start = read_start(options.start, io.backends);
    if (!start) return tl::unexpected(std::move(start.error()));
    const auto size = parse_size(options.start.size);
    if (!size) return tl::unexpected(size.error());
    const auto format = format_of(options);
    if (!format) return tl::unexpected(format.error());
    const bool chrome = options.chrome || options.all || options.time_drag > 0;
    auto studio = io.open_studio({*size, *format, chrome});
    if (!studio) return tl::unexpected(std::move(studio.error()));
    if (auto done = carry_out(start->actions, start->state); !done) return done;
    if (options.full_pass) view::apply(start->state, view::SetFullPass{true});
    if (options.time_drag > 0)
        return time_drag(**studio, std::move(start->state), options.time_drag, io);
    if (options.all) return draw_all(**studio, start->state, options.output, io);
    return draw_to_output(**studio, std::move(start->state), options.output, io);
}

}  // namespace

int run_render(Args args, Streams io) {
    CLI::App app(
        "Draws the canvas of a workspace into a file: SVG, PDF or PNG by its name. No display is "
        "needed.",
        "attnscope render");
    RenderOptions options;
    add_start_options(app, options.start);
    app.add_option("-o,--output", options.output,
                   "the figure, as in weights.svg; with --all, the folder")
        ->type_name("OUT");
    app.add_flag("--chrome", options.chrome, "the whole window, not the canvas alone");
    app.add_option("--format", options.format, "svg, pdf or png, where -o does not say it")
        ->type_name("F");
    app.add_flag("--all", options.all, "pictures of every workspace, in both themes");
    app.add_flag("--full-pass", options.full_pass,
                 "every weight of a large matrix, however long that takes");
    app.add_option("--time-drag", options.time_drag,
                   "no picture: pull a slider, or the map, for so many frames and print how long "
                   "they take")
        ->type_name("FRAMES")
        ->check(CLI::PositiveNumber);
    if (const auto code = parse(app, args, io)) return *code;
    if (options.output.empty() && options.time_drag == 0)
        return report({"no -o; the name of the figure expected, as in -o step.svg"},
                      "attnscope render", io);
    const auto done = render(options, io);
    return done ? kSuccess : report(done.error(), "attnscope render", io);
}

}  // namespace attn::cli
