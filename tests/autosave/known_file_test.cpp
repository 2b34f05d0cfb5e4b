// Two windows on one session: the second that saves knows that the first has.

#include "app/autosave/known_file.h"

#include <doctest/doctest.h>

#include <chrono>

#include "core/io/file.h"
#include "tests/io/scratch.h"

using namespace attn;

TEST_CASE("a file that another window wrote is not what this one knows, until it is written over") {
    const Scratch scratch;
    const std::string path = scratch.at("session.json");
    REQUIRE(write_file_atomically(path, "one"));
    autosave::KnownFile first, second;
    for (autosave::KnownFile* window : {&first, &second}) {
        CHECK_FALSE(window->holds_what_is_known(path));
        window->know(path);
        CHECK(window->holds_what_is_known(path));
    }
    REQUIRE(write_file_atomically(path, "two, longer"));
    first.know(path, true);
    CHECK(first.holds_what_is_known(path));
    CHECK_FALSE(second.holds_what_is_known(path));
    second.know(path);  // each frame says so again: it was known before
    CHECK_FALSE(second.holds_what_is_known(path));
    REQUIRE(write_file_atomically(path, "three"));
    second.know(path, true);
    CHECK(second.holds_what_is_known(path));
    CHECK_FALSE(first.holds_what_is_known(path));
}

TEST_CASE("a file of the same length but another time is another; one that is gone too") {
    const Scratch scratch;
    const std::string path = scratch.at("session.json");
    autosave::KnownFile known;
    known.know(path);
    CHECK(known.holds_what_is_known(path));  // there is none, and there was none
    REQUIRE(write_file_atomically(path, "one"));
    CHECK_FALSE(known.holds_what_is_known(path));
    known.know(path, true);
    const auto time = std::filesystem::last_write_time(path);
    std::filesystem::last_write_time(path, time + std::chrono::seconds(1));
    CHECK_FALSE(known.holds_what_is_known(path));
    std::filesystem::last_write_time(path, time);
    CHECK(known.holds_what_is_known(path));
    std::filesystem::remove(path);
    CHECK_FALSE(known.holds_what_is_known(path));
}
