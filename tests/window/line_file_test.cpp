// Journals and frame logs: begun only when asked, whole lines, one process each, over nothing else.
#include "app/platform/line_file.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "core/io/file.h"
#include "tests/io/scratch.h"

using namespace attn;

namespace {

constexpr const char* kOld = "{\"action\":\"undo\"}\n";

std::string fault(const std::filesystem::path& path, const LineKind& kind = kJournalLines) {
    const auto file = LineFile::open(path, kind);
    return file ? "" : file.error().text();
}

}  // namespace

TEST_CASE_FIXTURE(OnDisk, "a file keeps what it holds until it begins") {
    REQUIRE(write_file_atomically(scratch / "j", kOld));
    { CHECK(LineFile::open(scratch / "j", kJournalLines)); }
    CHECK(read_text_file(scratch / "j").value() == kOld);
    {
        auto file = LineFile::open(scratch / "j", kJournalLines);
        REQUIRE(file);
        REQUIRE(file->begin());
        REQUIRE(file->write("{\"action\":\"redo\"}"));
        CHECK(read_text_file(scratch / "j").value() == "{\"action\":\"redo\"}\n");
    }
    CHECK(read_text_file(scratch / "j").value() == "{\"action\":\"redo\"}\n");
}

TEST_CASE_FIXTURE(OnDisk, "a file that never begins leaves no empty one behind") {
    { CHECK(LineFile::open(scratch / "j", kJournalLines)); }
    CHECK(scratch.files() == 0);
    { CHECK(LineFile::open(scratch / "j", kJournalLines)->begin()); }
    CHECK(scratch.files() == 1);
}

TEST_CASE_FIXTURE(OnDisk, "what is neither empty nor of the kind is not written over") {
    for (const char* text : {"notes\n", "[1, 2]\n", "{\"scores\": 1}\n", "\n", "1 s 2 ms"}) {
        REQUIRE(write_file_atomically(scratch / "f", text));
        CHECK(contains(fault(scratch / "f"), "f has other content; expected a journal"));
        CHECK(read_text_file(scratch / "f").value() == text);
    }
    REQUIRE(write_file_atomically(scratch / "f", kOld));
    CHECK(contains(fault(scratch / "f", kFrameLogLines), "expected a frame log"));
    CHECK(fault(scratch / "f") == "");
    REQUIRE(write_file_atomically(scratch / "f", "0.1520 s 12.01 ms\n0.1690 s 1.00 ms\n"));
    CHECK(fault(scratch / "f", kFrameLogLines) == "");
    REQUIRE(write_file_atomically(scratch / "f", ""));
    CHECK(fault(scratch / "f") == "");
    CHECK(fault("/dev/null") == "");
    CHECK(contains(fault(scratch / "no/f"), "no/f: cannot be written: No such file or directory"));
}

TEST_CASE_FIXTURE(OnDisk, "two processes do not write to one journal") {
    const auto first = LineFile::open(scratch / "j", kJournalLines);
    REQUIRE(first);
    const pid_t other = ::fork();
    if (other == 0) ::_exit(contains(fault(scratch / "j"), "another process writes to it") ? 0 : 1);
    int status = -1;
    REQUIRE(::waitpid(other, &status, 0) == other);
    CHECK(status == 0);
    const auto same = LineFile::open("/dev/null", kJournalLines);
    CHECK(fault("/dev/null") == "");
}

TEST_CASE_FIXTURE(OnDisk, "lines that are written at once stay whole") {
    auto file = LineFile::open(scratch / "j", kJournalLines);
    REQUIRE(file);
    REQUIRE(file->begin());
    std::vector<std::jthread> writers;
    for (const char letter : {'a', 'b', 'c'})
        writers.emplace_back([&, letter] {
            for (int n = 0; n < 50; ++n) static_cast<void>(file->write(std::string(5000, letter)));
        });
    writers.clear();
    const std::string text = read_text_file(scratch / "j").value();
    REQUIRE(text.size() == 3 * 50 * 5001);
    for (std::size_t line = 0; line < text.size(); line += 5001)
        CHECK(text.substr(line, 5001) == std::string(5000, text[line]) + '\n');
}

TEST_CASE("a disk that is full is a failure at the line") {
    auto file = LineFile::open("/dev/full", kJournalLines);
    REQUIRE(file);
    REQUIRE(file->begin());
    const auto written = file->write("x");
    REQUIRE(!written);
    CHECK(written.error().text() ==
          "/dev/full: the line cannot be written: No space left on device; no more lines are "
          "written");
}
