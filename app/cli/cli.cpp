#include "app/cli/cli.h"

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/desktop_options.h"
#include "app/cli/subcommands.h"
#include "app/cli/text.h"
#include "app/common/or_throw.h"
#include "app/files/standard.h"
#include "app/files/text.h"
#include "attn_version.h"
#include "core/io/arrays/array_file.h"
#include "core/io/file.h"

namespace attn::cli {
namespace {

constexpr std::string_view kFiles =
    "\nFILE is a saved session, a preset, or tensors ({}).\n"
    "- is standard input or output. No output is written over an input; only --save-session may "
    "name\n"
    "the session that is opened.\n";

constexpr std::size_t kExampleWidth = 55;

std::string help() {
    std::string text = fmt::format("attnscope: {}\n\nUsage:\n", kWhatItIs);
    text += fmt::format("  {:<48} {}\n", "attnscope [FILE] [options]", "the desktop app");
    for (const Subcommand& command : subcommands()) {
        const std::string usage = fmt::format("attnscope {} {}", command.name, command.arguments);
        const std::string_view gap = usage.size() > 48 ? "\n" : "";
        text +=
            fmt::format("  {:<48}{}{:>{}}{}\n", usage, gap, "", gap.empty() ? 1 : 51, command.text);
    }
    text += "  attnscope --version | --help | --man\n";
    text += "\nattnscope COMMAND --help lists the options of a command.\n";
    text += desktop_options_help();
    text += fmt::format(kFiles, array_format_text());
    text += "\nExit status:\n";
    for (const ExitStatus& status : kExitStatuses)
        text += fmt::format("  {:<9} {}\n", status.code, status.text);
    text += "\nExamples:\n";
    for (const Example& example : kExamples) {
        const bool fits = example.command.size() < kExampleWidth;  // else it speaks for itself
        text += fits ? fmt::format("  {:<{}}{}\n", example.command, kExampleWidth, example.text)
                     : fmt::format("  {}\n", example.command);
    }
    return text;
}

const Subcommand* find_subcommand(std::string_view name) {
    const auto all = subcommands();
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const Subcommand& command) { return command.name == name; });
    return found == all.end() ? nullptr : &*found;
}

// "attnscope trcae in.npz": a word that is no file and nearly a command.
std::string misspelt(const std::string& word) {
    std::error_code ignored;
    if (word.starts_with('-') || std::filesystem::exists(word, ignored)) return {};
    std::vector<std::string> names;
    for (const Subcommand& command : subcommands()) names.emplace_back(command.name);
    return files::did_you_mean(word, names);
}

}  // namespace

bool opens_lecture(Args args) {
    constexpr std::string_view kOnlyWritten[] = {"--notes", "--list", "--help", "-h"};
    return args.size() > 1 && args.front() == "lecture" &&
           std::ranges::find_first_of(args, kOnlyWritten) == args.end();
}

std::optional<int> run(Args args, Streams io) {
    if (args.empty()) return std::nullopt;
    io.json_messages = std::ranges::find(args, "--json") != args.end();
    const std::string& first = args.front();
    if (first == "--help" || first == "-h" || first == "help") {
        io.out << help();
        return kSuccess;
    }
    if (first == "--version") {
        io.out << "attnscope " ATTN_VERSION "\n";
        return kSuccess;
    }
    if (first == "--man") {
        io.out << man_page(io);
        return kSuccess;
    }
    if (opens_lecture(args)) return std::nullopt;
    if (const Subcommand* command = find_subcommand(first))
        return command->run(args.subspan(1), io);
    if (const std::string hint = misspelt(first); !hint.empty())
        return report({fmt::format("there is no command or file '{}'{}", first, hint)}, "attnscope",
                      io);
    return std::nullopt;
}

void write_csv(const std::string& path, const std::string& text, std::size_t count,
               std::string_view what, Streams io) {
    const bool standard = files::is_standard(path);
    if (standard)
        io.out << text;
    else
        or_throw(write_file_atomically(path, text));
    // Where the lines of the file own the output, nothing else goes there.
    (standard || writes_in_place(path) ? io.err : io.out)
        << fmt::format("{}: {} {}\n", standard ? "standard output" : path, count, what);
}

}  // namespace attn::cli
