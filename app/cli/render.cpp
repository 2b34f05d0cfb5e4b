// attnscope render: figures, and pictures of the window, without one.

#include <fmt/format.h>

#include <span>

#include "app/cli/arguments.h"
#include "app/cli/render_parts.h"
#include "app/cli/start.h"
#include "app/cli/subcommands.h"
#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/fields.h"
#include "app/common/figure_size.h"
#include "app/common/map/actions.h"
#include "app/common/map/state.h"
#include "app/common/or_throw.h"
#include "app/files/standard.h"
#include "app/platform/video.h"
#include "app/window/rail.h"
#include "core/io/file.h"

namespace attn::cli {
namespace {

constexpr int kMostTimedFrames = 1000000;  // of a movement that is timed
constexpr double kRestSeconds = 1.2;       // of each line of a film

struct RenderOptions {
    StartOptions start;
    std::string output;
    bool all = false;
    bool main_shots = false;
    bool chrome = false;
    std::string format;
    bool full_pass = false;
    std::string width, paper;
    bool no_titles = false;
    int time_drag = 0;  // frames
    int time_step = 0;
    bool film = false;
    std::optional<double> rest_s;

    bool is_timed() const { return time_drag > 0 || time_step > 0; }
};

std::string draw(Studio& studio, view::AppState& state, jobs::Jobs& jobs) {
    finish_layout(studio, state, jobs);
    return or_throw(studio.picture(state));
}

void write_to(const std::string& output, const std::string& bytes, Streams io) {
    if (output == "-")
        io.out << bytes;
    else
        or_throw(write_file_atomically(output, bytes));
}

/// --format, or what the name says; standard output has none and is PNG, as are pictures of the window
/// (--all, --time-drag, --time-step).
figures::Format format_of(const RenderOptions& options) {
    if (options.all || options.is_timed()) return figures::Format::png;
    if (!options.format.empty()) {
        const auto format = figures::format_of("figure." + options.format);
        if (!format)
            throw bad_input(
                fmt::format("--format is '{}': expected svg, pdf or png", options.format));
        if (const auto stated = figures::format_of(options.output); stated && *stated != *format)
            throw bad_input(fmt::format("--format is '{}' and -o is '{}'; leave one out",
                                        options.format, options.output));
        return *format;
    }
    if (options.output == "-" || (options.film && video_format_of(options.output)))
        return figures::Format::png;
    return or_throw(figures::format_of(options.output));
}

/// What a figure of the canvas is to have, by its name; "": the first.
template <class Choice>
Choice named(const std::string& word, std::string_view flag, std::string_view expected,
             bool chrome) {
    if (word.empty()) return {};
    if (chrome)
        throw bad_input(fmt::format(
            "{} applies to a figure of the canvas; expected no --chrome, --all or --film", flag));
    const auto& names = view::kNamesOf<Choice>;
    const auto found = std::ranges::find(names, word);
    if (found == std::end(names))
        throw bad_input(fmt::format("{} is '{}': expected {}", flag, word, expected));
    return static_cast<Choice>(found - std::begin(names));
}

std::string file_of(const view::WorkspaceInfo& workspace, const view::Shot& shot,
                    std::string_view theme) {
    return fmt::format("{}{}{}-{}.png", workspace.key, shot.name.empty() ? "" : "-", shot.name,
                       theme);
}

/// Every shot of every workspace, in both themes.
void draw_all(Studio& studio, const Start& start, const RenderOptions& options, Streams io) {
    const std::filesystem::path folder = options.output;
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    if (fault)
        throw failed(
            fmt::format("{}: cannot make this folder: {}", folder.string(), fault.message()));
    for (const view::WorkspaceInfo* workspace : io.workspaces) {
        const std::vector<view::Shot> shots = workspace->shots();
        for (const view::Shot& shot : std::span(shots).first(options.main_shots ? 1 : shots.size()))
            for (const auto theme : {view::ThemeName::dark, view::ThemeName::light}) {
                jobs::Jobs jobs(files::opener(io.backends, io.workspaces), [] {});
                view::AppState shown = start.state;
                Start screen;
                screen.actions = {view::SetTheme{theme}, view::go_to(*workspace)};
                screen.actions.insert(screen.actions.end(), shot.actions.begin(),
                                      shot.actions.end());
                or_throw(carry_out(screen, shown, jobs));
                const auto path =
                    folder /
                    file_of(*workspace, shot,
                            view::kNamesOf<view::ThemeName>[static_cast<std::size_t>(theme)]);
                write_to(path.string(), draw(studio, shown, jobs), io);
                io.out << path.string() << '\n';
            }
    }
}

void check_film(const RenderOptions& options, figures::Format format) {
    if (options.rest_s && !options.film) throw bad_input("--rest is for --film");
    if (!options.film) return;
    if (options.all || options.is_timed())
        throw bad_input(
            "--film draws one animation: expected neither --all nor --time-drag nor --time-step");
    if (format != figures::Format::png)
        throw bad_input(
            "--film makes an animated PNG, or a video by ffmpeg: expected -o with a name that ends "
            "in .png, .mp4 or .webm");
    if (options.start.replay.empty() && options.start.workspace.empty())
        throw bad_input(
            "--film needs --replay: expected a journal, each of whose lines it shows, or "
            "--workspace with a workspace that plays by itself, such as learn");
    if (video_format_of(options.output)) or_throw(check_ffmpeg());  // before minutes of drawing
}

/// A picture of the window shows the sentence in its place; a figure would have nothing else on it.
void check_shown(const view::AppState& state) {
    if (std::string why = view::shown_workspace(state).missing_data(state); !why.empty())
        throw bad_input(std::move(why));
}

/// Where --check finds differences, what they are.
std::string found_by_check(const RenderOptions& options, const view::AppState& state) {
    if (options.start.check.empty()) return {};
    check_shown(state);
    return view::shown_workspace(state).differs(state);
}

/// Without options that choose a picture: the example of the workspace; of Step the weights.
void show_usual(const StartOptions& options, view::AppState& state) {
    StartOptions other = options;
    other.workspace.clear();
    if (is_default_start(other) && view::is_example_due(state))
        view::apply(state, view::OpenExample{});
    other.preset.clear();
    other.sentence.clear();
    if (is_default_start(other) && state.workspace == "step")
        view::apply(state, view::GoToStage{Stage::weights});
}

/// A film, of whose first picture --check is.
std::string film_of(Studio& studio, const RenderOptions& options, const Start& start,
                    view::AppState& state, jobs::Jobs& jobs, std::string& found) {
    const double rest_s = options.rest_s.value_or(kRestSeconds);
    const view::AppState entered = state;
    or_throw(complete(state, jobs));
    found = found_by_check(options, state);
    return film(studio, start, start.replay.empty() ? entered : state, jobs, rest_s);
}

/// Options of which one would not count.
void check_together(const RenderOptions& options) {
    if (options.output.empty() && !options.is_timed())
        throw bad_input("no -o: expected a file name for the figure, as in -o step.svg");
    if (options.main_shots && !options.all)
        throw bad_input("--main-shots is for --all, which draws every workspace");
    if (options.all && files::is_standard(options.output))
        throw bad_input("-o is -; expected a folder, because --all draws several pictures");
    if (options.all && !options.start.files.empty())
        throw bad_input(fmt::format("FILE is {}; expected none with --all, which draws presets",
                                    options.start.files.front()));
    if (!options.width.empty() && !options.start.size.empty())
        throw bad_input("--width and --size each say how large the figure is; leave one out");
    if (options.paper == "cream" && options.start.theme == "dark")
        throw bad_input("--paper cream is in the light theme; expected no --theme dark");
}

void render(RenderOptions& options, Streams io) {
    check_together(options);
    const files::NamedFile output{"-o", options.output};
    or_throw(resolve_start(options.start, {&output, 1}));
    StartOptions wanted = options.start;
    wanted.needs_attention = wanted.workspace != "tensors";
    wanted.by = files::OptionsBy::window_flags;
    auto start = or_throw(read_start(wanted, io));
    for (const Note& warning : start.warnings) write_note(warning, "attnscope render", io);
    const auto size = or_throw(parse_size(options.start.size));
    const auto format = format_of(options);
    if (options.no_titles && format != figures::Format::svg)
        throw bad_input("--no-titles is for SVG; a PDF and a PNG have none");
    check_film(options, format);
    const bool chrome = options.chrome || options.film || options.all || options.is_timed();
    const auto width =
        named<view::FigureSize>(options.width, "--width", "85mm, 120mm, 180mm or slide", chrome);
    const auto paper =
        named<view::FigurePaper>(options.paper, "--paper", "plain, cream or transparent", chrome);
    auto studio = or_throw(io.open_studio({size, format, chrome, !options.no_titles}));
    jobs::Jobs jobs(start.open, [] {});
    view::AppState state = start.state;
    const view::Actions replay = options.film ? std::exchange(start.replay, {}) : view::Actions();
    or_throw(carry_out(start, state, jobs));
    if (options.start.replay.empty() && !options.is_timed()) show_usual(options.start, state);
    view::apply(state, view::SetFigureSize{width});
    view::apply(state, view::SetFigurePaper{paper});
    if (options.full_pass) view::apply(state, view::SetFullPass{true});
    std::string found;
    if (options.film) {
        start.replay = replay;
        std::string bytes = film_of(*studio, options, start, state, jobs, found);
        if (const auto video = video_format_of(options.output))
            bytes = or_throw(video_of(bytes, *video));
        write_to(options.output, bytes, io);
        if (!found.empty()) throw failed(std::move(found));
        return;
    }
    const bool drags = options.time_drag > 0;
    if (options.is_timed())
        return time_movement(*studio, std::move(state), drags ? Movement::drag : Movement::step,
                             drags ? options.time_drag : options.time_step, jobs, io);
    if (options.all) return draw_all(*studio, start, options, io);
    if (!chrome) check_shown(state);
    const std::string bytes = draw(*studio, state, jobs);
    found = found_by_check(options, state);
    write_to(options.output, bytes, io);
    if (const std::string caption = studio->caption(state);
        !caption.empty() && !files::is_standard(options.output))
        write_to(view::caption_file(options.output), caption, io);
    if (!found.empty()) throw failed(std::move(found));
}

}  // namespace

int run_render(Args args, Streams io) {
    CLI::App app(
        "Draws the canvas of a workspace into a file: SVG, PDF or PNG by its name. No display is "
        "needed.",
        "attnscope render");
    RenderOptions options;
    add_start_options(app, options.start);
    add_value(app, "-o,--output", options.output, "OUT",
              "the figure, as in weights.svg; with --all, the folder");
    app.add_flag("--chrome", options.chrome, "draw the whole window, not only the canvas");
    add_value(app, "--width", options.width, "W",
              "a figure of 85mm, 120mm or 180mm for a page, in type of 7 to 9 pt on white, its "
              "caption beside it (OUT.caption.txt); or a slide, 16:9");
    add_value(app, "--paper", options.paper, "P",
              "background of a figure: plain (white with --width, else as the theme), cream (in "
              "the light theme) or transparent");
    add_value(app, "--format", options.format, "F", "svg, pdf or png, if -o has no such extension");
    app.add_flag("--no-titles", options.no_titles,
                 "an SVG without the tooltips that browsers show for cells and marks");
    app.add_flag("--all", options.all, "draw every workspace in both themes");
    app.add_flag("--main-shots", options.main_shots,
                 "with --all: only the first picture of each workspace");
    app.add_flag("--film", options.film,
                 "an animated PNG of the window, or a video by ffmpeg (.mp4, .webm): each line of "
                 "--replay and its motion; without --replay, what the workspace plays by itself "
                 "(learn)");
    add_number(app, "--rest", options.rest_s, "SECONDS", files::real_numbers(0.05, 60),
               "pause after each line of the film, default 1.2");
    app.add_flag("--full-pass", options.full_pass,
                 "compute every weight of a large matrix; may take minutes");
    add_number(app, "--time-drag", options.time_drag, "FRAMES",
               files::whole_numbers(1, kMostTimedFrames),
               "no picture: drag a slider or the map for N frames and print the times");
    add_number(app, "--time-step", options.time_step, "FRAMES",
               files::whole_numbers(1, kMostTimedFrames),
               "no picture: step through the stages for N frames and print the times");
    return run_command(app, args, io, [&] {
        render(options, io);
        return kSuccess;
    });
}

}  // namespace attn::cli
