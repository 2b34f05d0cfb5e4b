// `attnscope train`: a specification becomes a run, which goes on.
#include <fstream>

#include "core/train/run.h"
#include "tests/cli/command.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

/// A folder with a small specification.
struct TrainFolder {
    Scratch scratch;
    TrainFolder() {
        std::ofstream(scratch / "spec.json")
            << R"({"task":"copy","tokens":8,"symbols":3,"layers":1,"heads":1,"d_model":8,"d_k":4,)"
               R"("batch":4,"steps":20})";
    }
    std::string operator/(const char* name) const { return scratch.at(name); }
};

}  // namespace

TEST_CASE("train: a run has a record of every step, and goes on to the same end") {
    const TrainFolder room;
    const Ran whole = succeeds({"train", room / "spec.json", "-o", room / "whole"});
    CHECK(says(whole.out, "saturated"));
    CHECK(says(whole.err, "step 20 of 20: loss "));
    const auto run = must(train::open_run(room / "whole"));
    CHECK(run.records.size() == 20);
    CHECK(run.moments.size() == 11);  // every second step, and the beginning
    REQUIRE(command({"train", room / "spec.json", "--steps", "7", "-o", room / "part"}).code == 0);
    REQUIRE(command({"train", room / "part", "--steps", "20", "-o", room / "part"}).code == 0);
    const auto parts = must(train::open_run(room / "part"));
    REQUIRE(parts.records.size() == 20);
    CHECK(*parts.moments.back() == *run.moments.back());
    for (std::size_t n = 0; n < 20; ++n) CHECK(*parts.records[n] == *run.records[n]);
}

TEST_CASE("train: --seeds trains the next seeds too, each as it would be alone") {
    const TrainFolder room;
    REQUIRE(command({"train", room / "spec.json", "--seeds", "2", "-o", room / "runs"}).code == 0);
    const auto first = must(train::open_run(room / "runs/seed-1"));
    const auto second = must(train::open_run(room / "runs/seed-2"));
    CHECK(second.spec.seed == 2);
    CHECK(first.records[0]->loss != second.records[0]->loss);
    const Ran unsaved = succeeds({"train", room / "spec.json", "--seeds", "2"});
    CHECK(std::ranges::count(unsaved.out, '\n') == 3);
}

TEST_CASE("train: what is wrong is said, and nothing is overwritten") {
    const TrainFolder room;
    const auto fault = [](const Arguments& words) {
        return ends(cli::kBadInput, joined({"train"}, words)).err;
    };
    CHECK(says(fault({}), "no SPEC; expected a specification"));
    CHECK(says(fault({room / "none.json"}), "none.json"));
    CHECK(says(fault({room / "spec.json", "--steps", "0"}),
               "--steps is 0; expected a whole number from 1 to"));
    CHECK(says(fault({room / "spec.json", "--seeds", "x"}), "--seeds"));
    std::ofstream(room / "bad.json") << R"({"d_k": 0})";
    CHECK(says(fault({room / "bad.json"}), "bad.json: d_k is 0; expected 1 to 512"));
    REQUIRE(command({"train", room / "spec.json", "-o", room / "run"}).code == 0);
    CHECK(says(fault({room / "spec.json", "-o", room / "run"}), "holds a run already"));
    REQUIRE(command({"train", room / "spec.json", "--steps", "3", "-o", room / "other"}).code == 0);
    CHECK(
        says(fault({room / "run", "--steps", "30", "-o", room / "other"}), "holds a run already"));
    CHECK(must(train::open_run(room / "other")).records.size() == 3);
    CHECK(says(fault({room / "run"}), "stands at step 20; expected --steps above that"));
    CHECK(
        says(fault({room / "run", "--seeds", "2", "--steps", "30"}), "is a run; expected a spec"));
}
