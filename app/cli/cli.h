#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "app/common/workspace_list.h"
#include "core/backend.h"
#include "core/note.h"
#include "core/result.h"

namespace attn {
struct Note;
}  // namespace attn

namespace CLI {
class App;
}

namespace attn::cli {

/// The words after a command's name.
using Args = std::span<const std::string>;

class Studio;
struct StudioJob;
/// Something that draws the window without a window (studio.h); main composes it.
using OpenStudio = std::function<Result<std::unique_ptr<Studio>>(const StudioJob& job)>;

/// Where a command writes: results on `out`; errors and notes, one line each, on `err`. `render`
/// draws with `open_studio`; the others need none. `backends`: what main has to choose from.
struct Streams {
    std::ostream& out;
    std::ostream& err;
    OpenStudio open_studio = {};
    BackendList backends = attn::backends();
    view::WorkspaceList workspaces = view::workspaces();
    /// Given: a command hands its definition to this, and does nothing else.
    std::function<void(const CLI::App&)> describe = {};
    bool json_messages = false;  // errors and notes are JSON objects, one a line
};

inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;   // the input was fine, the machine was not
inline constexpr int kBadInput = 2;  // usage, file, shape or option

/// One subcommand: a row of the table in subcommands.cpp, a file of its own.
struct Subcommand {
    std::string_view name;
    std::string_view arguments;  // as in the usage line
    std::string_view text;       // what it is for
    int (*run)(Args args, Streams io);
};
std::span<const Subcommand> subcommands();

/// Runs the subcommand that `args` (without the program's name) begins with, or --help or --version,
/// and gives the exit code. nullopt: the arguments are for the desktop app. Never opens a window.
std::optional<int> run(Args args, Streams io);

/// "lecture NAME" without --notes: the window, as --lecture NAME opens it.
bool opens_lecture(Args args);

/// "attnscope trace: sentence" on `err`; the exit code that the kind of the error asks for.
int report(const Error& error, std::string_view command, Streams io);

/// "attnscope trace: note: text" on `err`, or the same as JSON.
void write_note(const Note& note, std::string_view command, Streams io);

/// Writes a table to the file `path`, "-" for standard output, and says that it has so many `what`. Throws.
void write_csv(const std::string& path, const std::string& text, std::size_t count,
               std::string_view what, Streams io);

}  // namespace attn::cli
