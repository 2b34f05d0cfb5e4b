// Work that outlives its program, and the files that were opened last.

#include "app/autosave/autosave.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "app/autosave/recent.h"
#include "core/io/file.h"
#include "core/narrow.h"
#include "tests/io/scratch.h"
#include "tests/support/child.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::autosave;

namespace {

namespace fs = std::filesystem;

/// Until it is on the disk.
void save(Autosave& autosave, const std::string& text) {
    autosave.save(text);
    for (int n = 0; n < 2000 && !autosave.has_written(); ++n)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    REQUIRE(autosave.has_written());
}

/// What a program leaves that saves `text` and is ended by SIGKILL.
void be_killed(const fs::path& folder, const std::string& text) {
    test::child_ended_by_signal([&] {
        auto autosave = Autosave::open(folder, [] {});
        if (autosave) autosave->save(text);
        while (autosave && !autosave->has_written())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        kill(getpid(), SIGKILL);
    });
}

}  // namespace

TEST_CASE("keep: what a killed program left is offered once, by its title, until it is answered") {
    const Scratch scratch;
    const std::string text = R"({"document":{"title":"The cat sat down"}})";
    be_killed(scratch.path(), text);
    {
        Leftovers left(scratch.path());
        REQUIRE(left.first());
        CHECK(left.first()->text.starts_with("The cat sat down, 20"));
        CHECK(*read_text_file(left.first()->path) == text);
        const Leftovers other(scratch.path());  // another window at the same time
        CHECK_FALSE(other.first());
    }
    Leftovers again(scratch.path());
    REQUIRE(again.first());
    again.take_first().remove();
    CHECK_FALSE(again.first());
    CHECK(scratch.files() == 0);
}

TEST_CASE("keep: a program that runs is not robbed, and one that ends by itself leaves nothing") {
    const Scratch scratch;
    {
        auto autosave = must(Autosave::open(scratch.path(), [] {}));
        save(autosave, "{\"document\":{\"title\":\"a\"}}");
        CHECK(scratch.files() == 2);
        CHECK_FALSE(Leftovers(scratch.path()).first());
        save(autosave, "");
        CHECK(scratch.files() == 1);
        autosave.save("{}");
        autosave.end();
    }
    CHECK(scratch.files() == 0);
}

TEST_CASE("keep: work that is resumed goes on in its own file, and is never there twice") {
    const Scratch scratch;
    be_killed(scratch.path(), R"({"document":{"title":"first"}})");
    {
        auto autosave = must(Autosave::open(scratch.path(), [] {}));
        save(autosave, "before it was resumed");
        Leftovers left(scratch.path());
        REQUIRE(left.first());
        const fs::path path = left.first()->path;
        autosave.adopt(left.take_first());
        CHECK_FALSE(Leftovers(scratch.path()).first());
        CHECK(*read_text_file(path) == R"({"document":{"title":"first"}})");  // until there is more
        save(autosave, R"({"document":{"title":"second"}})");
        CHECK(*read_text_file(path) == R"({"document":{"title":"second"}})");
        CHECK(scratch.files() == 2);  // with its lock
    }
    Leftovers again(scratch.path());
    REQUIRE(again.first());
    CHECK(again.first()->text.starts_with("second, 20"));
    {
        auto autosave = must(Autosave::open(scratch.path(), [] {}));
        autosave.adopt(again.take_first());
        autosave.end();
    }
    CHECK(scratch.files() == 0);
}

TEST_CASE("keep: the last of several states is the one that is there") {
    const Scratch scratch;
    {
        auto autosave = must(Autosave::open(scratch.path(), [] {}));
        for (int n = 0; n < 50; ++n) autosave.save(std::to_string(n));
        save(autosave, "50");
    }
    const Leftovers left(scratch.path());
    REQUIRE(left.first());
    CHECK(*read_text_file(left.first()->path) == "50");
    CHECK(left.first()->text.starts_with("a session, 20"));
}

TEST_CASE("keep: a place that cannot be written is said once, and work goes on") {
    CHECK_FALSE(Autosave::open("/proc/attnscope", [] {}));
    const Scratch scratch;
    auto autosave = must(Autosave::open(scratch / "state", [] {}));
    fs::remove_all(scratch / "state");
    for (int n = 0; n < 2; ++n) {
        autosave.save("x" + std::to_string(n));
        for (int wait = 0; wait < 200; ++wait)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        CHECK(autosave.take_failure().has_value() == (n == 0));
    }
    CHECK_FALSE(autosave.has_written());
}

TEST_CASE("keep: recent files are absolute, last first, each once, ten at most, and still there") {
    const Scratch scratch;
    const fs::path list = scratch / "recent.json";
    CHECK(read_recent(list).empty());
    std::vector<std::string> recent;
    for (int n = 0; n < 12; ++n) {
        const std::string path = (scratch / ("f" + std::to_string(n))).string();
        std::ofstream(path) << "x";
        recent = with_recent(recent, path);
    }
    recent = with_recent(recent, scratch.at("f5"));
    recent = with_recent(recent, "-");
    CHECK(recent.size() == kMostRecent);
    CHECK(recent[0] == scratch.at("f5"));
    CHECK(recent[1] == scratch.at("f11"));
    write_recent(list, recent);
    CHECK(read_recent(list) == recent);
    fs::remove(scratch / "f11");
    CHECK(read_recent(list).size() == kMostRecent - 1);
    std::ofstream(list) << "{broken";
    CHECK(read_recent(list).empty());
}
