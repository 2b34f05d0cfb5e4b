// attnscope render: pictures of the window, without one.

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "app/cli/arguments.h"
#include "app/cli/render_parts.h"
#include "app/cli/start.h"
#include "app/cli/subcommands.h"
#include "app/files/standard.h"
#include "app/gl/png.h"
#include "core/io/file.h"

namespace attn::cli {
namespace {

struct RenderOptions {
    StartOptions start;
    std::string output;
    bool all = false;
    bool full_pass = false;
    int time_drag = 0;  // frames
};

Result<gl::Pixels> draw(Studio& studio, view::AppState state) {
    if (auto done = complete_wishes(state); !done) return tl::unexpected(std::move(done.error()));
    arrive(state);
    for (std::optional<view::MapCanvas> room; room != state.large.canvas;) {
        room = state.large.canvas;  // a map that is there leaves itself less of it
        if (auto mapped = complete_map(state); !mapped)
            return tl::unexpected(std::move(mapped.error()));
        for (int frame = 0; frame < kFramesToSettle; ++frame) draw_frame(studio, state);
    }
    return studio.read();
}

Result<void> draw_to_file(Studio& studio, view::AppState state, const std::filesystem::path& path,
                          Streams io) {
    auto pixels = draw(studio, std::move(state));
    if (!pixels) return tl::unexpected(std::move(pixels.error()));
    const std::string png = gl::encode_png(*pixels);
    if (!files::is_standard(path.string())) return write_file_atomically(path, png);
    io.out << png;
    return {};
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
        if (auto done = draw_to_file(studio, std::move(shown), path, io); !done) return done;
        io.out << path.string() << '\n';
    }
    return {};
}

Result<void> render(const RenderOptions& options, Streams io) {
    auto start = read_start(options.start, io.backends);
    if (!start) return tl::unexpected(std::move(start.error()));
    const auto size = parse_size(options.start.size);
    if (!size) return tl::unexpected(size.error());
    auto studio = io.open_studio(*size);
    if (!studio) return tl::unexpected(std::move(studio.error()));
    const std::span<const view::Action> actions = start->actions;
    if (auto done = carry_out(actions.first(start->asked), start->state); !done) return done;
    replay(actions.subspan(start->asked), start->state);
    if (options.full_pass) view::apply(start->state, view::SetFullPass{true});
    if (options.time_drag > 0)
        return time_drag(**studio, std::move(start->state), options.time_drag, io);
    if (options.all) return draw_all(**studio, start->state, options.output, io);
    return draw_to_file(**studio, std::move(start->state), options.output, io);
}

}  // namespace

int run_render(Args args, Streams io) {
    CLI::App app("Draws what the window would show into a PNG file: no display is needed.",
                 "attnscope render");
    RenderOptions options;
    add_start_options(app, options.start);
    app.add_option("-o,--output", options.output,
                   "the picture, - for standard output; with --all, the folder")
        ->type_name("OUT");
    app.add_flag("--all", options.all, "every workspace, in both themes");
    app.add_flag("--full-pass", options.full_pass,
                 "every weight of a large matrix, however long that takes");
    app.add_option("--time-drag", options.time_drag,
                   "no picture: pull a slider, or the map, for so many frames and print how long "
                   "they take")
        ->type_name("FRAMES")
        ->check(CLI::PositiveNumber);
    if (const auto code = parse(app, args, io)) return *code;
    if (options.output.empty() && options.time_drag == 0)
        return report({"no -o; expected the name of the picture, as in -o step.png"},
                      "attnscope render", io);
    if (options.all && files::is_standard(options.output))
        return report({"-o is -; expected a folder, for --all draws several pictures"},
                      "attnscope render", io);
    const files::NamedFile output{"-o", options.output};
    if (const auto settled = settle_start(options.start, {&output, 1}); !settled)
        return report(settled.error(), "attnscope render", io);
    const auto done = render(options, io);
    return done ? kSuccess : report(done.error(), "attnscope render", io);
}

}  // namespace attn::cli
