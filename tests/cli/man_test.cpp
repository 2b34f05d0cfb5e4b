// The man page: whole, and roff that says what it is to say.
#include <regex>

#include <set>

#include "tests/cli/command.h"

using namespace attn;

namespace {

/// The names of options that stand at the heads of lines: "-o", "--output".
std::set<std::string> options_in(const std::string& help) {
    const std::regex head("^  +(-[A-Za-z])?(?:, *)?(--[A-Za-z0-9][A-Za-z0-9-]*)?");
    std::set<std::string> names;
    std::istringstream lines(help);
    std::smatch found;
    for (std::string line; std::getline(lines, line);)
        if (std::regex_search(line, found, head))
            for (const std::size_t n : {1U, 2U})
                if (found[n].matched) names.insert(found[n].str());
    return names;
}

std::string escaped(const std::string& name) {
    return "\\fB" + std::regex_replace(name, std::regex("-"), "\\-") + "\\fR";
}

/// From the heading to the next of its kind.
std::string section(const std::string& page, const std::string& heading) {
    const std::size_t at = page.find(heading + "\n");
    REQUIRE(at != std::string::npos);
    const std::size_t end = std::min(page.find("\n.SS ", at + 1), page.find("\n.SH ", at + 1));
    return page.substr(at, end - at);
}

}  // namespace

TEST_CASE("the man page has every option of every subcommand") {
    const Ran ran = succeeds({"--man"});
    CHECK(ran.err.empty());
    for (const cli::Subcommand& subcommand : cli::subcommands()) {
        const std::string name(subcommand.name);
        const std::string part = section(ran.out, ".SS attnscope " + name);
        const auto options = options_in(command({name, "--help"}).out);
        CAPTURE(name);
        REQUIRE(options.contains("--help"));
        for (const std::string& option : options) {
            CAPTURE(option);
            CHECK(contains(part, escaped(option)));
        }
    }
    CHECK(contains(section(ran.out, ".SS attnscope trace"), "\\fB\\-o\\fR, \\fB\\-\\-output\\fR"));
}

TEST_CASE("the man page has the options of the window") {
    const std::string part = section(command({"--man"}).out, ".SH DESCRIPTION");
    const std::string help = command({"--help"}).out;
    const auto options = options_in(help.substr(help.find("Options of the window")));
    REQUIRE(options.contains("--journal"));
    for (const std::string& option : options) {
        CAPTURE(option);
        CHECK(contains(part, escaped(option)));
    }
}

TEST_CASE("the man page has the sections of its kind, in their order") {
    const std::string page = command({"--man"}).out;
    std::size_t at = 0;
    for (const char* heading : {"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS",
                                "FILES", "ENVIRONMENT", "EXAMPLES"}) {
        const std::size_t found = page.find(std::string(".SH ") + heading + "\n", at);
        CAPTURE(heading);
        REQUIRE(found != std::string::npos);
        at = found;
    }
    CHECK(page.starts_with(".TH ATTNSCOPE 1 "));
    for (const char* code : {"\\fB0\\fR", "\\fB1\\fR", "\\fB2\\fR", "\\fB128 + N\\fR"})
        CHECK(contains(section(page, ".SH EXIT STATUS"), code));
}
