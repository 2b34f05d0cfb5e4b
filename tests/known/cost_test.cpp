#include "core/cost.h"

#include <doctest/doctest.h>

#include "core/bench/workload.h"
#include "core/engine.h"
#include "core/rng.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;
using enum attn::CostSize;

namespace {

/// B 2, H 6, G 3, Tq 5, Tk 7, E 8, d_k 4, d_v 3, O 8, fp32.
CostSizes small_sizes() {
    CostSizes sizes;
    sizes.values = {2, 6, 3, 5, 7, 8, 4, 3, 8, 128, 4, 1, 5, 2, 3};
    return sizes;
}

const StageCost& find(const std::vector<StageCost>& all, Stage stage) {
    for (const StageCost& cost : all)
        if (cost.stage == stage) return cost;
    FAIL("no such stage");
    return all.front();
}

struct Counts {
    Index flop, read, written, stored;
    bool operator==(const Counts&) const = default;
};
Counts counts(CostPass pass, Stage stage) {
    const CostSizes sizes = small_sizes();
    const auto all = stage_costs(pass, sizes);
    const StageCost& cost = find(all, stage);
    return {*count_of(cost.flop, sizes), *count_of(cost.read, sizes),
            *count_of(cost.written, sizes), *count_of(cost.stored, sizes)};
}

Index stored(Holding holding, const CostSizes& sizes) {
    return *count_of(stored_bytes(holding), sizes);
}

}  // namespace

TEST_CASE("counts of every stage, forward, by hand") {
    // X 2·5·8 = 80, X of keys 2·7·8 = 112, W_Q 8·24 = 192, W_K 8·12 = 96, W_V 8·9 = 72, pairs 2·6·5·7 = 420
    CHECK(counts(CostPass::forward, Stage::q) == Counts{3840, 4 * (80 + 192), 4 * 240, 4 * 240});
    CHECK(counts(CostPass::forward, Stage::k) == Counts{2688, 4 * (112 + 96), 4 * 168, 4 * 168});
    CHECK(counts(CostPass::forward, Stage::v) == Counts{2016, 4 * (112 + 72), 4 * 126, 4 * 126});
    CHECK(counts(CostPass::forward, Stage::scores) == Counts{3360, 4 * (240 + 168), 4 * 420, 0});
    CHECK(counts(CostPass::forward, Stage::scaled) == Counts{420, 4 * 420, 4 * 420, 0});
    CHECK(counts(CostPass::forward, Stage::masked) == Counts{0, 4 * 420, 4 * 420, 0});
    CHECK(counts(CostPass::forward, Stage::weights) == Counts{2100, 4 * 420, 4 * 420, 4 * 420});
    CHECK(counts(CostPass::forward, Stage::context) ==
          Counts{2520, 4 * (420 + 126), 4 * 180, 4 * 180});
    CHECK(counts(CostPass::forward, Stage::output) == Counts{2880, 4 * (180 + 144), 4 * 80, 0});
}

TEST_CASE("counts of every stage, backward, by hand") {
    CHECK(counts(CostPass::backward, Stage::output) ==
          Counts{5760, 4 * (80 + 180 + 144), 4 * (180 + 144), 4 * 144});
    CHECK(counts(CostPass::backward, Stage::context) ==
          Counts{5040, 4 * (180 + 420 + 126), 4 * (420 + 126), 0});
    CHECK(counts(CostPass::backward, Stage::weights) == Counts{1680, 4 * 840, 4 * 420, 0});
    CHECK(counts(CostPass::backward, Stage::scaled) == Counts{420, 4 * 420, 4 * 420, 0});
    CHECK(counts(CostPass::backward, Stage::scores) ==
          Counts{6720, 4 * (420 + 240 + 168), 4 * (240 + 168), 0});
    CHECK(counts(CostPass::backward, Stage::q) ==
          Counts{7680, 4 * (240 + 80 + 192), 4 * (80 + 192), 4 * 192});
}

TEST_CASE("the bytes that a stage writes are those of the tensors of a real trace") {
    const CostSizes sizes = small_sizes();
    Inputs inputs;
    const auto filled = [](const Shape& shape, std::uint64_t seed) {
        Tensor tensor(shape);
        std::uint64_t n = 0;
        for (float& value : tensor.values()) value = static_cast<float>(uniform(seed, n++));
        return tensor;
    };
    inputs.x = filled({2, 1, 5, 8}, 1);
    inputs.x_kv = filled({2, 1, 7, 8}, 2);
    inputs.params[Param::w_q] = filled({1, 1, 8, 24}, 3);
    inputs.params[Param::w_k] = filled({1, 1, 8, 12}, 4);
    inputs.params[Param::w_v] = filled({1, 1, 8, 9}, 5);
    inputs.params[Param::w_o] = filled({1, 1, 18, 8}, 6);
    AttentionSpec spec;
    spec.heads = 6;
    spec.kv_heads = 3;
    const auto trace = must(attend(inputs, spec, "reference"));
    for (const StageCost& cost : stage_costs(CostPass::forward, sizes)) {
        CAPTURE(info(cost.stage).key);
        const Index written = 4 * static_cast<Index>(trace[cost.stage].count());
        CHECK(*count_of(cost.written, sizes) == written);
    }
    const Index rows = 4 * static_cast<Index>(trace.logsumexp.count());
    CHECK(stored(Holding::fused, sizes) == rows);
    CHECK(stored(Holding::materialised, sizes) ==
          4 * static_cast<Index>(trace[Stage::weights].count()));
}

TEST_CASE("32 heads of 8192 tokens have exactly 2^31 weights, 8 GiB in fp32") {
    const CostSizes sizes;
    CHECK(*count_of({{1, {batch, heads, tq, tk}}}, sizes) == Index{1} << 31);
    CHECK(stored(Holding::materialised, sizes) == Index{8} << 30);
    CHECK(stored(Holding::fused, sizes) == Index{1} << 20);
    CHECK(stored(Holding::chunked, sizes) == Index{128} << 20);
}

TEST_CASE("known: 2.048 GFLOP at n = 1000, d = 512; 40 GB at n = 100,000; a cache of 1 GiB") {
    CostSizes sizes;
    sizes.values = {1, 1, 1, 1000, 1000, 0, 512, 512, 0, 128, 4, 1};
    CHECK(*count_of(product_flop(CostPass::forward, Holding::fused), sizes) == 2'048'000'000);
    sizes.values = {1, 1, 1, 100'000, 100'000, 0, 64, 64, 0, 128, 4, 1};
    CHECK(*count_of(product_flop(CostPass::forward, Holding::materialised), sizes) ==
          2'560'000'000'000);
    CHECK(stored(Holding::materialised, sizes) == 40'000'000'000);
    sizes.values = {1, 32, 8, 8192, 8192, 4096, 128, 128, 4096, 128, 2, 32};  // Llama 3 8B, bf16
    CHECK(stored(Holding::kv_cache, sizes) == Index{1} << 30);
}

TEST_CASE("the products of bench are the same count: 4, 8 and 10 H n^2 d") {
    const bench::Workload work{.heads = 8, .n = 2048, .d = 64};
    const double unit = 8.0 * 2048 * 2048 * 64;
    const CostSizes sizes = bench::sizes_of(work);
    const auto flop = [&](CostPass pass, Holding holding) {
        return static_cast<double>(*count_of(product_flop(pass, holding), sizes));
    };
    CHECK(flop(CostPass::forward, Holding::fused) == 4.0 * unit);
    CHECK(flop(CostPass::backward, Holding::materialised) == 8.0 * unit);
    CHECK(flop(CostPass::backward, Holding::fused) == 10.0 * unit);
    CHECK(gflop(work) == doctest::Approx(4e-9 * unit).epsilon(1e-12));
    Index stages = 0;
    for (const StageCost& cost : stage_costs(CostPass::forward, sizes))
        if (cost.stage == Stage::scores || cost.stage == Stage::context)
            stages += *count_of(cost.flop, sizes);
    CHECK(static_cast<double>(stages) == 4.0 * unit);
}

TEST_CASE("given Q, K and V are not computed, and without W_O there is no output") {
    CostSizes sizes = small_sizes();
    sizes[d_model] = 0;
    CHECK(stage_costs(CostPass::forward, sizes).front().stage == Stage::scores);
    CHECK(stage_costs(CostPass::forward, sizes).back().stage == Stage::output);
    sizes[d_out] = 0;
    CHECK(stage_costs(CostPass::backward, sizes).back().stage == Stage::context);
    CHECK(stage_costs(CostPass::backward, sizes).size() == 5);
}

TEST_CASE("a count above 2^63 - 1 is none, just below is one; sizes that make one are refused") {
    CostSizes sizes;
    sizes.values = {1, 1, 1, Index{1} << 31, Index{1} << 31, 0, 1, 1, 0, 1, 1, 1};
    CHECK(count_of({{1, {tq, tk}}}, sizes) == Index{1} << 62);
    CHECK(count_of({{1, {tq, tk}}, {1, {tq}}}, sizes) == (Index{1} << 62) + (Index{1} << 31));
    CHECK_FALSE(count_of({{2, {tq, tk}}}, sizes));
    CHECK_FALSE(count_of({{1, {tq, tk}}, {1, {tq, tk}}}, sizes));
    CHECK(count_of({{1, {tq, tk}}, {1, {tq, tk}}, {-1, {batch}}}, sizes) == std::nullopt);
    CHECK(estimate_of({{4, {tq, tk}}}, sizes) == 18446744073709551616.0);
    CHECK(check_cost(CostSizes{}));
    sizes = {};
    sizes[tq] = sizes[tk] = Index{1} << 24;
    sizes[batch] = 1 << 16;
    CHECK(contains(must_fail(check_cost(sizes)).text(), "above 2⁶³ − 1"));
    sizes = {};
    sizes[kv_heads] = 5;
    CHECK(contains(check_cost(sizes).error().text(), "G must divide H"));
    sizes = {};
    sizes[tq] = 0;
    CHECK(check_cost(sizes).error().text() == "Tq (queries) is 0: it must be 1 to 16777216");
}

TEST_CASE("the largest T that fits is exact, and a chunk never has more rows than there are") {
    CostSizes sizes;
    // 32 heads, fp32: 128 T² of the weights, 4 · 32 · 128 · 4 T of Q, K, V and the context
    const double most = 128.0 * 1000 * 1000 + 65536.0 * 1000;
    CHECK(tokens_within(Holding::materialised, sizes, most, 1 << 20) == 1000);
    CHECK(tokens_within(Holding::materialised, sizes, most - 1, 1 << 20) == 999);
    CHECK(tokens_within(Holding::materialised, sizes, 65535.0, 1 << 20) == std::nullopt);
    CHECK(tokens_within(Holding::fused, sizes, (65536.0 + 128.0) * 1000, 1 << 20) == 1000);
    CHECK(tokens_within(Holding::kv_cache, sizes, 32768.0 * 1000, 1 << 20) == 1000);
    CHECK(tokens_within(Holding::fused, sizes, 1e18, 1 << 20) == Index{1} << 20);
    sizes[tq] = 1;  // decoding: T is the number of keys alone
    CHECK(with_tokens(sizes, 77)[tq] == 1);
    CHECK(with_tokens(sizes, 77)[tk] == 77);
    CHECK(stored(Holding::chunked, sizes) == stored(Holding::materialised, sizes));
}
