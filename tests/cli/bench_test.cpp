// What `bench` measures and how it says it. No speed is asserted.

#include <nlohmann/json.hpp>

#include <set>

#include "app/cli/bench_sections.h"
#include "core/bench/workload.h"
#include "core/io/file.h"
#include "tests/cli/command.h"

using namespace attn;
using namespace attn::bench;

namespace {

nlohmann::json benched(const Arguments& options) {
    return nlohmann::json::parse(
        succeeds(joined({"bench", "--json", "-", "--repeat", "1"}, options)).out);
}

}  // namespace

TEST_CASE("a shape is read and written the same way") {
    for (const char* text :
         {"H8N2048d64", "H1N256d64c", "H2N30d7cb", "H1N9d1b", "H6N30d7q1g2", "H1N9d1q3+rope"})
        CHECK(to_string(parse_workload(text).value()) == text);
    CHECK(parse_workload("N256").value() == Workload{.heads = 1, .n = 256, .d = 64});
    for (const char* text : {"", "H8", "N0", "N-1", "d64", "N8x", "N8bc", "n8", "N8cq1", "H3N8g2"})
        CHECK(!parse_workload(text));
}

TEST_CASE("operations and bytes follow their formulas") {
    const Workload work{.heads = 8, .n = 2048, .d = 64};
    CHECK(gflop(work) == doctest::Approx(8.589934592));
    CHECK(gflop(parse_workload("H8N2048d64c").value()) == doctest::Approx(0.5 * 8.589934592));
    CHECK(gflop(parse_workload("H8N2048d64b").value()) == doctest::Approx(2.5 * 8.589934592));
    // Q, K, V, context: 4 MiB each; logsumexp: 64 KiB; four stages of 128 MiB.
    CHECK(least_bytes(work) == 4 * 4194304 + 65536);
    CHECK(least_bytes({.heads = 8, .n = 2048, .pass = Pass::trace}) ==
          4 * 4194304 + 65536 + 4.0 * 134217728);
}

TEST_CASE("bench reports every backend at every shape that was named") {
    const nlohmann::json found =
        benched({"--shape", "H2N24d8,N16d4cb", "--backend", "reference,staged,fused"});
    CHECK(found["machine"]["peak_gflops"] > 0.0);
    CHECK(found["machine"]["stream_gbytes"] > 0.0);
    REQUIRE(found["rows"].size() == 6);
    for (const auto& row : found["rows"]) {
        CHECK(row["ms"] > 0.0);
        CHECK(row["gflops"] > 0.0);
        CHECK(row["fraction_of_peak"] > 0.0);
        CHECK(row["least_bytes"] > 0.0);
        CHECK(row["error"] < 2e-6);
    }
    CHECK(found["rows"][0]["shape"] == "H1N16d4cb");
    CHECK(!found.contains("comparisons"));
}

TEST_CASE("a section is chosen by its name") {
    const nlohmann::json found = benched({"--quick", "--only", "trace"});
    CHECK(!found.contains("rows"));
    CHECK(found["comparisons"][0]["time_ratio"] > 0.0);
    CHECK(found["comparisons"][0]["second"]["backend"] == "staged");
    std::set<std::string_view> names;
    for (const cli::BenchSection& section : cli::bench_sections()) names.insert(section.name);
    CHECK(names.size() == cli::bench_sections().size());
}

TEST_CASE("a decoding step stands beside one reading of its keys and values") {
    const nlohmann::json found = benched({"--quick", "--only", "decoding"});
    REQUIRE(found["decoding"].size() == 2);
    for (const auto& row : found["decoding"]) {
        CHECK(row["read_ms"] > 0.0);
        CHECK(row["call"]["error"] < 2e-6);
    }
    // K and V once for 4 query heads each, and of every head a query, a context and a logsumexp.
    CHECK(found["decoding"][1]["call"]["least_bytes"] ==
          4.0 * (2 * 8 * 2048 * 128 + 2 * 32 * 128 + 32));
}

TEST_CASE("a file gets the numbers and the output the table") {
    const Scratch scratch;
    const std::string path = scratch.at("speed.json");
    const Ran ran = succeeds(
        {"bench", "--shape", "N8d4", "--backend", "fused", "--repeat", "1", "--json", path});
    CHECK(contains(ran.out, "H1N8d4"));
    CHECK(nlohmann::json::parse(read_text_file(path).value())["rows"].size() == 1);
}

TEST_CASE("what bench cannot do is refused in one line") {
    check_refused({"bench", "--shape", "8x8"}, "the shape is '8x8'");
    check_refused({"bench", "--backend", "fussed"}, "there is no backend 'fussed'");
    check_refused({"bench", "--only", "memroy"}, "did you mean memory?");
    check_refused({"bench", "--json", "speed.txt"},
                  "--json is speed.txt; expected a name that ends in .json");
    check_refused({"bench", "--repeat", "0"}, "--repeat is 0; expected a whole number from 1");
}
