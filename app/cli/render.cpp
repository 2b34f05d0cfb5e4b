// attnscope render: figures, and pictures of the window, without one.

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "app/cli/arguments.h"
#include "app/cli/render_parts.h"
#include "app/cli/start.h"
#include "app/cli/subcommands.h"
#include "app/common/json.h"
#include "app/common/map/actions.h"
#include "app/common/map/state.h"
#include "app/common/workspace.h"
#include "app/files/open.h"
#include "app/files/standard.h"
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
    int time_step = 0;

    bool is_timed() const { return time_drag > 0 || time_step > 0; }
};

Result<std::string> draw(Studio& studio, view::AppState state, jobs::Jobs& jobs) {
    for (std::optional<view::MapCanvas> room; room != view::map_look(state).canvas;) {
        room = view::map_look(state).canvas;  // a map that is there leaves itself less of it
        if (auto done = complete(state, jobs); !done)
            return tl::unexpected(std::move(done.error()));
        for (int frame = 0; frame < kFramesToSettle; ++frame) draw_frame(studio, state);
    }
    return studio.picture(state);
}

Result<void> draw_to(const std::string& output, Studio& studio, const view::AppState& state,
                     jobs::Jobs& jobs, Streams io) {
    auto bytes = draw(studio, state, jobs);
    if (!bytes) return tl::unexpected(std::move(bytes.error()));
    if (output != "-") return write_file_atomically(output, *bytes);
    io.out << *bytes;
    return {};
}

/// --format, or what the name says; standard output has none and is PNG, as are pictures of the window
/// (--all, --time-drag, --time-step).
Result<figures::Format> format_of(const RenderOptions& options) {
    if (options.all || options.is_timed()) return figures::Format::png;
    if (!options.format.empty()) {
        if (const auto format = figures::format_of("figure." + options.format); format)
            return format;
        return bad_input(fmt::format("--format is '{}': expected svg, pdf or png", options.format));
    }
    if (options.output == "-") return figures::Format::png;
    return figures::format_of(options.output);
}

std::string file_of(const view::WorkspaceInfo& workspace, const view::Shot& shot,
                    std::string_view theme) {
    return fmt::format("{}{}{}-{}.png", workspace.key, shot.name.empty() ? "" : "-", shot.name,
                       theme);
}

/// Every shot of every workspace, in both themes.
Result<void> draw_all(Studio& studio, const Start& start, const std::filesystem::path& folder,
                      Streams io) {
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    if (fault)
        return failed(
            fmt::format("{}: cannot make this folder: {}", folder.string(), fault.message()));
    for (const view::WorkspaceInfo* workspace : io.workspaces)
        for (const view::Shot& shot : workspace->shots())
            for (const auto theme : {view::ThemeName::dark, view::ThemeName::light}) {
                jobs::Jobs jobs(files::opener(io.backends, io.workspaces), [] {});
                view::AppState shown = start.state;
                Start screen;
                screen.actions = {view::SetTheme{theme}, view::go_to(*workspace)};
                screen.actions.insert(screen.actions.end(), shot.actions.begin(),
                                      shot.actions.end());
                if (auto done = carry_out(screen, shown, jobs); !done) return done;
                const auto path =
                    folder /
                    file_of(*workspace, shot, view::kThemeNames[static_cast<std::size_t>(theme)]);
                if (auto done = draw_to(path.string(), studio, shown, jobs, io); !done) return done;
                io.out << path.string() << '\n';
            }
    return {};
}

Result<void> render(const RenderOptions& options, Streams io) {
    StartOptions wanted = options.start;
    wanted.needs_attention = wanted.workspace != "tensors";
    auto start = read_start(wanted, io);
    if (!start) return tl::unexpected(std::move(start.error()));
    for (const std::string& warning : start->warnings)
        io.err << "attnscope render: " << warning << '\n';
    const auto size = parse_size(options.start.size);
    if (!size) return tl::unexpected(size.error());
    const auto format = format_of(options);
    if (!format) return tl::unexpected(format.error());
    const bool chrome = options.chrome || options.all || options.is_timed();
    auto studio = io.open_studio({*size, *format, chrome});
    if (!studio) return tl::unexpected(std::move(studio.error()));
    jobs::Jobs jobs(start->open, [] {});
    view::AppState state = start->state;
    if (auto done = carry_out(*start, state, jobs); !done) return done;
    if (options.full_pass) view::apply(state, view::SetFullPass{true});
    if (options.time_drag > 0)
        return time_movement(**studio, std::move(state), Movement::drag, options.time_drag, jobs,
                             io);
    if (options.time_step > 0)
        return time_movement(**studio, std::move(state), Movement::step, options.time_step, jobs,
                             io);
    if (options.all) return draw_all(**studio, *start, options.output, io);
    // A picture of the window shows the sentence in its place; a figure would have nothing else on it.
    if (std::string why = view::shown_workspace(state).lacks(state); !chrome && !why.empty())
        return failed(std::move(why));
    return draw_to(options.output, **studio, state, jobs, io);
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
    app.add_option("--time-step", options.time_step,
                   "no picture: go through the stages of Step for so many frames and print how "
                   "long they take")
        ->type_name("FRAMES")
        ->check(CLI::PositiveNumber);
    if (const auto code = parse(app, args, io)) return *code;
    if (options.output.empty() && !options.is_timed())
        return report({"no -o: expected the name of the figure, as in -o step.svg"},
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
