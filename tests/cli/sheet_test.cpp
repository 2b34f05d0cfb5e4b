// attnscope sheet: the list, JSON, PDF, and what is refused.
#include "tests/cli/command.h"

TEST_CASE("sheet: every sheet is listed, and each is a PDF of the same bytes every time") {
    std::istringstream lines(succeeds({"sheet", "--list"}).out);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        const std::string name = line.substr(0, line.find(' '));
        CAPTURE(name);
        const Arguments arguments{"sheet", name, "--seed", "7", "-o", "-"};
        const std::string pdf = succeeds(arguments).out;
        CHECK(pdf.starts_with("%PDF-"));
        CHECK(succeeds(arguments).out == pdf);
        CHECK(succeeds(joined(arguments, {"--solutions"})).out != pdf);
        CHECK(succeeds(joined(arguments, {"--paper", "letter"})).out != pdf);
    }
    CHECK(count >= 15);
    CHECK(succeeds({"sheet", "causal-row", "--seed", "8", "-o", "-"}).out !=
          succeeds({"sheet", "causal-row", "--seed", "7", "-o", "-"}).out);
}

TEST_CASE("sheet: a file is written whole; JSON has what is given and the answers") {
    const Scratch scratch;
    const std::string path = scratch.at("sheet.pdf");
    CHECK(succeeds({"sheet", "nan-row", "-o", path}).out.empty());
    CHECK(std::filesystem::file_size(path) > 1000);
    const std::string json = succeeds({"sheet", "nan-row", "--json"}).out;
    for (const char* text :
         {"\"sheet\": \"nan-row\"", "\"seed\": 1", "\"given\"", "\"nan\"", "\"tolerance\""})
        CHECK(contains(json, text));
}

TEST_CASE("sheet: what cannot be is refused by name") {
    check_refused({"sheet"}, "expected -o FILE.pdf, --json or --list");
    check_refused({"sheet", "--json"}, "no sheet was named; expected ");
    check_refused({"sheet", "causal-rw", "--json"}, "there is no sheet 'causal-rw'; did you mean");
    check_refused({"sheet", "causal-row", "--seed", "-1", "--json"},
                  "--seed is -1; expected a whole number from 0");
    check_refused({"sheet", "causal-row", "--paper", "a5", "-o", "-"}, "--paper is 'a5'");
    check_refused({"sheet", "causal-row", "-o", "x.svg"}, "ends in .pdf");
    check_refused({"sheet", "causal-row", "-o", "-", "--json"}, "-o was given with --json");
    check_refused({"sheet", "causal-row", "--solutions", "--json"},
                  "--solutions was given with --json");
    check_refused({"sheet", "causal-row", "--list"}, "expected only --list");
}
