// No output is an input or another output, under whatever name.
#include "app/files/outputs.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io/file.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::files;

namespace {

std::string complaint(const NamedFile& input, const NamedFile& output) {
    return sentence_in(check_outputs({&input, 1}, {&output, 1}));
}

std::string between(std::vector<NamedFile> outputs) {
    return sentence_in(check_outputs({}, outputs));
}

}  // namespace

TEST_CASE("an output that is an input is refused, through links too, and the file stays") {
    const Scratch scratch;
    const auto at = [&](const char* name) { return scratch.at(name); };
    REQUIRE(write_file_atomically(scratch / "f", "kept"));
    std::filesystem::create_symlink("f", scratch / "soft");
    std::filesystem::create_symlink("soft", scratch / "softer");
    std::filesystem::create_hard_link(scratch / "f", scratch / "hard");
    for (const char* name : {"f", "soft", "softer", "hard", "./f"}) {
        CAPTURE(name);
        CHECK(contains(complaint({"--replay", at("f")}, {"--journal", at(name)}),
                       "--journal is " + at(name) + ", the same file as --replay"));
    }
    CHECK(complaint({"--replay", at("f")}, {"--journal", at("g")}).empty());
    CHECK(complaint({"--replay", at("f")}, {"--journal", ""}).empty());
    CHECK(complaint({"--replay", ""}, {"--journal", at("f")}).empty());
    CHECK(read_text_file(scratch / "f").value() == "kept");
    CHECK(scratch.files() == 4);
}

TEST_CASE("two outputs are two files, also where neither is there yet") {
    const Scratch scratch;
    const auto at = [&](const char* name) { return scratch.at(name); };
    std::filesystem::create_symlink("later", scratch / "dangling");
    CHECK(contains(between({{"--journal", at("f")}, {"--frame-log", at("f")}}),
                   "--frame-log is " + at("f") + ", the same file as --journal; expected another"));
    CHECK(contains(between({{"-o", at("later")}, {"--journal", at("dangling")}}), "the same file"));
    CHECK(contains(between({{"-o", "-"}, {"--journal", "-"}}),
                   "--journal is -, the same file as -o"));
    CHECK(between({{"-o", at("f")}, {"--journal", at("g")}, {"--frame-log", at("h")}}).empty());
}

TEST_CASE("a device may be read and written at once") {
    CHECK(complaint({"the input", "/dev/null"}, {"-o", "/dev/null"}).empty());
    CHECK(between({{"-o", "/dev/null"}, {"--journal", "/dev/null"}}).empty());
}

TEST_CASE("standard output that goes into the input is the input") {
    const Scratch scratch;
    REQUIRE(write_file_atomically(scratch / "f", "kept"));
    const int file = ::open((scratch / "f").c_str(), O_WRONLY | O_APPEND);
    const int before = ::dup(STDOUT_FILENO);
    ::dup2(file, STDOUT_FILENO);
    const std::string stated = complaint({"the input", scratch.at("f")}, {"-o", "-"});
    ::dup2(before, STDOUT_FILENO);
    ::close(before);
    ::close(file);
    CHECK(contains(stated, "-o is -, the same file as the input"));
}

TEST_CASE("an extension is one of those that are known") {
    const auto complains = [](const char* path) {
        return sentence_in(check_extension({"-o", path}, ".csv"));
    };
    for (const char* path : {"a.csv", "b/.c.csv", "-", "/dev/null", "/dev/stdout", ""})
        CHECK(complains(path) == "");
    for (const char* path : {"a.CSV", "a.csv.gz", "csv", ".csv", "a."})
        CHECK(contains(complains(path), "expected a name that ends in .csv, or -"));
    const std::string_view two[] = {".png", ".svg"};
    CHECK(contains(check_extension({"-o", "a.pdf"}, two).error().text(),
                   "ends in .png or .svg, or -"));
}
