#include <cmath>
#include <set>

#include <doctest/doctest.h>

#include "core/large/map_input.h"
#include "core/large/tile_grid.h"
#include "tests/large/exact_map.h"

using namespace attn;
using namespace attn::large;
using namespace attn::test;

namespace {

/// Every tile of every level is exact, and there are as many as the matrix needs.
void check_every_level(const std::shared_ptr<const MapInput>& input) {
    const ExactMap exact = exact_map(input->source);
    WeightMap map(input, {}, {});
    const Dimensions& size = input->source.size;
    for (int level = 0; level < level_count(size); ++level) {
        const auto snapshot = finished_snapshot(map, exactly(0.0, 0.0, static_cast<double>(size.tq),
                                                             static_cast<double>(size.tk), level));
        CHECK(snapshot->complete);
        CHECK(snapshot->tiles.size() == tiles_of_level(level, size).size());
        for (const auto& tile : snapshot->tiles) {
            CHECK(tile->id.level == level);
            CHECK(tile->origin == TileOrigin::exact);
            const std::string wrong = tile_mismatch(*tile, exact);
            CHECK_MESSAGE(wrong.empty(), wrong);
        }
    }
}

std::shared_ptr<const MapInput> given(Index tq, Index tk, Index d_k, AttentionSpec spec) {
    return std::make_shared<const MapInput>(
        MapInput{normal_source(tq, tk, d_k, std::move(spec)), {}, {}, {}});
}

}  // namespace

TEST_CASE("tiles of each level pool exact weights by mean, max and log-mean, whatever the mask") {
    check_every_level(planted({.tokens = 2048, .d_k = 32}));
    check_every_level(planted({.tokens = 1100, .d_k = 32, .causal = true}));
    AttentionSpec spec;
    spec.mask.window = 300;
    spec.mask.padding = {950};
    check_every_level(given(700, 1000, 24, spec));
    check_every_level(given(1300, 77, 16, {}));
    check_every_level(given(3, 5, 4, {}));
    check_every_level(given(1, 2000, 40, {}));
}

TEST_CASE("the value of a tile is that of its pooling, and NaN where masked") {
    Tile tile;
    tile.texels = {1, 2, {0.25F, 0.0F}, {0.5F, 0.0F}, {-2.0F, 0.0F}, {4, 0}};
    CHECK(tile.value(Pooling::mean, 0, 0) == 0.25F);
    CHECK(tile.value(Pooling::max, 0, 0) == 0.5F);
    CHECK(tile.value(Pooling::log_mean, 0, 0) == doctest::Approx(std::exp(-2.0)));
    CHECK(std::isnan(tile.value(Pooling::mean, 0, 1)));
}

TEST_CASE("levels reach from single cells to one tile") {
    const auto levels = [](Index tq, Index tk) { return level_count({.tq = tq, .tk = tk}); };
    CHECK(levels(1, 1) == 1);
    CHECK(levels(256, 256) == 1);
    CHECK(levels(257, 10) == 2);
    CHECK(levels(2048, 2048) == 4);
    CHECK(levels(1048576, 1048576) == 13);
}

TEST_CASE("tiles in view come from the middle outward, once each") {
    const Dimensions size{.tq = 4096, .tk = 4096};
    const MapView view{300.0, 900.0, 1000.0, 1200.0, 0};
    const auto tiles = tiles_in_view(view, 0, size);
    CHECK(tiles.size() == 5 * 6);
    CHECK(tiles.front() == TileId{0, 3, 5});
    CHECK(std::set<TileId>(tiles.begin(), tiles.end()).size() == tiles.size());
    CHECK(tiles_in_view({-500.0, -500.0, 400.0, 400.0, 0}, 0, size).empty());
    CHECK(tiles_in_view({4000.0, 4000.0, 400.0, 400.0, 0}, 0, size).size() == 1);
}

TEST_CASE("a view of too many tiles is answered by a coarser level") {
    const Dimensions size{.tq = 1048576, .tk = 1048576};
    CHECK(level_of({0.0, 0.0, 1048576.0, 1048576.0, 0}, size) == 8);
    CHECK(level_of({0.0, 0.0, 1000.0, 1000.0, 0}, size) == 0);
    CHECK(level_of({0.0, 0.0, 1000.0, 1000.0, 99}, size) == 12);
}
