// `attnscope train`: a specification becomes a run, which goes on.
#include <fstream>

#include "core/train/record.h"
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
    const TrainFolder folder;
    const Ran whole = succeeds({"train", folder / "spec.json", "-o", folder / "whole"});
    CHECK(contains(whole.out, "saturated"));
    CHECK(contains(whole.err, "step 20 of 20: loss "));
    const auto run = must(train::open_run(folder / "whole"));
    CHECK(run.records.size() == 20);
    CHECK(run.moments.size() == 11);  // every second step, and the beginning
    REQUIRE(command({"train", folder / "spec.json", "--steps", "7", "-o", folder / "part"}).code ==
            0);
    REQUIRE(command({"train", folder / "part", "--steps", "20", "-o", folder / "part"}).code == 0);
    const auto parts = must(train::open_run(folder / "part"));
    REQUIRE(parts.records.size() == 20);
    CHECK(*parts.moments.back() == *run.moments.back());
    for (std::size_t n = 0; n < 20; ++n) CHECK(*parts.records[n] == *run.records[n]);
}

TEST_CASE("train: --seeds trains the next seeds too, each as it would be alone") {
    const TrainFolder folder;
    REQUIRE(command({"train", folder / "spec.json", "--seeds", "2", "-o", folder / "runs"}).code ==
            0);
    const auto first = must(train::open_run(folder / "runs/seed-1"));
    const auto second = must(train::open_run(folder / "runs/seed-2"));
    CHECK(second.spec.seed == 2);
    CHECK(first.records[0]->loss != second.records[0]->loss);
    const Ran unsaved = succeeds({"train", folder / "spec.json", "--seeds", "2"});
    CHECK(std::ranges::count(unsaved.out, '\n') == 3);
}

TEST_CASE("train: what is wrong is said, and nothing is overwritten") {
    const TrainFolder folder;
    const auto fault = [](const Arguments& arguments) {
        return ends(cli::kBadInput, joined({"train"}, arguments)).err;
    };
    CHECK(contains(fault({}), "no SPEC; expected a specification"));
    CHECK(contains(fault({folder / "none.json"}), "none.json"));
    CHECK(contains(fault({folder / "spec.json", "--steps", "0"}),
                   "--steps is 0; expected a whole number from 1 to"));
    CHECK(contains(fault({folder / "spec.json", "--seeds", "x"}), "--seeds"));
    std::ofstream(folder / "bad.json") << R"({"d_k": 0})";
    CHECK(contains(fault({folder / "bad.json"}), "bad.json: d_k is 0; expected 1 to 512"));
    REQUIRE(command({"train", folder / "spec.json", "-o", folder / "run"}).code == 0);
    CHECK(contains(fault({folder / "spec.json", "-o", folder / "run"}), "holds a run already"));
    REQUIRE(command({"train", folder / "spec.json", "--steps", "3", "-o", folder / "other"}).code ==
            0);
    CHECK(contains(fault({folder / "run", "--steps", "30", "-o", folder / "other"}),
                   "holds a run already"));
    CHECK(must(train::open_run(folder / "other")).records.size() == 3);
    CHECK(contains(fault({folder / "run"}), "is at step 20; expected --steps above that"));
    CHECK(contains(fault({folder / "run", "--seeds", "2", "--steps", "30"}),
                   "is a run; expected a spec"));
}
