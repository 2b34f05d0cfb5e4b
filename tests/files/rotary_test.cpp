// Arrays of cosines, sines and positions, keys of earlier tokens, and valid keys.
#include <doctest/doctest.h>

#include <cmath>

#include "app/files/axes.h"
#include "app/files/tensors.h"
#include "core/io/npz.h"
#include "core/rotary.h"
#include "core/spec_arrays.h"
#include "tests/io/scratch.h"
#include "tests/support/random.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::files;
using namespace attn::test;

namespace {

/// Q [2,2,3,4], K and V [2,1,tk,4], and other arrays.
struct RotaryFile {
    Scratch scratch;
    Index tk = 3;
    std::vector<float> numbers = [] {
        const Tensor drawn = normal_tensor<float>({1, 1, 1, 240}, 1);
        return std::vector<float>(drawn.values().begin(), drawn.values().end());
    }();

    std::span<const float> first(Index count) const {
        return std::span(numbers).first(static_cast<std::size_t>(count));
    }
    NpzEntry random(std::string name, const std::vector<Index>& extents) const {
        Index count = 1;
        for (const Index extent : extents) count *= extent;
        return {std::move(name), extents, first(count)};
    }
    Result<TensorFile> with(std::vector<NpzEntry> entries, const std::string& options = "{}") {
        entries.push_back(random("Q", {2, 2, 3, 4}));
        entries.push_back(random("K", {2, 1, tk, 4}));
        entries.push_back(random("V", {2, 1, tk, 4}));
        entries.push_back({"options", {}, {}, {options}});
        REQUIRE(write_npz(scratch / "in.npz", entries));
        return read_tensors(scratch.at("in.npz"));
    }
    std::string refusal(std::vector<NpzEntry> entries, const std::string& options = "{}") {
        return sentence_in(with(std::move(entries), options));
    }
};

const RotaryTables& tables_of(const TensorFile& file) {
    REQUIRE(file.spec.rope);
    REQUIRE(file.spec.rope->tables);
    return *file.spec.rope->tables;
}

bool has_note(const TensorFile& file, const std::string& text) {
    return std::ranges::any_of(file.notes,
                               [&](const Note& note) { return contains(note.text, text); });
}

constexpr const char* kHalf = R"({"rope": "half"})";

}  // namespace

TEST_CASE("cos and sin are tables of queries and keys, for all batch entries or each") {
    RotaryFile file;
    const TensorFile all =
        must(file.with({file.random("cos", {3, 2}), {"sin", {3, 2}, file.first(6)}}, kHalf));
    CHECK(tables_of(all).q_cos.shape() == Shape{1, 1, 3, 2});
    CHECK(tables_of(all).k_sin(0, 0, 2, 1) == file.numbers[5]);
    CHECK(all.spec.rope->pairs == RopePairs::half);
    CHECK(!all.spec.rope->dims);
    const TensorFile each =
        must(file.with({file.random("cos", {2, 3, 1}), file.random("sin", {2, 3, 1})},
                       R"({"rope": "interleaved"})"));
    CHECK(tables_of(each).k_cos.shape() == Shape{2, 1, 3, 1});
    CHECK(tables_of(each).k_cos(1, 0, 0, 0) == file.numbers[3]);
    CHECK(each.spec.rope->dims == 2);
    file.tk = 2;
    const TensorFile cross =
        must(file.with({file.random("q_cos", {3, 2}), file.random("q_sin", {3, 2}),
                        file.random("k_cos", {2, 2}), file.random("k_sin", {2, 2})},
                       kHalf));
    CHECK(tables_of(cross).q_cos.shape() == Shape{1, 1, 3, 2});
    CHECK(tables_of(cross).k_cos.shape() == Shape{1, 1, 2, 2});
}

TEST_CASE("both columns of each pair become one, and say which columns turn together") {
    RotaryFile file;
    const std::vector<float> halves{1, 2, 1, 2, 3, 4, 3, 4, 5, 6, 5, 6};
    const std::vector<float> neighbours{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6};
    for (const auto& [values, pairs] :
         {std::pair(&halves, RopePairs::half), std::pair(&neighbours, RopePairs::interleaved)}) {
        const TensorFile read =
            must(file.with({{"cos", {3, 4}, *values}, {"sin", {3, 4}, *values}}));
        CHECK(tables_of(read).q_cos == Tensor({1, 1, 3, 2}, {1, 2, 3, 4, 5, 6}));
        CHECK(read.spec.rope->pairs == pairs);
        CHECK(has_note(read, "cos has both columns of each pair: 4 columns rotate"));
    }
    CHECK(contains(file.refusal({file.random("cos", {3, 4}), file.random("sin", {3, 4})}, kHalf),
                   "cos has 4 columns for queries of width 4; expected at most 2, one for each "
                   "column pair, or both columns of each pair equal"));
}

TEST_CASE("equal columns that may be those of a pair or of two are refused without rope-dims") {
    RotaryFile file;
    const std::vector<float> equal{1, 1, 2, 2, 3, 3};
    const std::vector<NpzEntry> turns{{"cos", {3, 2}, equal}, {"sin", {3, 2}, equal}};
    CHECK(contains(file.refusal(turns, kHalf),
                   "the columns of cos are equal in pairs, so 2 or 4 columns rotate"));
    const TensorFile both = must(file.with(turns, R"({"rope": "half", "rope_dims": 2})"));
    CHECK(tables_of(both).q_cos == Tensor({1, 1, 3, 1}, {1, 2, 3}));
    CHECK(both.spec.rope->dims == 2);
    const TensorFile each = must(file.with(turns, R"({"rope": "half", "rope_dims": 4})"));
    CHECK(tables_of(each).q_cos == Tensor({1, 1, 3, 2}, equal));
    CHECK(options_to_json(each.spec) == R"({"rope":"half","rope_dims":4})");
}

TEST_CASE("a cache is read by positions, which are those of the tokens without an array") {
    RotaryFile file;
    const std::vector<float> positions{4, 0, 2, 1, 1, 3};
    const std::vector<NpzEntry> cache{file.random("cos_cache", {5, 2}),
                                      file.random("sin_cache", {5, 2})};
    std::vector<NpzEntry> given = cache;
    given.push_back({"position_ids", {2, 3}, positions});
    const TensorFile read = must(file.with(given, kHalf));
    CHECK(tables_of(read).q_cos.shape() == Shape{2, 1, 3, 2});
    CHECK(tables_of(read).q_cos(0, 0, 0, 1) == file.numbers[9]);
    CHECK(tables_of(read).k_sin(1, 0, 2, 0) == file.numbers[6]);
    const TensorFile alone = must(file.with(cache, R"({"rope": "half", "query_offset": 2})"));
    CHECK(tables_of(alone).q_cos(0, 0, 0, 0) == file.numbers[4]);
    CHECK(tables_of(alone).k_cos(0, 0, 0, 0) == file.numbers[0]);
    const std::vector<float> beyond{5, 0, 2};
    given.back() = {"positions", {3}, beyond};
    CHECK(contains(file.refusal(given, kHalf),
                   "a position is 5; expected a whole number from 0 to 4, a row of the cache"));
    CHECK(contains(file.refusal(cache, R"({"rope": "half", "query_offset": 3})"),
                   "a position is 5; expected a whole number from 0 to 4"));
    // ONNX's cache without positions has a row for each token.
    const TensorFile rows = must(file.with(
        {file.random("cos_cache", {2, 3, 2}), file.random("sin_cache", {2, 3, 2})}, kHalf));
    CHECK(tables_of(rows).q_cos(1, 0, 0, 0) == file.numbers[6]);
}

TEST_CASE("positions make tables, with sections too") {
    RotaryFile file;
    const std::vector<float> positions{7, 0.5F, 2, 1, 1, 3};
    const TensorFile read =
        must(file.with({{"positions", {2, 3}, positions}}, R"({"rope": "half", "rope_base": 9})"));
    CHECK(tables_of(read).q_cos(0, 0, 1, 1) == static_cast<float>(std::cos(0.5 / 3.0)));
    CHECK(tables_of(read).k_sin(1, 0, 2, 0) == static_cast<float>(std::sin(3.0)));
    const TensorFile sections = must(file.with({{"positions", {2, 3}, positions}},
                                               R"({"rope": "half", "rope_sections": "1,1"})"));
    CHECK(tables_of(sections).q_cos(0, 0, 0, 0) == static_cast<float>(std::cos(7.0)));
    CHECK(tables_of(sections).q_cos(0, 0, 2, 1) == static_cast<float>(std::cos(3.0 * 0.01)));
    const TensorFile place = must(file.with({{"positions", {2, 3}, positions}},
                                            R"({"rope": "half", "rope_sections": "2d"})"));
    CHECK(tables_of(place).q_cos(0, 0, 2, 1) == static_cast<float>(std::cos(3.0)));
    const TensorFile unused = must(file.with({{"positions", {2, 3}, positions}}));
    CHECK(!unused.spec.rope);
    CHECK(has_note(unused, "positions changes nothing without rope"));
    CHECK(contains(file.refusal({file.random("positions", {2, 4})}, kHalf),
                   "positions is float32 [2, 4]; expected integers or floats [3] or [2, 3], a "
                   "position for each token"));
    CHECK(contains(file.refusal({}, R"({"rope": "half", "rope_sections": "1,1"})"),
                   "rope-sections is given without positions"));
    CHECK(contains(file.refusal({}, R"({"rope_sections": "1,1"})"),
                   "rope-sections is 1,1 without rope"));
    CHECK(contains(file.refusal({}, R"({"rope": "half", "rope_sections": "1,x"})"),
                   "expected 2d, or the column pairs of each section, such as 16,24,24"));
    CHECK(contains(file.refusal({}, R"({"rope": "half", "rope_sections": "interleaved,1,x"})"),
                   "such as 16,24,24 or interleaved,24,20,20"));
    CHECK(contains(
        file.refusal({{"positions", {2, 3}, positions}},
                     R"({"rope": "half", "rope_sections": "1,2"})"),
        "the sections of RoPE have 3 column pairs together; expected 2, half of the 4 columns"));
}

TEST_CASE("log-temperature multiplies queries by a number of their position, and no keys") {
    RotaryFile file;
    const TensorFile read =
        must(file.with({}, R"({"log_temperature": "2,0.5", "query_offset": 3})"));
    for (Index t = 0; t < 3; ++t) {
        const double steps = std::floor((static_cast<double>(t) + 4.0) / 2.0);
        CHECK(tables_of(read).q_cos(0, 0, t, 1) ==
              static_cast<float>(1.0 + 0.5 * std::log1p(steps)));
        CHECK(tables_of(read).q_sin(0, 0, t, 1) == 0.0F);
        CHECK(tables_of(read).k_cos(0, 0, t, 0) == 1.0F);
    }
    CHECK(contains(file.refusal({}, R"({"log_temperature": "2,0.5", "rope": "half"})"),
                   "log-temperature is for layers without RoPE, and rope is given; leave one out"));
    CHECK(contains(file.refusal({}, R"({"log_temperature": "0,0.5"})"),
                   "expected FLOOR,SCALE with FLOOR above 0, such as 8192,0.1"));
}

TEST_CASE("cosines and positions that leave something open are refused with the remedy") {
    RotaryFile file;
    const NpzEntry cos = file.random("cos", {3, 2}), sin = file.random("sin", {3, 2});
    CHECK(contains(file.refusal({cos}, kHalf), "cos is given without sin; give both"));
    const Error open = must_fail(file.with({cos, sin}));
    CHECK(open.code == ErrorCode::ambiguous);
    CHECK(contains(open.text(), "cos does not say which columns rotate together"));
    CHECK(
        contains(file.refusal({cos, sin, file.random("positions", {3})}, kHalf),
                 "cos has a row for each token, and positions is given too; call them cos_cache"));
    CHECK(contains(file.refusal({cos, sin}, R"({"rope": "half", "rope_base": 5})"),
                   "cos is given with rope-base, which it replaces; give one"));
    CHECK(contains(file.refusal({cos, sin}, R"({"rope": "half", "rope_dims": 2})"),
                   "cos has 2 columns; expected 1, one for each pair of the 2 columns"));
    CHECK(contains(file.refusal({cos, sin}, R"({"rope": "half", "rope_sections": "1,1"})"),
                   "cos has no sections, and rope-sections is given; leave it out"));
    CHECK(contains(file.refusal({file.random("cos", {4, 2}), file.random("sin", {4, 2})}, kHalf),
                   "cos is [4, 2]; expected [3, n] or [2, 3, n]"));
    CHECK(contains(file.refusal({cos, file.random("sin", {3, 1})}, kHalf),
                   "cos is [1, 1, 3, 2], but sin is [1, 1, 3, 1]; expected the same axes"));
    CHECK(contains(file.refusal({file.random("q_positions", {3})}, kHalf),
                   "q_positions is given without k_positions; give both"));
    file.tk = 2;
    CHECK(contains(
        file.refusal({cos, sin}, kHalf),
        "cos applies to both queries and keys, but there are 3 and 2; give q_cos and k_cos"));
    CHECK(contains(file.refusal({file.random("positions", {3})}, kHalf),
                   "positions applies to both queries and keys, but there are 3 and 2; give "
                   "q_positions and k_positions"));
}

TEST_CASE("past keys and values come before the new ones, and queries stand behind them") {
    RotaryFile file;
    const std::vector<NpzEntry> past{file.random("past_key", {2, 1, 2, 4}),
                                     file.random("past_value", {2, 1, 2, 4})};
    const TensorFile read = must(file.with(past, R"({"causal": true})"));
    CHECK(read.size.tk == 5);
    CHECK(read.spec.query_offset == 2);
    const Tensor& k = read.layers.front().k;
    CHECK(k(1, 0, 1, 3) == file.numbers[15]);
    CHECK(k(1, 0, 2, 0) == file.numbers[12]);
    CHECK(has_note(read, "the 2 past keys come before K, and query 0 is at position 2"));
    CHECK(must(file.with(past, R"({"causal": "bottom-right"})")).size.query_offset == 2);
    CHECK(must(file.with(past, R"({"causal": "top-left", "query_offset": 0})")).spec.query_offset ==
          0);
    CHECK(contains(file.refusal({past[0]}), "past_k is given without past_v; give both"));
    CHECK(contains(file.refusal(past, kHalf), "past_k is given with RoPE, and most caches hold"));
    CHECK(contains(file.refusal({file.random("past_k", {2, 1, 2, 3}), past[1]}),
                   "past_k is [2, 1, 2, 3]; expected [2, 1, P, 4] like K"));
    CHECK(contains(file.refusal({file.random("past_k", {2, 1, 3, 4}), past[1]}),
                   "past_k has 3 tokens, past_v has 2; expected the same number"));
}

TEST_CASE("nonpad_kv_seqlen are the valid keys, where a causal mask at the bottom right ends") {
    RotaryFile file;
    file.tk = 5;
    const std::vector<float> counts{5, 4};
    std::vector<double> whole(counts.begin(), counts.end());
    NpzEntry entry{"nonpad_kv_seqlen", {2}, {}};
    entry.doubles = whole;
    CHECK(must(file.with({entry})).spec.mask.padding == std::vector<Index>{5, 4});
    const TensorFile causal = must(file.with({entry}, R"({"causal": "bottom-right"})"));
    CHECK(!causal.spec.mask.causal);
    REQUIRE(causal.spec.mask.custom);
    const Mask& allowed = *causal.spec.mask.custom;
    for (Index b = 0; b < 2; ++b)
        for (Index i = 0; i < 3; ++i)
            for (Index j = 0; j < 5; ++j)
                CHECK((allowed(b, 0, i, j) == 1) == (j <= i + (b == 0 ? 5 : 4) - 3));
    CHECK(must(file.with({entry}, R"({"causal": "top-left"})")).spec.mask.causal ==
          CausalAlign::top_left);
    CHECK(contains(file.refusal({entry}, R"({"causal": "bottom-right", "window": 2})"),
                   "which windows, blocks, alibi and rope do not follow"));
    CHECK(contains(file.refusal({entry}, R"({"padding": [5, 4]})"),
                   "nonpad_kv_seqlen and padding are given; give one"));
    whole[1] = 6;
    CHECK(contains(file.refusal({entry}),
                   "nonpad_kv_seqlen is float64 [2] [5, 6]; expected int32 or int64 [2], a number "
                   "of keys from 0 to 5 for each batch entry"));
}
