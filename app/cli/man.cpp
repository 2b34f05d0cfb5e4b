#include <fmt/format.h>

#include "app/cli/desktop_options.h"
#include "app/cli/subcommands.h"
#include "app/cli/text.h"
#include "attn_version.h"

namespace attn::cli {
namespace {

struct Place {
    std::string_view name, text;
};
constexpr auto kManFiles = std::to_array<Place>({
    {"~/.config/attnscope", "settings of the window"},
    {"~/.local/state/attnscope", "recent files and unsaved work"},
    {"../share/attnscope", "models, presets, tours, lectures and other data"},
});
constexpr auto kManVariables = std::to_array<Place>({
    {"XDG_CONFIG_HOME", "replaces ~/.config"},
    {"XDG_STATE_HOME", "replaces ~/.local/state"},
    {"ATTNSCOPE_ASSETS", "first folder to search for these data"},
    {"DISPLAY, WAYLAND_DISPLAY", "the display of the window; the commands need none"},
});

/// Text that roff takes as it stands: no escape, no control line, a hyphen that can be searched for and copied.
std::string roff_text(std::string_view text) {
    std::string escaped;
    bool starts_line = true;
    for (const char c : text) {
        if (starts_line && (c == '.' || c == '\'')) escaped += "\\&";
        starts_line = c == '\n';
        if (c == '\\')
            escaped += "\\e";
        else if (c == '-' || c == '^' || c == '~' || c == '`' || c == '\'')
            escaped += c == '-'    ? "\\-"
                       : c == '^'  ? "\\(ha"
                       : c == '~'  ? "\\(ti"
                       : c == '\'' ? "\\(aq"
                                   : "\\(ga";
        else
            escaped += c;
    }
    return escaped;
}

/// Lines that stay as they are.
std::string roff_lines(std::string_view text) {
    while (text.starts_with('\n')) text.remove_prefix(1);
    while (text.ends_with('\n')) text.remove_suffix(1);
    return text.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", roff_text(text));
}

std::string roff_item(std::string_view head, std::string_view text) {
    return fmt::format(".TP\n{}\n{}\n", head, roff_text(text));
}

/// "-o, --output FILE" in bold, with what stands for the value in italics.
std::string roff_option(const CLI::Option& option) {
    std::string head;
    const auto add = [&](std::string_view dashes, const std::string& name) {
        head += fmt::format("{}\\fB{}\\fR", head.empty() ? "" : ", ",
                            roff_text(fmt::format("{}{}", dashes, name)));
    };
    for (const std::string& name : option.get_snames()) add("-", name);
    for (const std::string& name : option.get_lnames()) add("--", name);
    if (head.empty()) head = fmt::format("\\fI{}\\fR", roff_text(option.get_name(true)));
    const std::string value = option.get_type_name();
    if (option.nonpositional() && option.get_type_size() != 0 && !value.empty())
        head += fmt::format(" \\fI{}\\fR", roff_text(value));
    std::string text = option.get_description();
    if (const std::string usual = option.get_default_str(); !usual.empty())
        text += fmt::format(" (default {})", usual);
    return roff_item(head, text);
}

std::string roff_app(const CLI::App& app) {
    std::string roff = fmt::format("{}\n", roff_text(app.get_description()));
    for (const CLI::Option* option : app.get_options()) roff += roff_option(*option);
    return roff + roff_lines(app.get_footer());
}

/// In bold, but for the arguments.
std::string roff_usage(const Subcommand& command) {
    return fmt::format("\\fBattnscope {}\\fR {}", command.name, roff_text(command.arguments));
}

std::string roff_synopsis() {
    std::string roff = ".SH SYNOPSIS\n.nf\n\\fBattnscope\\fR [FILE] [options]\n";
    for (const Subcommand& command : subcommands()) roff += roff_usage(command) + '\n';
    return roff + "\\fBattnscope\\fR \\-\\-version | \\-\\-help | \\-\\-man\n.fi\n";
}

std::string roff_places() {
    std::string roff = ".SH EXIT STATUS\n";
    for (const ExitStatus& status : kExitStatuses)
        roff += roff_item(fmt::format("\\fB{}\\fR", status.code), status.text);
    roff += ".SH FILES\n";
    for (const Place& file : kManFiles)
        roff += roff_item(fmt::format("\\fI{}\\fR", roff_text(file.name)), file.text);
    roff += ".SH ENVIRONMENT\n";
    for (const Place& variable : kManVariables)
        roff += roff_item(fmt::format("\\fB{}\\fR", variable.name), variable.text);
    roff += ".SH EXAMPLES\n";
    for (const Example& example : kExamples)
        roff += roff_item(fmt::format("\\fB{}\\fR", roff_text(example.command)), example.text);
    return roff;
}

}  // namespace

std::string man_page(Streams io) {
    std::string described;
    io.describe = [&](const CLI::App& app) { described = roff_app(app); };
    parse_desktop({}, io);
    std::string roff = fmt::format(
        ".TH ATTNSCOPE 1 \"\" \"attnscope {}\" \"User Commands\"\n"
        ".nh\n.ad l\n.SH NAME\nattnscope \\- {}\n",
        ATTN_VERSION, kWhatItIs);
    roff += roff_synopsis();
    roff += ".SH DESCRIPTION\n" + std::exchange(described, {});
    roff += ".SH COMMANDS\n";
    for (const Subcommand& command : subcommands()) {
        command.run({}, io);
        roff += fmt::format(".SS attnscope {}\n{}", command.name, std::exchange(described, {}));
    }
    return roff + roff_places();
}

}  // namespace attn::cli
