// attnscope lecture: the notes of a lecture. Without --notes it is the desktop app, presenting its screens.

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/start.h"
#include "app/cli/subcommands.h"
#include "app/common/or_throw.h"
#include "app/files/open.h"
#include "app/files/standard.h"
#include "app/window/lecture.h"
#include "core/io/file.h"

namespace attn::cli {
namespace {

constexpr std::string_view kLectureFooter =
    "attnscope lecture NAME presents in the window: PgDn shows the next screen, PgUp the previous "
    "one, P the whole window.\n\n"
    "Examples:\n"
    "  attnscope lecture --list\n"
    "  attnscope lecture attention\n"
    "  attnscope lecture attention --notes -o notes.md\n";

/// The command line, as it was written.
struct LectureArguments {
    std::string name;
    std::string output = "-";
    bool notes = false, list = false;
};

void write_notes(const LectureArguments& text, Streams io) {
    const std::string notes =
        view::lecture_notes(lecture_named(text.name), files::opener(io.backends, io.workspaces));
    or_throw(files::check_extension({"-o", text.output}, ".md"));
    if (files::is_standard(text.output))
        io.out << notes;
    else
        or_throw(write_file_atomically(text.output, notes));
}

void lecture(const LectureArguments& text, Streams io) {
    if (!text.list) return write_notes(text, io);
    if (!text.name.empty() || text.notes)
        throw bad_input("--list was given with a lecture or --notes; expected only --list");
    for (const view::Lecture& each : or_throw(view::lectures()))
        io.out << fmt::format("{:<18} {} ({} minutes)\n", each.key, each.title, each.minutes);
}

}  // namespace

int run_lecture(Args args, Streams io) {
    CLI::App app("Presents a lecture as a list of screens, or writes the notes for it.",
                 "attnscope lecture");
    LectureArguments text;
    app.add_option("NAME", text.name, "name of the lecture; --list shows all");
    app.add_flag("--notes", text.notes,
                 "write the teacher's notes: minute, screen, question, answer");
    add_value(app, "-o,--output", text.output, "FILE.md",
              "file for the notes; - for standard output");
    app.add_flag("--list", text.list, "list every lecture with its title");
    app.footer(std::string(kLectureFooter));
    return run_command(app, args, io, [&] {
        lecture(text, io);
        return kSuccess;
    });
}

}  // namespace attn::cli
