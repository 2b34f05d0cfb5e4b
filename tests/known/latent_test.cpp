// Multi-head latent attention: both forms against each other, cell by cell, and the expanded one against loops of its own.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "core/cast.h"
#include "core/engine.h"
#include "core/entries.h"
#include "core/mla.h"
#include "core/spec.h"
#include "core/spec_arrays.h"
#include "tests/io/scratch.h"
#include "tests/support/random.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::test;

namespace {

/// Three heads, four queries, five keys; d_r 2 (or none), d_n 3, d_c 7, d_v 4.
LatentHeads latent_heads(bool rope, bool mixes) {
    LatentHeads heads;
    heads.q_nope = normal_tensor<float>({2, 3, 4, 3}, 1);
    if (rope) heads.q_rope = normal_tensor<float>({2, 3, 4, 2}, 2);
    heads.c_kv = normal_tensor<float>({2, 1, 5, 7}, 3);
    if (rope) heads.k_rope = normal_tensor<float>({2, 1, 5, 2}, 4);
    heads.w_uk = normal_tensor<float>({1, 3, 7, 3}, 5);
    heads.w_uv = normal_tensor<float>({1, 3, 7, 4}, 6);
    if (mixes) heads.params[Param::w_o] = normal_tensor<float>({1, 1, 12, 6}, 7);
    if (mixes) heads.params[Param::b_o] = normal_tensor<float>({1, 1, 1, 6}, 8);
    return heads;
}

AttentionSpec latent_spec(LatentForm form, bool rope) {
    AttentionSpec spec;
    spec.mask.causal = CausalAlign::bottom_right;
    if (form == LatentForm::absorbed) {
        spec.scale = ScaleKind::value;
        spec.scale_value = 1.0 / std::sqrt(rope ? 5.0 : 3.0);
    }
    if (rope) spec.rope = Rope{.pairs = RopePairs::interleaved, .dims = 2, .tables = {}};
    return spec;
}

TraceD trace_of(const LatentHeads& heads, LatentForm form, bool rope) {
    const Inputs call = must(latent_call(heads, form));
    return must(attend_exact(cast<double>(call), latent_spec(form, rope)));
}

double largest_difference(const TensorD& a, const TensorD& b) {
    REQUIRE(a.shape() == b.shape());
    double most = 0.0;
    for (std::size_t n = 0; n < a.values().size(); ++n)
        if (a.values()[n] != b.values()[n])
            most = std::max(most, std::abs(a.values()[n] - b.values()[n]));
    return most;
}

}  // namespace

TEST_CASE("expanded and absorbed latent attention agree in every score, weight and output") {
    for (const bool rope : {false, true})
        for (const bool mixes : {false, true}) {
            INFO("rope ", rope, ", W_O ", mixes);
            const LatentHeads heads = latent_heads(rope, mixes);
            const TraceD expanded = trace_of(heads, LatentForm::expanded, rope);
            const TraceD absorbed = trace_of(heads, LatentForm::absorbed, rope);
            for (const Stage stage :
                 {Stage::scores, Stage::scaled, Stage::masked, Stage::weights, Stage::output})
                CHECK(largest_difference(expanded[stage], absorbed[stage]) < 2e-5);
            CHECK(absorbed[Stage::k].shape() == Shape{2, 1, 5, rope ? 9 : 7});
            CHECK(absorbed[Stage::context].shape() == Shape{2, 3, 4, 7});
        }
}

TEST_CASE("a score is q_nope · (c W_UK) + q_rope · k_rope, an output a weighted sum of c W_UV") {
    const LatentHeads in = latent_heads(true, false);
    const Inputs call = must(latent_call(in, LatentForm::expanded));
    const TraceD trace = must(attend_exact(cast<double>(call), {}));
    for_each_entry({2, 3, 4, 5}, [&](Index b, Index h, Index i, Index j) {
        double score = 0.0;
        for (Index r = 0; r < 2; ++r)
            score += double{in.q_rope(b, h, i, r)} * in.k_rope(b, 0, j, r);
        for (Index a = 0; a < 7; ++a)
            for (Index n = 0; n < 3; ++n)
                score += double{in.q_nope(b, h, i, n)} * in.w_uk(0, h, a, n) * in.c_kv(b, 0, j, a);
        CHECK(trace[Stage::scores](b, h, i, j) == doctest::Approx(score).epsilon(1e-5));
    });
    for_each_entry({2, 3, 4, 4}, [&](Index b, Index h, Index i, Index c) {
        double value = 0.0;
        for (Index j = 0; j < 5; ++j)
            for (Index a = 0; a < 7; ++a)
                value +=
                    trace[Stage::weights](b, h, i, j) * in.c_kv(b, 0, j, a) * in.w_uv(0, h, a, c);
        CHECK(trace[Stage::output](b, 0, i, h * 4 + c) == doctest::Approx(value).epsilon(1e-4));
    });
}

TEST_CASE(
    "a cache of latents has d_c + d_r numbers a token, and tensors that do not fit are named") {
    LatentHeads heads = latent_heads(true, true);
    CHECK(cached_numbers(heads, LatentForm::absorbed) == 7 + 2);
    CHECK(cached_numbers(heads, LatentForm::expanded) == 3 * (2 + 3 + 4));
    heads.params[Param::w_o] = normal_tensor<float>({1, 1, 11, 6}, 7);
    CHECK(sentence_in(latent_call(heads, LatentForm::absorbed)) ==
          "W_O is [11, 6]; expected 12 rows, W_UV's width 4 of 3 heads");
    heads.k_rope = {};
    CHECK(contains(sentence_in(latent_call(heads, LatentForm::expanded)), "k_rope is missing"));
    heads = latent_heads(true, false);
    heads.w_uk = normal_tensor<float>({1, 3, 6, 3}, 5);
    CHECK(contains(sentence_in(latent_call(heads, LatentForm::expanded)),
                   "W_UK is [1, 3, 6, 3]; expected [1, 3, 7, 3] beside q_nope [2, 3, 4, 3]"));
}
