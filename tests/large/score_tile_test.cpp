// Tiles of scores: means of B, S = q·k · factor without a bias, over the pairs that may attend, at every level.
#include "core/large/score_tile.h"
#include "core/large/map_input.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "core/bias.h"
#include "core/call.h"
#include "core/large/planted_spec.h"
#include "core/large/texel_rows.h"
#include "core/large/tile_grid.h"
#include "tests/large/exact_map.h"
#include "tests/support/random.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::large;
using namespace attn::test;

namespace {

constexpr Index kQueries = 700;
constexpr Index kKeys = 610;
constexpr Index kWidth = 16;

WeightSource source_of(AttentionSpec spec) {
    return normal_source(kQueries, kKeys, kWidth, std::move(spec));
}

struct Mean {
    double sum = 0.0;
    double magnitude = 0.0;
    double products = 0.0;  // Σ |q_c k_c| · factor
    Index pairs = 0;
};

constexpr double kSlope = 1.0 / 256.0;  // ALiBi's of one head alone: 2^−8

/// B of a scaled score of query i and key j, written out.
double biased(const WeightSource& source, double scaled, Index i, Index j) {
    const double bias = bias_at(source.spec.mask, 0, 0, i, j);
    const double given = source.spec.bias_before_softcap ? scaled + bias : scaled;
    const auto cap = source.spec.softcap;
    scaled = (cap ? *cap * std::tanh(given / *cap) : given) +
             (source.spec.bias_before_softcap ? 0.0 : bias);
    if (!source.spec.alibi) return scaled;
    return scaled - kSlope * static_cast<double>(std::abs(i + source.size.query_offset - j));
}

/// One texel by every pair of it.
Mean mean_of(const WeightSource& source, const CellBox& cells) {
    Mean mean;
    const double factor = score_factor(source.spec, source.size.d_k);
    for (Index i = cells.rows.begin; i < cells.rows.end; ++i)
        for (Index j = cells.columns.begin; j < cells.columns.end; ++j) {
            if (!may_attend(source.spec.mask, source.size, 0, 0, i, j)) continue;
            double score = 0.0;
            double products = 0.0;
            for (Index c = 0; c < kWidth; ++c) {
                const double product = static_cast<double>((*source.q)(0, 0, i, c)) *
                                       static_cast<double>((*source.k)(0, 0, j, c));
                score += product;
                products += std::abs(product);
            }
            mean.products += products * factor;
            mean.sum += biased(source, score * factor, i, j);
            mean.magnitude += std::abs(score * factor);
            ++mean.pairs;
        }
    return mean;
}

bool close(float actual, const Mean& wanted, bool added_as_floats) {
    const double mean = wanted.sum / static_cast<double>(wanted.pairs);
    if (!std::isfinite(mean))
        return std::isnan(mean) ? std::isnan(actual) : static_cast<double>(actual) == mean;
    // rounded to a float once; the sums in double lose far less
    const double tolerance = 0x1.0p-23 * std::abs(mean) +
                             0x1.0p-40 * wanted.magnitude / static_cast<double>(wanted.pairs);
    // under a cap or with a bias scores are floats, and are added as such
    const double single =
        added_as_floats ? 0x1.0p-20 * wanted.products / static_cast<double>(wanted.pairs) : 0.0;
    return std::abs(static_cast<double>(actual) - mean) <= tolerance + single;
}

void check_levels(const WeightSource& source) {
    for (int level = 0; level < level_count(source.size); ++level)
        for (const TileId& id : tiles_of_level(level, source.size)) {
            const auto tile = must(score_tile(source, {}, id, {}));
            const CellBox cells = cells_of(id, source.size);
            const Index side = id.side();
            for (Index r = 0; r < tile.texels.rows; ++r)
                for (Index c = 0; c < tile.texels.columns; ++c) {
                    const Index row = cells.rows.begin + r * side;
                    const Index column = cells.columns.begin + c * side;
                    const Mean wanted =
                        mean_of(source, {{row, std::min(row + side, cells.rows.end)},
                                         {column, std::min(column + side, cells.columns.end)}});
                    const std::size_t at = tile.texels.at(r, c);
                    const bool right =
                        tile.texels.masked(r, c) == (wanted.pairs == 0) &&
                        (wanted.pairs == 0 ||
                         close(tile.texels.mean[at], wanted,
                               source.spec.softcap || source.spec.mask.bias)) &&
                        (tile.texels.allowed.empty() ||
                         static_cast<Index>(tile.texels.allowed[at]) == wanted.pairs);
                    if (right) continue;
                    FAIL_CHECK(fmt::format("level {} texel {} {}: {} wanted {} of {} pairs", level,
                                           r, c, tile.texels.mean[at],
                                           wanted.sum / static_cast<double>(wanted.pairs),
                                           wanted.pairs));
                    return;
                }
        }
}

}  // namespace

TEST_CASE("score tiles are means of single scores, under every mask") {
    check_levels(source_of({}));
    AttentionSpec spec;
    spec.temperature = 2.0;
    spec.mask.causal = CausalAlign::bottom_right;
    check_levels(source_of(spec));
    spec.mask.window = 37;
    check_levels(source_of(spec));
    AttentionSpec blocks;
    blocks.mask.block = 90;
    blocks.mask.padding = {500};
    check_levels(source_of(blocks));
    Mask custom(Shape{1, 1, kQueries, kKeys});
    for (Index i = 0; i < kQueries; ++i)
        for (Index j = 0; j < kKeys; ++j) custom(0, 0, i, j) = (3 * i + j) % 4 != 0 ? 1 : 0;
    blocks.mask.custom = std::make_shared<const Mask>(std::move(custom));
    check_levels(source_of(blocks));
}

TEST_CASE("a texel of 65,536 x 65,536 pairs is not masked, alone or joined of smaller ones") {
    constexpr Index kSide = 65'536;  // whose square has no room in 32 bits
    WeightSource source = normal_source(kSide, kSide, 1);
    source.spec.mask.window = kSide;  // leaves every pair
    const Texels alone = must(score_tile(source, {}, {16, 0, 0}, {})).texels;
    const Texels half{1, 2, {0.5F, 0.5F}, {0.5F, 0.5F}, {-1.0F, -1.0F}, {1U << 30, 1U << 30}};
    const RowPart part{&half, 0, kSide / 2};
    const Texels joined = join_rows(std::vector{part, part}, {kSide / 2, kSide}, 2);
    for (const Texels& texels : {alone, joined}) {
        REQUIRE(texels.allowed.size() == 1);
        CHECK(texels.allowed[0] == 0xFFFF'FFFF);
        CHECK(!texels.masked(0, 0));
    }
    CHECK(joined.log_mean[0] == -1.0F);
}

TEST_CASE("score tiles are of the scores that softmax takes: a cap, ALiBi, positions of queries") {
    AttentionSpec plain;
    AttentionSpec causal;
    causal.mask.causal = CausalAlign::top_left;
    AttentionSpec global;  // two runs of keys a query
    global.mask.window = 20;
    global.mask.global_tokens = 7;
    AttentionSpec custom = causal;
    Mask mask(Shape{1, 1, kQueries, kKeys});
    for (Index i = 0; i < kQueries; ++i)
        for (Index j = 0; j < kKeys; ++j) mask(0, 0, i, j) = (i + 5 * j) % 3 != 0 ? 1 : 0;
    custom.mask.custom = std::make_shared<const Mask>(std::move(mask));
    check_levels(source_of(global));
    for (AttentionSpec spec : {plain, causal, global, custom})
        for (const auto& [cap, alibi] : {std::pair{0.0, true}, {3.0, false}, {1.5, true}}) {
            if (cap > 0.0) spec.softcap = cap;
            spec.alibi = alibi;
            WeightSource source = source_of(spec);
            source.size.query_offset = 41;
            check_levels(source);
        }
    AttentionSpec biased = causal;
    biased.mask.bias = make_bias(normal_tensor<float>({1, 1, kQueries, kKeys}, 9));
    check_levels(source_of(biased));
    biased.softcap = 3.0;
    biased.bias_before_softcap = true;
    check_levels(source_of(biased));
}

TEST_CASE("a score that is not finite makes its texel so, and no other; a cap leaves NaN alone") {
    AttentionSpec spec;
    spec.mask.causal = CausalAlign::top_left;
    AttentionSpec capped;
    capped.softcap = 2.0;
    for (const AttentionSpec& each : {AttentionSpec{}, spec, capped}) {
        WeightSource source = source_of(each);
        Tensor q = *source.q;
        Tensor k = *source.k;
        q(0, 0, 33, 2) = std::numeric_limits<float>::infinity();
        k(0, 0, 71, 5) = -std::numeric_limits<float>::infinity();
        k(0, 0, 300, 1) = std::numeric_limits<float>::quiet_NaN();
        source.q = std::make_shared<const Tensor>(std::move(q));
        source.k = std::make_shared<const Tensor>(std::move(k));
        check_levels(source);
    }
}

TEST_CASE("a map gives the scores of a view when they are asked for, and no others") {
    const auto input = planted({.tokens = 2048, .d_k = 32});
    WeightMap map(input, {}, {});
    ViewRequest request;
    request.view = {100.0, 900.0, 700.0, 500.0, 0};
    const auto weights = finished_snapshot(map, request);
    CHECK(weights->scores.tiles.empty());
    request.scores = true;
    const auto snapshot = finished_snapshot(map, request);
    CHECK(snapshot->complete);
    CHECK(snapshot->scores.complete);
    REQUIRE(snapshot->scores.overview);
    CHECK(snapshot->scores.tiles.size() == snapshot->tiles.size());
    double low = HUGE_VAL;
    double high = -HUGE_VAL;
    for (const auto& tile : snapshot->scores.tiles) {
        const auto again = must(score_tile(input->source, {}, tile->id, {}));
        CHECK(again.texels.mean == tile->texels.mean);
        for (const float mean : tile->texels.mean) {
            low = std::min(low, static_cast<double>(mean));
            high = std::max(high, static_cast<double>(mean));
        }
    }
    CHECK(snapshot->scores.colors.low >= low);
    CHECK(snapshot->scores.colors.high <= high);
    CHECK(snapshot->scores.colors.low < snapshot->scores.colors.high);
    CHECK(snapshot->scores.nans == 0);
    request.scores = false;
    CHECK(finished_snapshot(map, request)->scores.tiles.empty());
}
