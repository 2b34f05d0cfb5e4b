// The recorded run that Learn plays: its file, and that training gives its numbers.

#include "core/train/recording.h"

#include <doctest/doctest.h>

#include <filesystem>

#include <unistd.h>

#include "core/io/file.h"
#include "core/kernels/peak.h"
#include "core/shape.h"
#include "core/train/evaluation.h"
#include "core/train/task_table.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::train;

namespace {

const std::filesystem::path kModels = ATTN_MODELS;
constexpr Index kSteps = 500;

/// As attnscope train assets/models/pronouns.json --steps 500 --record … has them.
std::array<Spec, 2> recorded_specs() {
    const auto path = kModels / "pronouns.json";
    Spec spec = must(spec_from_json(must(read_text_file(path)), path.string()));
    spec.steps = kSteps;
    std::array<Spec, 2> specs{spec, spec};
    specs[1].scaling = false;
    return specs;
}

/// Whether this build makes the bits of the committed file: a compiler may fuse a product and a sum.
bool has_same_bits(const Recording& stored) {
#if defined(__GNUC__) && !defined(__clang__) && defined(NDEBUG) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    return simd_target() == stored.target;
#else
    return stored.target.empty();
#endif
}

/// `made` has the first steps of `stored`.
void check_begins(const Recording& made, const Recording& stored, double tolerance) {
    REQUIRE(made.every == stored.every);
    // As floats, which a file has.
    const auto close = [&](double a, double b) {
        return std::abs(static_cast<float>(a) - static_cast<float>(b)) <= tolerance;
    };
    for (std::size_t n = 0; n < 2; ++n) {
        const RecordedSide& a = made.sides[n];
        const RecordedSide& b = stored.sides[n];
        REQUIRE(a.records.size() <= b.records.size());
        for (std::size_t step = 0; step < a.records.size(); ++step) {
            CAPTURE(step);
            CHECK(close(a.records[step]->loss, b.records[step]->loss));
            CHECK(close(a.records[step]->accuracy, b.records[step]->accuracy));
            CHECK(close(a.records[step]->saturated, b.records[step]->saturated));
        }
        REQUIRE(a.probes.size() <= b.probes.size());
        for (std::size_t p = 0; p < a.probes.size(); ++p) {
            CAPTURE(p);
            REQUIRE(a.probes[p].weights.size() == b.probes[p].weights.size());
            if (tolerance == 0.0) CHECK(a.probes[p] == b.probes[p]);
            for (std::size_t w = 0; w < a.probes[p].weights.size(); ++w)
                if (!close(a.probes[p].weights[w], b.probes[p].weights[w]))
                    FAIL_CHECK("weight " << w << ": " << a.probes[p].weights[w] << ", recorded "
                                         << b.probes[p].weights[w]);
        }
        for (std::size_t p = 0; p < a.held_out.size(); ++p) {
            if (!is_held_out_step(a.held_out[p].step)) continue;  // the last of a shorter training
            CHECK(a.held_out[p].step == b.held_out[p].step);
            CHECK(close(a.held_out[p].right, b.held_out[p].right));
        }
    }
}

}  // namespace

TEST_CASE("recording: the committed one is of today's recipe, and the first 50 steps train to it") {
    const auto specs = recorded_specs();
    const Recording stored = must(open_recording(kModels / "pronouns-run.safetensors", specs));
    CHECK(stored.steps == kSteps);
    CHECK(std::filesystem::file_size(kModels / "pronouns-run.safetensors") <= 60 * 1024);
    for (const RecordedSide& side : stored.sides) {
        CHECK(side.records.size() == 500);
        CHECK(side.probes.size() == 101);
        CHECK(side.held_out.front().step == 0);
        CHECK(side.held_out.back().step == kSteps);
        for (const RecordedProbe& probe : side.probes)
            for (std::size_t row = 0; row < 4; ++row) {
                float sum = 0.0F;
                for (std::size_t key = 0; key < 11; ++key) sum += probe.weights[row * 11 + key];
                CHECK(sum == doctest::Approx(1.0).epsilon(1e-5));
            }
    }
    const Recording made = must(record_training(specs, 50, stored.every));
    check_begins(made, stored, has_same_bits(stored) ? 0.0 : 0.02);
}

TEST_CASE("recording: all steps train to the committed one" * doctest::skip()) {
    const auto specs = recorded_specs();
    const Recording stored = must(open_recording(kModels / "pronouns-run.safetensors", specs));
    const Recording made = must(record_training(specs, stored.steps, stored.every));
    if (has_same_bits(stored)) return check_begins(made, stored, 0.0);
    // Other bits go other ways in the end: both learn the same.
    for (std::size_t n = 0; n < 2; ++n)
        CHECK(made.sides[n].held_out.back().right ==
              doctest::Approx(stored.sides[n].held_out.back().right).epsilon(0.1));
}

TEST_CASE("recording: a file is read as it was saved, and a wrong one is refused by name") {
    auto specs = recorded_specs();
    for (Spec& spec : specs) spec.d_model = 8, spec.batch = 4;
    const Recording made = must(record_training(specs, 6, 2));
    const auto path = std::filesystem::temp_directory_path() /
                      ("attn-recording-" + std::to_string(getpid()) + ".safetensors");
    REQUIRE(save_recording(path, specs, made));
    const Recording read = must(open_recording(path, specs));
    CHECK(read.steps == 6);
    CHECK(read.every == 2);
    CHECK(read.target == simd_target());
    check_begins(made, read, 0.0);
    for (std::size_t n = 0; n < 2; ++n) {
        CHECK(read.sides[n].probes == made.sides[n].probes);
        REQUIRE(read.sides[n].records.size() == made.sides[n].records.size());
    }
    // Requirements of an evaluation do not count; the seed does.
    auto other = specs;
    other[0].seed += 1;
    const auto refused = open_recording(path, other);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text().find("recorded from another specification") != std::string::npos);
    const std::string whole = must(read_text_file(path));
    for (const auto& [from, to] :
         {std::pair{"\"steps\":\"6\"", "\"steps\":\"8\""},
          std::pair{"\"every\":\"2\"", "\"every\":\"4\""}, std::pair{"recording 1", "recording 9"},
          std::pair{"with.weights", "with.weightz"}}) {
        std::string text = whole;
        const auto at = text.find(from);
        REQUIRE(at != std::string::npos);
        text.replace(at, std::string_view(from).size(), to);
        REQUIRE(write_file_atomically(path, text));
        const auto wrong = open_recording(path, specs);
        REQUIRE_FALSE(wrong);
        CHECK(wrong.error().text().find(path.string()) != std::string::npos);
    }
    std::filesystem::remove(path);
}
