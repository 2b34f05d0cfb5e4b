#include "app/cli/desktop_options.h"

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "core/io/arrays/array_file.h"
#include "core/models/model.h"

namespace attn::cli {
namespace {

void add_options(CLI::App& app, DesktopOptions& options) {
    add_start_options(app, options.start);
    app.add_flag("--exit-after-replay", options.exit_after_replay,
                 "close the window after --replay");
    app.add_flag("--follow", options.follow,
                 "reload FILE (tensors) after each change by another program; the view stays");
    add_value(app, "--journal", options.journal, "FILE",
              "record every action in FILE, one JSON line each");
    add_value(app, "--save-session", options.save_session, "FILE",
              "write the session to FILE on Ctrl+S and at exit");
    add_value(app, "--screenshot-dir", options.screenshot_dir, "FOLDER",
              "folder for the pictures of F12");
    add_value(app, "--frame-log", options.frame_log, "FILE",
              "log each frame: seconds since the start, milliseconds");
}

}  // namespace

std::string desktop_options_help() {
    CLI::App app;
    app.set_help_flag();
    DesktopOptions options;
    add_options(app, options);
    CLI::Formatter layout;
    layout.column_width(28);
    const auto own = [&](const CLI::Option* option) {
        return option->nonpositional() && option->get_group() == app.option_defaults()->get_group();
    };
    return layout.make_group("Options of the window", false, std::as_const(app).get_options(own)) +
           "\nFor tensors the options of attnscope trace apply too; --scale is the scale of the "
           "window.\n";
}

std::variant<int, DesktopOptions> parse_desktop(Args text, Streams io) {
    std::vector<std::string> args(text.begin(), text.end());
    if (opens_lecture(args)) args.front() = "--lecture";
    CLI::App app(fmt::format("Opens the window. FILE is tensors ({}) as trace reads them, a saved "
                             "session or a preset (.json).",
                             array_format_text()),
                 "attnscope");
    DesktopOptions options;
    add_options(app, options);
    if (const auto code = parse(app, args, io)) return *code;
    const files::NamedFile outputs[] = {{"--journal", options.journal},
                                        {"--frame-log", options.frame_log},
                                        {"--save-session", options.save_session}};
    if (const auto resolved = resolve_start(options.start, outputs); !resolved)
        return report(resolved.error(), "attnscope", io);
    const std::string& file = options.start.file;
    if (options.follow && (file.empty() || !files::holds_tensors(file) || is_model(file))) {
        const std::string given =
            file.empty() ? "no file is given" : fmt::format("'{}' is none", file);
        return report({"--follow is for a file of tensors; " + given, ErrorKind::input},
                      "attnscope", io);
    }
    return options;
}

}  // namespace attn::cli
