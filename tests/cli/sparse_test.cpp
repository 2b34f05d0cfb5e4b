// `attnscope sparse`: the weight that sets of keys miss, against loops over the arrays of `trace`.
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/io/npz.h"
#include "core/key_sets.h"
#include "tests/cli/command.h"
#include "tests/support/random.h"

using namespace attn;

namespace {

constexpr std::size_t kHeads = 2, kTokens = 6, kWidth = 3;
constexpr std::size_t kRules = kKeyRuleCount - 1;  // all but indexer

struct Named {
    std::string name;
    std::vector<Index> extents;
    std::vector<double> values;
};

/// Q, K and V [2,6,3] with other arrays.
void write_sparse_call(const std::filesystem::path& path, const std::vector<Named>& more = {}) {
    const Tensor q = test::normal_tensor<float>({1, 2, 6, 3}, 5, 2.0);
    const Tensor k = test::normal_tensor<float>({1, 2, 6, 3}, 6, 2.0);
    const Tensor v = test::normal_tensor<float>({1, 2, 6, 3}, 7);
    std::vector<NpzEntry> entries{
        {"Q", {2, 6, 3}, q.values()}, {"K", {2, 6, 3}, k.values()}, {"V", {2, 6, 3}, v.values()}};
    for (const Named& each : more)
        entries.push_back(
            {.name = each.name, .extents = each.extents, .values = {}, .doubles = each.values});
    REQUIRE(write_npz(path, entries));
}

/// Per head, over causal rows: missed weight and output error where each query reads `k` keys of the largest weight.
struct Expected {
    double missed = 0.0, output = 0.0;
};
Expected expected_of(const std::vector<float>& weights, const std::vector<float>& v, std::size_t h,
                     std::size_t k) {
    double missed = 0.0, change = 0.0, whole = 0.0;
    for (std::size_t i = 0; i < kTokens; ++i) {
        const float* a = weights.data() + (h * kTokens + i) * kTokens;
        double inside = 0.0;
        std::vector<bool> reads(kTokens);
        for (std::size_t j = 0; j <= i; ++j) {
            std::size_t above = 0;
            for (std::size_t other = 0; other <= i; ++other) above += a[other] > a[j] ? 1 : 0;
            reads[j] = above < k;
            if (reads[j]) inside += a[j];
        }
        missed += 1.0 - inside;
        for (std::size_t c = 0; c < kWidth; ++c) {
            double exact = 0.0, sparse = 0.0;
            for (std::size_t j = 0; j <= i; ++j) {
                const double value = v[(h * kTokens + j) * kWidth + c];
                exact += a[j] * value;
                if (reads[j]) sparse += a[j] / inside * value;
            }
            change += (exact - sparse) * (exact - sparse);
            whole += exact * exact;
        }
    }
    return {missed / static_cast<double>(kTokens), std::sqrt(change / whole)};
}

nlohmann::json sparse_of(const Arguments& more) {
    return nlohmann::json::parse(succeeds(joined({"sparse"}, joined(more, {"--json"}))).out);
}

const nlohmann::json& rule_of(const nlohmann::json& all, const std::string& rule, Index k) {
    for (const nlohmann::json& each : all["rules"])
        if (each["rule"] == rule && (!each.contains("k") || each["k"] == k)) return each;
    FAIL(rule << " is not among the rules");
    return all;
}

}  // namespace

TEST_CASE_FIXTURE(OnDisk,
                  "sparse: missed weight and output error follow from the arrays of trace") {
    const std::string path = scratch.at("in.npz"), traced = scratch.at("out.npz");
    write_sparse_call(path);
    REQUIRE(command({"trace", path, "-o", traced, "--causal", "--backend", "reference"}).code == 0);
    const Npz out = read_npz(traced).value();
    const std::vector<float> weights = floats(out, "weights"), v = floats(out, "v");
    const nlohmann::json all = sparse_of({path, "--causal", "--k", "1,2,4"});
    REQUIRE(all["rules"].size() == kRules * 3);
    for (const Index k : {1, 2, 4}) {
        CAPTURE(k);
        const nlohmann::json& found = rule_of(all, "top-k", k);
        double missed = 0.0;
        for (std::size_t h = 0; h < kHeads; ++h) {
            const Expected expected = expected_of(weights, v, h, static_cast<std::size_t>(k));
            const nlohmann::json& head = found["heads"][h];
            CHECK(head["missed"].get<double>() == doctest::Approx(expected.missed).epsilon(1e-4));
            CHECK(head["output_error"].get<double>() ==
                  doctest::Approx(expected.output).epsilon(1e-4));
            CHECK(head["worst_missed"].get<double>() >= head["missed"].get<double>());
            missed += expected.missed / static_cast<double>(kHeads);
        }
        CHECK(found["missed"].get<double>() == doctest::Approx(missed).epsilon(1e-4));
        CHECK(missed > 0.001);
        CHECK(found["keys_allowed"] == 2 * 21);
        const Index capped = k == 1 ? 6 : k == 2 ? 11 : 18;  // Σ min(i + 1, k)
        CHECK(found["keys_read"] == 2 * capped);
        for (const char* other : {"sink-window", "heavy-hitters"}) {  // no set of k misses less
            CHECK(rule_of(all, other, k)["keys_read"] == 2 * capped);
            CHECK(rule_of(all, other, k)["missed"] >= found["missed"].get<double>() - 1e-9);
        }
    }
}

TEST_CASE_FIXTURE(OnDisk,
                  "sparse: the table has a line for each rule and k, or why there is none") {
    const std::string path = scratch.at("in.npz");
    write_sparse_call(path);
    const std::string text = succeeds({"sparse", path, "--k", "2"}).out;
    CHECK(std::ranges::count(text, '\n') == 1 + kRules);
    CHECK(contains(text, "top-k               2     2.00   33.3 %"));
    CHECK(contains(text, "heavy hitters need a causal mask"));
    CHECK(std::ranges::count(succeeds({"sparse", path, "--causal"}).out, '\n') == 1 + kRules * 3);
    const nlohmann::json one = sparse_of({path, "--causal", "--k", "2", "--head", "1"});
    CHECK(one["rules"][0]["heads"].size() == 1);
    CHECK(one["rules"][0]["heads"][0]["head"] == 1);
    check_refused({"sparse", path, "--rule", "top"}, "--rule has 'top'; expected some of top-k, ");
    check_refused({"sparse", path, "--head", "2"}, "--head is 2; expected 0 to 1");
    check_refused({"sparse", path, "--layer", "1"}, "--layer is 1; expected 0 to 0");
    check_refused({"sparse", path, "--sequence", "1"}, "--sequence is 1; expected 0 to 0");
    check_refused({"sparse"}, "no FILE; expected tensors");
}

TEST_CASE_FIXTURE(OnDisk,
                  "sparse: the file's selected keys and its indexer are rows of the table") {
    const std::string path = scratch.at("in.npz");
    std::vector<double> own, scores;
    for (int i = 0; i < 6; ++i) own.push_back(i);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) scores.push_back(-std::abs(i - j));
    write_sparse_call(path, {{"selected", {1, 1, 6, 1}, own}, {"indexer_scores", {6, 6}, scores}});
    const nlohmann::json all = sparse_of({path, "--causal", "--k", "1"});
    const nlohmann::json& selected = rule_of(all, "selected", 1);
    const nlohmann::json& window = rule_of(all, "sink-window", 1);  // the query's own key, too
    CHECK(selected["keys_allowed"] == 42);  // of exact attention: without the selected keys
    CHECK(selected["keys_read"] == 12);
    CHECK(selected["missed"] == window["missed"]);
    CHECK(selected["missed"] > 0.05);
    CHECK(rule_of(all, "indexer", 1)["missed"] == window["missed"]);
    CHECK(rule_of(all, "indexer", 1)["output_error"] == window["output_error"]);
}

TEST_CASE_FIXTURE(OnDisk,
                  "sparse: a BlockMask that leaves out a tile is reported with its weight") {
    const std::string path = scratch.at("in.npz"), traced = scratch.at("out.npz");
    std::vector<Named> arrays{{"kv_num_blocks", {1, 1, 3}, {1, 1, 1}},
                              {"kv_indices", {1, 1, 3, 3}, {0, 0, 0, 1, 0, 0, 2, 0, 0}},
                              {"full_kv_num_blocks", {1, 1, 3}, {0, 1, 2}},
                              {"full_kv_indices", {1, 1, 3, 3}, {0, 0, 0, 0, 0, 0, 0, 1, 0}},
                              {"Q_BLOCK_SIZE", {}, {2}},
                              {"KV_BLOCK_SIZE", {}, {2}}};
    write_sparse_call(path, arrays);
    CHECK(contains(succeeds({"sparse", path, "--causal", "--k", "2"}).out,
                   "the BlockMask covers every pair that the mask allows"));
    arrays[2].values = {0, 1, 1};  // without tile (2, 1)
    write_sparse_call(path, arrays);
    const nlohmann::json blocks = sparse_of({path, "--causal", "--k", "2"})["block_mask"];
    CHECK(blocks["listed"]["full"] == 4);
    CHECK(blocks["exact"]["full"] == 6);
    CHECK(blocks["computed"].get<double>() == doctest::Approx(10.0 / 18.0));
    REQUIRE(blocks["findings"].size() == 2);
    REQUIRE(command({"trace", path, "-o", traced, "--causal"}).code == 0);
    const std::vector<float> weights = floats(read_npz(traced).value(), "weights");
    for (std::size_t h = 0; h < kHeads; ++h) {
        const nlohmann::json& found = blocks["findings"][h];
        double expected = 0.0;
        for (const std::size_t i : {4, 5})
            for (const std::size_t j : {2, 3})
                expected += weights[(h * kTokens + i) * kTokens + j] / 2.0;
        CHECK(found["fault"] == "left_out");
        CHECK(found["head"] == h);
        CHECK(found["query_block"] == 2);
        CHECK(found["key_block"] == 1);
        CHECK(found["pairs"] == 4);
        CHECK(found["weight"].get<double>() == doctest::Approx(expected).epsilon(1e-5));
    }
    CHECK(
        contains(succeeds({"sparse", path, "--causal", "--k", "2"}).out,
                 "sequence 0, head 1, query block 2, key block 1: left out, but the mask allows 4 "
                 "pairs of the tile, "));
    // Without the causal mask every tile is needed.
    const nlohmann::json open = sparse_of({path, "--k", "2"})["block_mask"];
    CHECK(open["exact"]["full"] == 18);
}
