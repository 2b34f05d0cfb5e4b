// Runs: the same seed gives the same run, a moment goes on as if nothing had been, learning happens, a folder brings it back.

#include <doctest/doctest.h>

#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "core/io/file.h"
#include "core/io/json.h"
#include "core/train/run.h"
#include "core/train/task_table.h"
#include "core/train/trainer.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::train;

namespace {

namespace fs = std::filesystem;

Spec small_spec() {
    return spec_from_json(R"({"task": "copy", "tokens": 12, "symbols": 4, "layers": 2, "heads": 2,
                              "d_model": 16, "d_k": 4, "batch": 8, "warmup": 5,
                              "learning_rate": 0.01, "steps": 20})",
                          "spec")
        .value();
}

std::vector<std::shared_ptr<const Record>> train_on(Trainer& trainer, Index steps) {
    std::vector<std::shared_ptr<const Record>> records;
    for (Index n = 0; n < steps; ++n) records.push_back(trainer.step());
    return records;
}

std::set<std::string> names_in(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
    return names;
}

/// The file of the first moment that run.json lists.
std::string listed_moment(const fs::path& folder) {
    return must(read_json_file(folder / "run.json"))["moments"][0]["file"];
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    REQUIRE(text.find(from) != std::string::npos);
    return text.replace(text.find(from), from.size(), to);
}

double mean_loss(const std::vector<std::shared_ptr<const Record>>& records, std::size_t first,
                 std::size_t count) {
    double sum = 0.0;
    for (std::size_t n = first; n < first + count; ++n) sum += records[n]->loss;
    return sum / static_cast<double>(count);
}

}  // namespace

TEST_CASE("runs: the same seed gives the same run bit for bit, another seed another one") {
    for (const Optimiser optimiser : {Optimiser::adamw, Optimiser::sgd}) {
        Spec spec = small_spec();
        spec.optimiser = optimiser;
        spec.mlp = optimiser == Optimiser::sgd;
        Trainer a = *Trainer::make(spec);
        Trainer b = *Trainer::make(spec);
        const auto first = train_on(a, 6);
        const auto second = train_on(b, 6);
        for (std::size_t n = 0; n < first.size(); ++n) CHECK(*first[n] == *second[n]);
        CHECK(*a.checkpoint() == *b.checkpoint());
        spec.seed = 2;
        Trainer other = *Trainer::make(spec);
        CHECK(other.step()->loss != first[0]->loss);
    }
}

TEST_CASE("runs: a moment goes on as if nothing had been between, with its switches") {
    const Spec spec = small_spec();
    Trainer whole = *Trainer::make(spec);
    train_on(whole, 3);
    whole.set_scaling(false);
    whole.silence_head(1, 0, true);
    train_on(whole, 2);
    const Moment moment = whole.checkpoint();
    const auto rest = train_on(whole, 3);
    Trainer again = *Trainer::from(spec, *moment);
    CHECK(again.step_count() == 5);
    CHECK(again.switches() == Switches{false, {false, false, true, false}});
    const auto same = train_on(again, 3);
    for (std::size_t n = 0; n < rest.size(); ++n) CHECK(*rest[n] == *same[n]);
    whole.restore(*moment);
    CHECK(*whole.step() == *rest[0]);
    CHECK(*whole.checkpoint() != *moment);
}

TEST_CASE("runs: a step does what AdamW and SGD say") {
    Spec spec = small_spec();
    spec.warmup = 1;
    spec.clip = 0.0;
    for (const Optimiser optimiser : {Optimiser::adamw, Optimiser::sgd}) {
        spec.optimiser = optimiser;
        Trainer trainer = *Trainer::make(spec);
        const Moment before = trainer.checkpoint();
        std::vector<Example> batch;
        for (Index n = 0; n < spec.batch; ++n) batch.push_back(trainer.sequences().training(0, n));
        const std::vector<float> g = trainer.gradient(batch).values;
        trainer.step();
        const Moment after = trainer.checkpoint();
        double largest = 0.0;
        for (const Matrix& matrix : trainer.matrices())
            for (std::size_t n = matrix.offset;
                 n < matrix.offset + static_cast<std::size_t>(matrix.rows * matrix.columns); ++n) {
                const double w = before->weights[n];
                const double decay =
                    matrix.decays ? spec.learning_rate * spec.weight_decay * w : 0.0;
                // The first step: m/(1 − β₁) = g, v/(1 − β₂) = g²; momentum starts as the gradient.
                const double d = g[n];
                const double step = optimiser == Optimiser::adamw ? d / (std::abs(d) + 1e-8) : d;
                const double expected = w - decay - spec.learning_rate * step;
                CHECK(after->weights[n] == doctest::Approx(expected).epsilon(1e-5).scale(1e-2));
                largest = std::max(largest, std::abs(after->weights[n] - w));
            }
        CHECK(largest > 1e-3);
    }
}

TEST_CASE("runs: copying is learnt, and the head that does it looks back") {
    Spec spec = small_spec();
    spec.d_k = 8;
    spec.d_model = 32;
    spec.batch = 32;
    Trainer trainer = *Trainer::make(spec);
    const auto records = train_on(trainer, 250);
    CHECK(records[0]->loss > 1.0);  // ln 5 = 1.6 where all symbols are as likely
    CHECK(mean_loss(records, 0, 5) > 4.0 * mean_loss(records, 245, 5));
    CHECK(records.back()->accuracy > 0.95);
    const Probe seen = probe(spec, *trainer.checkpoint(), trainer.sequences().fixed());
    CHECK(seen.accuracy > 0.9);
    REQUIRE(seen.weights.size() == 2);
    double best = 0.0;  // of all heads: mean weight from the second half to m places back
    for (const Tensor& weights : seen.weights)
        for (Index head = 0; head < 2; ++head) {
            double sum = 0.0;
            for (Index p = 6; p < 12; ++p) {
                double row = 0.0;
                for (Index k = 0; k < 12; ++k) {
                    const float weight = weights(0, head, p, k);
                    row += weight;
                    if (k > p) CHECK(weight == 0.0F);
                }
                CHECK(row == doctest::Approx(1.0).epsilon(1e-5));
                sum += weights(0, head, p, p - 6) + weights(0, head, p, p - 5);
            }
            best = std::max(best, sum / 6.0);
        }
    CHECK(best > 0.5);
}

TEST_CASE("runs: a folder brings a run back, and it goes on as before") {
    const Scratch scratch;
    const fs::path folder = scratch / "run";
    const Spec spec = small_spec();
    Trainer trainer = *Trainer::make(spec);
    Run run{spec, {}, {trainer.checkpoint()}};
    for (int n = 0; n < 4; ++n) {
        run.records.push_back(trainer.step());
        if (n == 1) trainer.set_scaling(false);
        if (n != 2) continue;
        for (const Index layer : {0, 1}) trainer.silence_head(layer, 1, true);
    }
    run.moments.push_back(trainer.checkpoint());
    REQUIRE(save_run(folder, run));
    CHECK(is_run(folder));
    const auto read = must(open_run(folder));
    CHECK(read.spec == spec);
    REQUIRE(read.records.size() == 4);
    for (std::size_t n = 0; n < 4; ++n) CHECK(*read.records[n] == *run.records[n]);
    REQUIRE(read.moments.size() == 2);
    for (std::size_t n = 0; n < 2; ++n) CHECK(*read.moments[n] == *run.moments[n]);
    CHECK(*Trainer::from(read.spec, *read.moments[1])->step() == *trainer.step());
    // Fewer moments: the file of the other goes, those that no run listed stay.
    for (const char* mine : {"step-mine.safetensors", "step-0000099.safetensors"})
        REQUIRE(write_file_atomically(folder / mine, "mine"));
    run.moments.erase(run.moments.begin());
    REQUIRE(save_run(folder, run));
    CHECK(names_in(folder).size() == 4);
    CHECK(fs::exists(folder / "step-mine.safetensors"));
    // A moment that is there is not written again.
    const fs::path file = folder / listed_moment(folder);
    const auto early = fs::last_write_time(file) - std::chrono::hours(1);
    fs::last_write_time(file, early);
    REQUIRE(save_run(folder, run));
    CHECK(fs::last_write_time(file) == early);
    CHECK(listed_moment(folder) == "step-0000004.safetensors");
    // Something else in its place is not taken for it.
    REQUIRE(write_file_atomically(file, "mine"));
    REQUIRE(save_run(folder, run));
    CHECK(listed_moment(folder) != "step-0000004.safetensors");
    CHECK(*must(open_run(folder)).moments.front() == *run.moments.front());
}

TEST_CASE("runs: what cannot be written whole leaves no folder, and a run that is there alone") {
    const Scratch scratch;
    Trainer trainer = *Trainer::make(small_spec());
    Run run{trainer.spec(), {}, {trainer.checkpoint()}};
    REQUIRE(save_run(scratch / "there", run));
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const auto names = names_in(scratch / "there");
    // Another seed's: its moment can be written, its run.json cannot.
    Spec spec = small_spec();
    spec.seed = 2;
    Trainer other = *Trainer::make(spec);
    Run longer{spec, {}, {other.checkpoint()}};
    longer.records.assign(300, other.step());
    const rlim_t moment = fs::file_size(scratch / "there" / listed_moment(scratch / "there"));
    for (const rlim_t most : {rlim_t{100}, rlim_t{fs::file_size(scratch / "there/run.json") - 1},
                              rlim_t{moment + 1000}}) {
        const rlimit small{most, before.rlim_max};
        REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
        const auto fresh = save_run(scratch / "new/of/run", longer);
        const auto again = save_run(scratch / "there", longer);
        REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
        CHECK(contains(must_fail(fresh).text(), "File too large"));
        CHECK(!fs::exists(scratch / "new"));
        CHECK(!again);
        CHECK(names_in(scratch / "there") == names);
        CHECK(*must(open_run(scratch / "there")).moments.front() == *run.moments.front());
    }
    std::signal(SIGXFSZ, SIG_DFL);
}

TEST_CASE("runs: a folder that is wrong is refused by name") {
    const Scratch scratch;
    const fs::path folder = scratch / "run";
    const auto fault = [&](const std::string& text) {
        REQUIRE(write_file_atomically(folder / "run.json", text));
        return must_fail(open_run(folder)).text();
    };
    CHECK(!open_run(folder));
    CHECK(!is_run(folder));
    fs::create_directories(folder);
    CHECK(contains(fault("{"), "run.json"));
    CHECK(contains(fault("[]"), "is not a run; expected format"));
    CHECK(contains(fault(R"({"format":"attnscope run 1"})"), "spec is not there"));
    CHECK(contains(fault(R"({"format":"attnscope run 1","spec":{},"records":[],"moments":[]})"),
                   "moments is an empty list"));
    CHECK(contains(
        fault(R"({"format":"attnscope run 1","spec":{},"records":[],"moments":[{"step":-1}]})"),
        "step is -1; expected a whole number"));
    CHECK(contains(fault(R"({"format":"attnscope run 1","spec":{},"records":[{}],"moments":[]})"),
                   "loss is null; expected to be there"));
    const auto of_moment = [&](const std::string& moment) {
        return fault(R"({"format":"attnscope run 1","spec":{},"records":[],"moments":[{)" + moment +
                     R"(,"switches":{"scaling":true,"silenced":[]}}]})");
    };
    CHECK(contains(of_moment(R"("step":0)"), "step-0000000.safetensors"));
    CHECK(
        contains(of_moment(R"("step":50)"), "step is 50; expected 0 to 0, the number of records"));
    for (const char* file : {"/etc/passwd", "step-0000000../x.safetensors", "step-0000000-xyz",
                             "step-0000001.safetensors"})
        CHECK(contains(of_moment(fmt::format(R"("step":0,"file":"{}")", file)),
                       "expected a name such"));
}

TEST_CASE("runs: a moment has the numbers of its optimiser and no others") {
    const Scratch scratch;
    Spec spec = small_spec();
    for (const auto& [optimiser, key, other, message] :
         {std::tuple{Optimiser::sgd, "sgd", "adamw", "second.embedding"},
          std::tuple{Optimiser::adamw, "adamw", "sgd", "second.embedding is there"}}) {
        spec.optimiser = optimiser;
        const Run run{spec, {}, {Trainer::make(spec)->checkpoint()}};
        REQUIRE(save_run(scratch / key, run));
        const fs::path json = scratch / key / "run.json";
        const std::string text = must(read_text_file(json));
        REQUIRE(write_file_atomically(
            json, replaced(text, fmt::format("\"{}\"", key), fmt::format("\"{}\"", other))));
        CHECK(contains(must_fail(open_run(scratch / key)).text(), message));
        Spec changed = spec;
        changed.optimiser = optimiser == Optimiser::sgd ? Optimiser::adamw : Optimiser::sgd;
        CHECK(contains(must_fail(Trainer::from(changed, *run.moments[0])).text(), "mean squares"));
    }
}
