#include <cmath>

#include <doctest/doctest.h>

#include "core/large/coarse_tile.h"
#include "core/large/preview.h"
#include "tests/large/exact_map.h"

using namespace attn;
using namespace attn::large;
using namespace attn::test;

namespace {

constexpr int kLevel = 4;
constexpr Index kSide = 16;
constexpr Index kTokens = 2048;

std::shared_ptr<const MapInput> input_of_test() { return planted({.tokens = kTokens, .d_k = 32}); }

Preview preview_of(const ExactMap& exact, std::uint64_t seed, int level = kLevel) {
    const PreviewPlan plan = plan_preview(exact.source, level, seed);
    std::vector<TexelRow> sampled;
    for (const Index row : plan.rows)
        sampled.push_back(
            std::make_shared<const Texels>(pool_exact(exact, row, 1, 1, Index{1} << plan.level)));
    return finish_preview(plan, sampled, exact.source.size);
}

double quantile(std::vector<double> values, double fraction) {
    const auto nth =
        values.begin() + static_cast<Index>(fraction * static_cast<double>(values.size() - 1));
    std::ranges::nth_element(values, nth);
    return *nth;
}

}  // namespace

TEST_CASE("a preview looks at some rows of every band, each once, in order") {
    const auto input = input_of_test();
    const PreviewPlan plan = plan_preview(input->source, kLevel, 3);
    CHECK(plan.level == kLevel);
    CHECK(plan.bands() == kTokens / kSide);
    CHECK(std::ranges::is_sorted(plan.rows));
    CHECK(std::ranges::adjacent_find(plan.rows) == plan.rows.end());
    for (Index band = 0; band < plan.bands(); ++band) {
        const auto begin = static_cast<std::size_t>(plan.band_starts[band]);
        const auto end =
            static_cast<std::size_t>(plan.band_starts[static_cast<std::size_t>(band) + 1]);
        CHECK(end - begin >= 2);
        Index covered = 0;
        for (std::size_t n = begin; n < end; ++n) {
            CHECK(plan.rows[n] / kSide == band);
            covered += plan.heights[n];
        }
        CHECK(covered == kSide);
    }
}

TEST_CASE("the mean of a preview is unbiased over seeds, and its error no larger than it says") {
    constexpr int kSeeds = 40;
    const ExactMap exact = exact_map(input_of_test()->source);
    const Texels truth = pool_exact(exact, 0, kTokens, kSide, kSide);
    std::vector<double> sum(truth.mean.size()), squares(truth.mean.size());
    std::vector<double> relative;
    double stated_median = 0.0;
    double stated_95 = 0.0;
    for (int seed = 0; seed < kSeeds; ++seed) {
        const Preview preview = preview_of(exact, static_cast<std::uint64_t>(seed));
        stated_median += preview.relative_error_median / kSeeds;
        stated_95 += preview.relative_error_95 / kSeeds;
        for (std::size_t n = 0; n < truth.mean.size(); ++n) {
            const Index row = static_cast<Index>(n) / truth.columns;
            const auto column = n % static_cast<std::size_t>(truth.columns);
            const auto value = static_cast<double>(preview.row(kLevel, row)->mean[column]);
            const double error = value - static_cast<double>(truth.mean[n]);
            sum[n] += error;
            squares[n] += error * error;
            relative.push_back(std::abs(error) / static_cast<double>(truth.mean[n]));
        }
    }
    double sum_of_z2 = 0.0;
    for (std::size_t n = 0; n < sum.size(); ++n)
        sum_of_z2 += sum[n] * sum[n] / squares[n] / static_cast<double>(sum.size());
    CHECK(sum_of_z2 < 1.3);  // (Σ e)² / Σ e² is about 1 for errors around 0, and grows with a bias
    CHECK(sum_of_z2 > 0.7);
    CHECK(quantile(relative, 0.5) < stated_median);
    CHECK(quantile(relative, 0.95) < 2.0 * stated_95);
    CHECK(stated_median > 0.0);
}

TEST_CASE("a preview takes an eighth of the rows, fewer where they are more than 50 GFLOP") {
    const auto rows_of = [](Index tokens, int finest) {
        WeightSource source;
        source.size.tq = source.size.tk = tokens;
        source.size.d_k = 64;
        const PreviewPlan plan = plan_preview(source, finest, 1);
        for (Index band = 0; band < plan.bands(); ++band) {
            const auto b = static_cast<std::size_t>(band);
            CHECK(plan.band_starts[b + 1] - plan.band_starts[b] == plan.band_starts[1]);
        }
        return plan.band_starts[1];
    };
    CHECK(rows_of(2048, 4) == 2);
    CHECK(rows_of(2048, 6) == 8);
    CHECK(rows_of(2048, 8) == 32);
    // 2 · 2^20 · 64 FLOP a row: 372.5 rows, over 64 bands
    CHECK(rows_of(1 << 20, 14) == 5);
}

// 8 queries by 16 keys: one band of 2 texels, of which 2 rows are sampled.
TEST_CASE("the error of a preview by hand: s² / m · (1 − m / M)") {
    Dimensions size;
    size.tq = 8;
    size.tk = 16;
    PreviewPlan plan;
    plan.level = 3;
    plan.rows = {1, 6};
    plan.heights = {4, 4};
    plan.band_starts = {0, 2};
    const auto row = [](float first, float second) {
        const std::vector<float> values{first, second};
        return std::make_shared<const Texels>(Texels{1, 2, values, values, values, {}});
    };
    // s² = 2 and 18 around means of 2 and 6, m = 2 of M = 8 rows: √(s² / 2 · 3/4) / mean
    const Preview preview = finish_preview(plan, {row(1, 3), row(3, 9)}, size);
    CHECK(preview.row(3, 0)->mean == std::vector<float>{2, 6});
    const double both[] = {std::sqrt(0.75) / 2.0, std::sqrt(9.0 * 0.75) / 6.0};
    CHECK(preview.relative_error_median == doctest::Approx(0.5 * (both[0] + both[1])));
    CHECK(preview.relative_error_95 == doctest::Approx(0.05 * both[1] + 0.95 * both[0]));
    plan.heights = {1, 1};  // every row of the band was sampled
    size.tq = 2;
    const Preview exact = finish_preview(plan, {row(1, 3), row(3, 9)}, size);
    CHECK(exact.relative_error_95 == 0.0);
}

TEST_CASE("a tile says how much of it is exact") {
    const auto input = input_of_test();
    const ExactMap exact = exact_map(input->source);
    Pyramid pyramid(input->source, std::size_t{1} << 30);
    const Preview preview = preview_of(exact, 1, pyramid.base_level());
    const TileId top{pyramid.top_level(), 0, 0};

    CHECK(coarse_tile(top, pyramid, preview).origin == TileOrigin::sampled);
    for (Index strip = 0; strip < pyramid.strip_count(); ++strip) {
        const KeyRange rows = pyramid.strip_rows(strip);
        PooledRows pooled;
        pooled.texels = pool_exact(exact, rows.begin, rows.end - rows.begin, pyramid.block_side(),
                                   pyramid.block_side());
        for (Index i = rows.begin; i < rows.end; ++i)
            pooled.logsumexp.push_back(static_cast<float>(exact.logsumexp[i]));
        pyramid.add_strip(strip, std::move(pooled));
        const Tile tile = coarse_tile(top, pyramid, preview);
        const bool all = strip + 1 == pyramid.strip_count();
        CHECK(tile.origin == (all ? TileOrigin::exact : TileOrigin::mixed));
        if (all) CHECK(tile_mismatch(tile, exact).empty());
    }
}

TEST_CASE("blocks take the smallest side whose pyramid fits the budget") {
    const auto input = planted({.tokens = 40000, .d_k = 32});
    const Pyramid detailed(input->source, std::size_t{384} << 20);
    CHECK(detailed.block_side() == 32);
    const Pyramid coarse(input->source, std::size_t{4} << 20);
    CHECK(coarse.block_side() == 128);
    CHECK(coarse.bytes() == 0);
    CHECK(Pyramid(input->source, 0).base_level() == level_count(input->source.size) - 1);
}
