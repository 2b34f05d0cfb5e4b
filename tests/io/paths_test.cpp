// A file that another file names is found again from another folder.
#include "core/io/paths.h"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& path) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "x";
}

}  // namespace

TEST_CASE("a file names another from its own folder") {
    const Scratch scratch;
    const std::string data = scratch.at("data/in.npz");
    CHECK(path_from(scratch / "sessions", data) == "../data/in.npz");
    CHECK(path_from(scratch / "data", data) == "in.npz");
    CHECK(path_from(fs::current_path(), "in.npz") == "in.npz");
    CHECK(path_from("", "in.npz") == "in.npz");
    CHECK(path_from(scratch / "data", "-") == "-");
    CHECK(absolute_path(scratch.at("data/../in.npz")) == scratch.at("in.npz"));
}

TEST_CASE("what is named is looked for beside the naming file first, then where it was") {
    const Scratch scratch;
    write(scratch / "old/data/in.npz");
    const std::string old = scratch.at("old/data/in.npz");
    const std::string named = path_from(scratch / "old", old);
    CHECK(named == "data/in.npz");
    CHECK(find_named(scratch / "old", named, old) == old);
    CHECK(find_named(scratch / "new", named, old) == old);
    write(scratch / "new/data/in.npz");
    CHECK(find_named(scratch / "new", named, old) == scratch.at("new/data/in.npz"));
    CHECK(find_named(scratch / "new", "-", "") == "-");
    // an absolute name of a file that was moved together with the one that names it
    write(scratch / "both/in.npz");
    CHECK(find_named(scratch / "both", scratch.at("gone/in.npz"), "") == scratch.at("both/in.npz"));
}

TEST_CASE("what is nowhere is refused with every place that was looked at") {
    const Scratch scratch;
    const auto found = must_fail(find_named(scratch / "a", "x/in.npz", scratch.at("b/in.npz")));
    CHECK(contains(found.text(), "x/in.npz is neither at " + scratch.at("a/x/in.npz")));
    CHECK(contains(found.text(), "nor at " + scratch.at("b/in.npz")));
}
