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
    const std::string data = (scratch / "data/in.npz").string();
    CHECK(path_from(scratch / "sessions", data) == "../data/in.npz");
    CHECK(path_from(scratch / "data", data) == "in.npz");
    CHECK(path_from(fs::current_path(), "in.npz") == "in.npz");
    CHECK(path_from("", "in.npz") == "in.npz");
    CHECK(path_from(scratch / "data", "-") == "-");
    CHECK(absolute_path((scratch / "data/../in.npz").string()) == (scratch / "in.npz").string());
}

TEST_CASE("what is named is looked for beside the naming file first, then where it was") {
    const Scratch scratch;
    write(scratch / "old/data/in.npz");
    const std::string old = (scratch / "old/data/in.npz").string();
    const std::string named = path_from(scratch / "old", old);
    CHECK(named == "data/in.npz");
    CHECK(find_named(scratch / "old", named, old) == old);
    CHECK(find_named(scratch / "new", named, old) == old);
    write(scratch / "new/data/in.npz");
    CHECK(find_named(scratch / "new", named, old) == (scratch / "new/data/in.npz").string());
    CHECK(find_named(scratch / "new", "-", "") == "-");
    // an absolute name of a file that was moved together with the one that names it
    write(scratch / "both/in.npz");
    CHECK(find_named(scratch / "both", (scratch / "gone/in.npz").string(), "") ==
          (scratch / "both/in.npz").string());
}

TEST_CASE("what is nowhere is refused with every place that was looked at") {
    const Scratch scratch;
    const auto found =
        must_fail(find_named(scratch / "a", "x/in.npz", (scratch / "b/in.npz").string()));
    CHECK(says(found.sentence, "x/in.npz is neither at " + (scratch / "a/x/in.npz").string()));
    CHECK(says(found.sentence, "nor at " + (scratch / "b/in.npz").string()));
}
