// Rules of sparse attention, and the weight that their sets miss, against loops of their own and the reference.
#include "core/key_sets.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/dimensions.h"
#include "core/engine.h"
#include "core/masks.h"
#include "core/spec.h"
#include "tests/io/scratch.h"
#include "tests/support/random.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One causal head of random Q, K and V with its exact trace.
struct Head {
    InputsD inputs;
    AttentionSpec spec;
    TraceD trace;
    std::vector<std::uint8_t> allowed;
    Index t;

    explicit Head(Index tokens, std::uint64_t seed, bool causal = true) : t(tokens) {
        inputs.q = normal_tensor<double>({1, 1, t, 3}, seed);
        inputs.k = normal_tensor<double>({1, 1, t, 3}, seed + 1);
        inputs.v = normal_tensor<double>({1, 1, t, 2}, seed + 2);
        for (double& q : inputs.q.values()) q *= 3.0;  // uneven rows
        if (causal) spec.mask.causal = CausalAlign::top_left;
        trace = must(attend_exact(inputs, spec));
        for (Index i = 0; i < t; ++i)
            for (Index j = 0; j < t; ++j) allowed.push_back(!causal || j <= i ? 1 : 0);
    }
    HeadScores scores() const {
        const auto scaled = trace[Stage::scaled].matrix(0, 0);
        return {.scaled = scaled, .logits = scaled, .allowed = allowed};
    }
    double logit(Index i, Index j) const { return trace[Stage::scaled](0, 0, i, j); }
    bool may(Index i, Index j) const { return allowed[static_cast<std::size_t>(i * t + j)] != 0; }
};

/// The keys of row i in a set of T × T.
std::set<Index> keys_of(const KeySet& set, Index t, Index i) {
    std::set<Index> keys;
    for (Index j = 0; j < t; ++j)
        if (set[static_cast<std::size_t>(i * t + j)] != 0) keys.insert(j);
    return keys;
}

using Keys = std::set<Index>;

}  // namespace

TEST_CASE("top-k reads the allowed keys that fewer than k others surpass") {
    for (const bool causal : {true, false})
        for (const Index k : {1, 3, 20}) {
            CAPTURE(causal);
            CAPTURE(k);
            const Head head(9, 4, causal);
            const KeySet set = must(select_keys(KeyRule::top_k, {.keys = k}, head.scores()));
            for (Index i = 0; i < head.t; ++i)
                for (Index j = 0; j < head.t; ++j) {
                    Index above = 0;
                    for (Index other = 0; other < head.t; ++other)
                        if (head.may(i, other) && head.logit(i, other) > head.logit(i, j)) ++above;
                    CHECK(keys_of(set, head.t, i).contains(j) == (head.may(i, j) && above < k));
                }
        }
}

TEST_CASE("equal logits give the first keys, and NaN comes last") {
    TensorD logits({1, 1, 1, 5}, {1.0, 2.0, 2.0, std::nan(""), 2.0});
    const std::vector<std::uint8_t> all(5, 1);
    const HeadScores head{logits.matrix(0, 0), logits.matrix(0, 0), all};
    CHECK(must(select_keys(KeyRule::top_k, {.keys = 2}, head)) == KeySet{0, 1, 1, 0, 0});
    CHECK(must(select_keys(KeyRule::top_k, {.keys = 4}, head)) == KeySet{1, 1, 1, 0, 1});
}

TEST_CASE("sink + window reads the first keys and the latest up to the query's position") {
    const Head head(8, 4);
    const KeyBudget budget{.keys = 4, .sinks = 2};
    const KeySet set = must(select_keys(KeyRule::sink_window, budget, head.scores()));
    const Keys expected[] = {{0},          {0, 1},       {0, 1, 2},    {0, 1, 2, 3},
                             {0, 1, 3, 4}, {0, 1, 4, 5}, {0, 1, 5, 6}, {0, 1, 6, 7}};
    for (Index i = 0; i < 8; ++i) CHECK(keys_of(set, 8, i) == expected[i]);
    const KeyBudget one{.keys = 1};  // no space for a sink
    const KeySet own = must(select_keys(KeyRule::sink_window, one, head.scores()));
    for (Index i = 0; i < 8; ++i) CHECK(keys_of(own, 8, i) == Keys{i});
    // A query at position 6 of a decoding call.
    const std::vector<std::uint8_t> seven(7, 1);
    TensorD row({1, 1, 1, 7});
    const HeadScores last{row.matrix(0, 0), row.matrix(0, 0), seven, 6};
    CHECK(keys_of(must(select_keys(KeyRule::sink_window, budget, last)), 7, 0) == Keys{0, 1, 5, 6});
}

TEST_CASE(
    "the strided rule reads the latest keys, and the nearest others at multiples of the stride") {
    for (const bool causal : {true, false})
        for (const Index k : {1, 2, 4, 20}) {
            CAPTURE(causal);
            CAPTURE(k);
            const Head head(12, 4, causal);
            const KeyBudget budget{.keys = k, .block = 3, .recent = 2};
            const KeySet set = must(select_keys(KeyRule::strided, budget, head.scores()));
            for (Index i = 0; i < head.t; ++i) {
                Keys expected{i};
                if (k >= 2 && i >= 1) expected.insert(i - 1);
                for (Index n = 1; n <= k - 2 && 3 * n <= i; ++n) expected.insert(i - 3 * n);
                CHECK(keys_of(set, head.t, i) == expected);
            }
        }
}

TEST_CASE("heavy hitters keep the keys with the largest summed weight, as a cache would") {
    for (const std::uint64_t seed : {4, 40, 400}) {
        const Head head(12, seed);
        for (const Index k : {1, 2, 5}) {
            CAPTURE(seed);
            CAPTURE(k);
            const KeySet set =
                must(select_keys(KeyRule::heavy_hitters, {.keys = k}, head.scores()));
            Keys cache;
            std::map<Index, double> total;
            for (Index i = 0; i < head.t; ++i) {
                cache.insert(i);
                double sum = 0.0;
                for (const Index j : cache) sum += std::exp(head.logit(i, j));
                for (const Index j : cache) total[j] += std::exp(head.logit(i, j)) / sum;
                while (std::ssize(cache) >
                       k) {  // the least of those that are not among the latest k / 2
                    auto old = std::vector<Index>(cache.begin(), cache.end());
                    old.resize(old.size() - static_cast<std::size_t>(k / 2));
                    Index least = old.front();
                    for (const Index j : old)
                        if (total[j] < total[least]) least = j;
                    cache.erase(least);
                }
                CHECK(keys_of(set, head.t, i) == cache);
            }
        }
    }
    CHECK(contains(sentence_in(select_keys(KeyRule::heavy_hitters, {}, Head(5, 1, false).scores())),
                   "heavy hitters need a causal mask"));
}

TEST_CASE("blocks by pooled keys: the own block, and those whose mean key the query likes best") {
    const Head head(11, 7);
    const KeyBudget budget{.keys = 6, .block = 3};  // 2 blocks
    const KeySet set = must(select_keys(KeyRule::pooled_blocks, budget, head.scores()));
    for (Index i = 0; i < head.t; ++i) {
        Index best = -1;
        double most = -kInfinity;
        for (Index block = 0; block < i / 3; ++block) {  // earlier blocks, which are whole
            double score = 0.0;
            for (Index c = 0; c < 3; ++c) {
                double mean = 0.0;
                for (Index j = 3 * block; j < 3 * block + 3; ++j)
                    mean += head.inputs.k(0, 0, j, c) / 3.0;
                score += head.inputs.q(0, 0, i, c) * mean;
            }
            if (score > most) most = score, best = block;
        }
        for (Index j = 0; j < head.t; ++j)
            CHECK(keys_of(set, head.t, i).contains(j) ==
                  (j <= i && (j / 3 == i / 3 || j / 3 == best)));
    }
    const KeyBudget narrow{.keys = 1, .block = 4};  // the own block alone
    CHECK(keys_of(must(select_keys(KeyRule::pooled_blocks, narrow, head.scores())), 11, 6) ==
          Keys{4, 5, 6});
}

TEST_CASE("nsa: the window, the own block, and the blocks whose mean key has the largest weight") {
    for (const Index offset : {0, 2}) {  // of a decoding call, whose queries see two keys more
        CAPTURE(offset);
        const Head head(11, 8, false);
        std::vector<std::uint8_t> allowed;
        for (Index i = 0; i < head.t; ++i)
            for (Index j = 0; j < head.t; ++j) allowed.push_back(j <= i + offset && j != 4 ? 1 : 0);
        HeadScores scores = head.scores();
        scores.allowed = allowed, scores.offset = offset;
        const KeyBudget budget{.keys = 8, .block = 3, .recent = 2};  // 2 keys and 2 blocks
        const KeySet set = must(select_keys(KeyRule::nsa, budget, scores));
        bool chose = false;
        for (Index i = 0; i < head.t; ++i) {
            const Index position = i + offset;
            Index best = -1;
            double most = -kInfinity;
            for (Index block = 0; block < 3; ++block) {
                if (block == 1 || block == position / 3 || 3 * block + 2 > position) continue;
                double logit = 0.0;  // of the mean key; block 1 has a forbidden one
                for (Index c = 0; c < 3; ++c)
                    for (Index j = 3 * block; j < 3 * block + 3; ++j)
                        logit += head.inputs.q(0, 0, i, c) * head.inputs.k(0, 0, j, c);
                chose = chose || best >= 0;
                if (logit > most) most = logit, best = block;
            }
            Keys expected;
            for (Index j = 0; j < head.t; ++j)
                if (j <= position && j != 4 &&
                    (position - j < 2 || j / 3 == position / 3 || j / 3 == best))
                    expected.insert(j);
            CHECK(keys_of(set, head.t, i) == expected);
        }
        CHECK(chose);  // of two blocks, in some row
    }
    const Head head(6, 9);
    const KeyBudget narrow{.keys = 1, .block = 2, .recent = 4};  // the own key and block alone
    CHECK(keys_of(must(select_keys(KeyRule::nsa, narrow, head.scores())), 6, 5) == Keys{4, 5});
    CHECK(contains(sentence_in(select_keys(KeyRule::nsa, {.recent = -1}, head.scores())),
                   "recent is -1; expected 0 or more"));
}

TEST_CASE("a block that is not allowed whole, and the shorter last one, have no compressed key") {
    const std::vector<double> scaled{1, 3, 5, 7, 2, 2, 9};
    const std::vector<std::uint8_t> allowed{1, 1, 1, 0, 1, 1, 1};
    const CompressedRow row = compressed_row(scaled, allowed, 2);
    CHECK(row.logits == std::vector<double>{2, -kInfinity, 2, -kInfinity});
    CHECK(row.weights == std::vector<double>{0.5, 0, 0.5, 0});
    CHECK(selected_blocks(row, row.weights, 6, 2, 2) == std::vector<Index>{0, 3});  // a tie
    CHECK(selected_blocks(row, std::vector<double>{1, 9, 2, 9}, 6, 2, 2) ==
          std::vector<Index>{2, 3});
    const CompressedRow none = compressed_row(scaled, std::vector<std::uint8_t>(7, 0), 2);
    CHECK(none.weights == std::vector<double>(4, 0.0));
}

TEST_CASE("an indexer's scores choose in place of the logits, and a budget has a range") {
    Head head(4, 9);
    const TensorD indexer({1, 1, 4, 4}, {9, 0, 0, 0, 1, 2, 9, 9, 3, 1, 2, 9, 0, 3, 1, 2});
    HeadScores scores = head.scores();
    CHECK(contains(sentence_in(select_keys(KeyRule::indexer, {}, scores)), "needs indexer scores"));
    scores.indexer = indexer.matrix(0, 0);
    const KeySet set = must(select_keys(KeyRule::indexer, {.keys = 2}, scores));
    const Keys expected[] = {{0}, {0, 1}, {0, 2}, {1, 3}};
    for (Index i = 0; i < 4; ++i) CHECK(keys_of(set, 4, i) == expected[i]);
    CHECK(contains(sentence_in(select_keys(KeyRule::top_k, {.keys = 0}, scores)),
                   "k is 0; expected 1 or more"));
    CHECK(contains(sentence_in(select_keys(KeyRule::pooled_blocks, {.block = 0}, scores)),
                   "block is 0"));
    for (const KeyRuleInfo& rule : key_rule_table()) {
        CHECK(find_key_rule(rule.key) == rule.rule);
        CHECK(info(rule.rule).key == rule.key);
    }
}

TEST_CASE("missed weight and output error are those of the reference with the set as its mask") {
    for (const bool sinks : {false, true}) {
        CAPTURE(sinks);
        Head head(10, 3);
        if (sinks) head.inputs.params[Param::sinks] = TensorD({1, 1, 1, 1}, 0.5);
        const TraceD exact = must(attend_exact(head.inputs, head.spec));
        HeadScores scores = head.scores();
        if (sinks) scores.sink = 0.5;
        const KeySet set = must(select_keys(KeyRule::top_k, {.keys = 3}, scores));
        AttentionSpec sparse = head.spec;
        Mask mask({1, 1, 10, 10});
        std::ranges::copy(set, mask.values().begin());
        sparse.mask.custom = std::make_shared<const Mask>(mask);
        const TraceD other = must(attend_exact(head.inputs, sparse));
        const SetError error = measure_set(scores, set, head.inputs.v.matrix(0, 0));
        REQUIRE(error.rows.size() == 10);
        double missed = 0.0, change = 0.0, whole = 0.0;
        for (Index i = 0; i < 10; ++i) {
            double row = 0.0, row_change = 0.0, row_whole = 0.0;
            for (Index j = 0; j < 10; ++j)
                if (mask(0, 0, i, j) == 0) row += exact[Stage::weights](0, 0, i, j);
            for (Index c = 0; c < 2; ++c) {
                const double a = exact[Stage::context](0, 0, i, c);
                row_change += std::pow(a - other[Stage::context](0, 0, i, c), 2);
                row_whole += a * a;
            }
            const SetRow& found = error.rows[static_cast<std::size_t>(i)];
            CHECK(found.missed == doctest::Approx(row).epsilon(1e-12));
            CHECK(found.output_error ==
                  doctest::Approx(std::sqrt(row_change / row_whole)).epsilon(1e-9));
            CHECK(found.read == std::min<Index>(i + 1, 3));
            CHECK(found.allowed == i + 1);
            missed += row, change += row_change, whole += row_whole;
        }
        CHECK(missed > 0.01);
        CHECK(error.missed == doctest::Approx(missed / 10.0).epsilon(1e-12));
        CHECK(error.output_error == doctest::Approx(std::sqrt(change / whole)).epsilon(1e-9));
        CHECK(error.worst == error.rows[static_cast<std::size_t>(error.worst_row)].missed);
        for (const SetRow& row : error.rows) CHECK(row.missed <= error.worst);
        CHECK(error.read == 1 + 2 + 8 * 3);
        CHECK(error.allowed == 55);
        CHECK(error.counted == 10);
    }
}

TEST_CASE("an empty set misses all weight, and rows without a distribution are not counted") {
    TensorD logits({1, 1, 4, 2}, {0, 0, 1, std::nan(""), 0, 0, -kInfinity, -kInfinity});
    const std::vector<std::uint8_t> allowed{1, 1, 1, 1, 0, 0, 1, 1};
    const HeadScores head{logits.matrix(0, 0), logits.matrix(0, 0), allowed};
    const TensorD v({1, 1, 2, 1}, {1, 3});
    const SetError error = measure_set(head, KeySet(8, 0), v.matrix(0, 0));
    CHECK(error.counted == 1);
    CHECK(error.rows[0].missed == 1.0);
    CHECK(error.rows[0].output_error == 1.0);
    CHECK(error.missed == 1.0);
    for (const std::size_t i : {1, 2, 3}) CHECK(std::isnan(error.rows[i].missed));
    const SetError none = measure_set(head, KeySet(8, 1), {});
    CHECK(none.missed == 0.0);
    CHECK(std::isnan(none.output_error));
    const std::vector<std::uint8_t> nothing(8, 0);
    const HeadScores hidden{logits.matrix(0, 0), logits.matrix(0, 0), nothing};
    CHECK(std::isnan(measure_set(hidden, KeySet(8, 1), v.matrix(0, 0)).missed));
}

TEST_CASE("selected keys become a mask, and an entry past the keys is named") {
    Dimensions size;
    size.batch = 1, size.heads = 2, size.tq = 2, size.tk = 5;
    const SelectedKeys selected{{1, 2, 2, 3}, {0, 4, -1, 1, 1, 1, -1, -1, -1, 3, 2, -1}};
    const SelectedMask made = must(mask_of_selected(selected, size));
    CHECK(std::ranges::equal(made.mask.values(),
                             std::vector<std::uint8_t>{1, 0, 0, 0, 1, 0, 1, 0, 0, 0,  //
                                                       0, 0, 0, 0, 0, 0, 0, 1, 1, 0}));
    CHECK(made.repeated.count == 2);
    CHECK(made.repeated.query == 1);
    CHECK(made.repeated.key == 1);
    SelectedKeys wrong = selected;
    wrong.keys[9] = 5;
    CHECK(sentence_in(mask_of_selected(wrong, size)) ==
          "selected[0, 1, 1, 0] is 5; expected a key from 0 to 4, or -1 for an unused slot");
    wrong.keys[9] = -2;
    CHECK(contains(sentence_in(mask_of_selected(wrong, size)), "selected[0, 1, 1, 0] is -2"));
    wrong.shape = {1, 3, 2, 2};
    CHECK(contains(sentence_in(mask_of_selected(wrong, size)),
                   "selected is [1, 3, 2, 2]; expected [1, 2, 2, k]"));
}

TEST_CASE("selected keys of a key head are those of each query head of its group") {
    Dimensions size;
    size.batch = 1, size.heads = 4, size.kv_heads = 2, size.tq = 1, size.tk = 3;
    const SelectedMask made = must(mask_of_selected({{1, 2, 1, 2}, {0, 1, 2, -1}}, size));
    CHECK(made.mask.shape() == Shape{1, 4, 1, 3});
    CHECK(std::ranges::equal(made.mask.values(),
                             std::vector<std::uint8_t>{1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1}));
    CHECK(made.repeated.count == 0);
}

TEST_CASE("two masks allow together what both allow, broadcast to one shape") {
    const Mask a({1, 1, 2, 3}, {1, 1, 0, 0, 1, 1}), b({1, 2, 1, 3}, {1, 0, 1, 0, 1, 0});
    const Mask both = both_allow(a, b);
    CHECK(both.shape() == Shape{1, 2, 2, 3});
    CHECK(std::ranges::equal(both.values(),
                             std::vector<std::uint8_t>{1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0}));
}
