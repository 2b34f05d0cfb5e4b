// Work that outlives its program, and the files that were opened last.

#include "app/keep/autosave.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "app/keep/recent.h"
#include "core/io/file.h"
#include "tests/io/scratch.h"

using namespace attn;
using namespace attn::keep;

namespace {

namespace fs = std::filesystem;

void await(const Autosave& autosave) {
    for (int n = 0; n < 2000 && !autosave.has_written(); ++n)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    REQUIRE(autosave.has_written());
}

std::size_t files_in(const fs::path& folder) {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// What a program leaves that saves `text` and is ended by SIGKILL.
void be_killed(const fs::path& folder, const std::string& text) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        auto autosave = Autosave::open(folder, [] {});
        if (autosave) autosave->save(text);
        while (autosave && !autosave->has_written())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
}

}  // namespace

TEST_CASE("keep: what a killed program left is offered once, by its title, until it is answered") {
    const Scratch scratch;
    const std::string text = R"({"document":{"title":"The cat sat down"}})";
    be_killed(scratch.path(), text);
    {
        Leftovers left(scratch.path());
        REQUIRE(left.first());
        CHECK(left.first()->words.starts_with("The cat sat down, 20"));
        CHECK(*read_text_file(left.first()->path) == text);
        const Leftovers other(scratch.path());  // another window at the same time
        CHECK_FALSE(other.first());
    }
    Leftovers again(scratch.path());
    REQUIRE(again.first());
    again.take_first().remove();
    CHECK_FALSE(again.first());
    CHECK(files_in(scratch.path()) == 0);
}

TEST_CASE("keep: a program that runs is not robbed, and one that ends by itself leaves nothing") {
    const Scratch scratch;
    {
        auto autosave = Autosave::open(scratch.path(), [] {});
        REQUIRE(autosave);
        autosave->save("{\"document\":{\"title\":\"a\"}}");
        await(*autosave);
        CHECK(files_in(scratch.path()) == 2);
        CHECK_FALSE(Leftovers(scratch.path()).first());
        autosave->save("");
        await(*autosave);
        CHECK(files_in(scratch.path()) == 1);
        autosave->save("{}");
        autosave->end();
    }
    CHECK(files_in(scratch.path()) == 0);
}

TEST_CASE("keep: work that is resumed goes on in its own file, and is never there twice") {
    const Scratch scratch;
    be_killed(scratch.path(), R"({"document":{"title":"first"}})");
    {
        auto autosave = Autosave::open(scratch.path(), [] {});
        REQUIRE(autosave);
        autosave->save("before it was resumed");
        await(*autosave);
        Leftovers left(scratch.path());
        REQUIRE(left.first());
        const fs::path path = left.first()->path;
        autosave->adopt(left.take_first());
        CHECK_FALSE(Leftovers(scratch.path()).first());
        CHECK(*read_text_file(path) == R"({"document":{"title":"first"}})");  // until there is more
        autosave->save(R"({"document":{"title":"second"}})");
        await(*autosave);
        CHECK(*read_text_file(path) == R"({"document":{"title":"second"}})");
        CHECK(files_in(scratch.path()) == 2);  // with its lock
    }
    Leftovers again(scratch.path());
    REQUIRE(again.first());
    CHECK(again.first()->words.starts_with("second, 20"));
    {
        auto autosave = Autosave::open(scratch.path(), [] {});
        REQUIRE(autosave);
        autosave->adopt(again.take_first());
        autosave->end();
    }
    CHECK(files_in(scratch.path()) == 0);
}

TEST_CASE("keep: the last of several states is the one that is there") {
    const Scratch scratch;
    {
        auto autosave = Autosave::open(scratch.path(), [] {});
        REQUIRE(autosave);
        for (int n = 0; n <= 50; ++n) autosave->save(std::to_string(n));
        await(*autosave);
    }
    const Leftovers left(scratch.path());
    REQUIRE(left.first());
    CHECK(*read_text_file(left.first()->path) == "50");
    CHECK(left.first()->words.starts_with("a session, 20"));
}

TEST_CASE("keep: a place that cannot be written is said once, and work goes on") {
    CHECK_FALSE(Autosave::open("/proc/attnscope", [] {}));
    const Scratch scratch;
    auto autosave = Autosave::open(scratch / "state", [] {});
    REQUIRE(autosave);
    fs::remove_all(scratch / "state");
    for (int n = 0; n < 2; ++n) {
        autosave->save("x" + std::to_string(n));
        for (int wait = 0; wait < 200; ++wait)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        CHECK(autosave->take_failure().has_value() == (n == 0));
    }
    CHECK_FALSE(autosave->has_written());
}

TEST_CASE(
    "keep: recent files are absolute, the last first, each once, ten at most, and still there") {
    const Scratch scratch;
    const fs::path list = scratch / "recent.json";
    CHECK(read_recent(list).empty());
    std::vector<std::string> recent;
    for (int n = 0; n < 12; ++n) {
        const std::string path = (scratch / ("f" + std::to_string(n))).string();
        std::ofstream(path) << "x";
        recent = with_recent(recent, path);
    }
    recent = with_recent(recent, (scratch / "f5").string());
    recent = with_recent(recent, "-");
    CHECK(recent.size() == kMostRecent);
    CHECK(recent[0] == (scratch / "f5").string());
    CHECK(recent[1] == (scratch / "f11").string());
    write_recent(list, recent);
    CHECK(read_recent(list) == recent);
    fs::remove(scratch / "f11");
    CHECK(read_recent(list).size() == kMostRecent - 1);
    std::ofstream(list) << "{broken";
    CHECK(read_recent(list).empty());
}
