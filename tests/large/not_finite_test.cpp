// What is NaN in a map is counted, and its first cell named, whatever hides it: pooling, sampling, a view elsewhere.
#include <doctest/doctest.h>

#include <cmath>

#include "core/large/cell_arithmetic.h"
#include "core/large/tile_grid.h"
#include "tests/large/exact_map.h"
#include "tests/support/inputs.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::large;
using namespace attn::test;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr Index kQueries = 300;
constexpr Index kKeys = 280;
constexpr Index kWidth = 8;

struct Entry {
    char operand;
    Index token;
    Index column;
    float value;
};

std::shared_ptr<const MapInput> with(const std::vector<Entry>& entries, AttentionSpec spec = {}) {
    auto input = std::make_shared<MapInput>();
    input->source = normal_source(kQueries, kKeys, kWidth, std::move(spec));
    Tensor q = *input->source.q, k = *input->source.k;
    for (const Entry& entry : entries)
        (entry.operand == 'q' ? q : k)(0, 0, entry.token, entry.column) = entry.value;
    input->source.q = std::make_shared<const Tensor>(std::move(q));
    input->source.k = std::make_shared<const Tensor>(std::move(k));
    return input;
}

/// NaN among the single cells that the map draws.
NanWeights drawn_nans(const MapSnapshot& snapshot, const CellBox& box) {
    NanWeights found;
    for (Index i = box.rows.begin; i < box.rows.end; ++i) {
        bool any = false;
        for (const auto& tile : snapshot.tiles) {
            const Index r = i - tile->id.first_row();
            if (r < 0 || r >= tile->texels.rows) continue;
            for (Index c = 0; c < tile->texels.columns; ++c) {
                const Index j = tile->id.first_column() + c;
                if (j < box.columns.begin || j >= box.columns.end) continue;
                if (!std::isnan(tile->texels.mean[tile->texels.at(r, c)])) continue;
                any = true;
                ++found.cells;
                if (!found.first || i < found.first->row ||
                    (i == found.first->row && j < found.first->column))
                    found.first = Cell{i, j};
            }
        }
        found.rows += any ? 1 : 0;
    }
    return found;
}

void check_same(const NanWeights& actual, const NanWeights& wanted) {
    CHECK(actual.rows == wanted.rows);
    CHECK(actual.cells == wanted.cells);
    CHECK(actual.first == wanted.first);
}

/// The map's counts are those of the cells that it draws, in the whole matrix and in a part of it.
void check_counts(const std::shared_ptr<const MapInput>& input) {
    WeightMap map(input, {}, {});
    const auto all = finished_snapshot(map, exactly(0.0, 0.0, kQueries, kKeys, 0));
    REQUIRE(all->not_finite.known);
    CHECK(all->not_finite.rows_unknown == 0);
    const NanWeights drawn = drawn_nans(*all, {{0, kQueries}, {0, kKeys}});
    check_same(all->not_finite.all, drawn);
    check_same(all->not_finite.in_view, drawn);
    const ViewRequest request = exactly(10.0, 35.0, 100.0, 120.0, 0);
    const auto part = finished_snapshot(map, request);
    check_same(part->not_finite.all, drawn);
    check_same(part->not_finite.in_view,
               drawn_nans(*part, cells_of(request.view, input->source.size)));
}

const std::vector<Entry> kEntries{{'q', 5, 1, kNan},  {'q', 17, 0, kInf}, {'q', 120, 4, -kInf},
                                  {'k', 40, 3, kNan}, {'k', 90, 2, kInf}, {'k', 7, 0, -kInf}};

}  // namespace

TEST_CASE("the NaN weights that are counted are those that are drawn, under every mask") {
    check_counts(with({}));
    check_counts(with(kEntries));
    check_counts(with(kEntries, causal_spec()));
    check_counts(with({{'k', 90, 2, kInf}}));
    check_counts(with({{'q', 12, 0, kNan}}));
    AttentionSpec window;
    window.mask.window = 20;
    window.mask.padding = {200};
    check_counts(with(kEntries, window));
    window.empty_rows = EmptyRows::nan;
    check_counts(with(kEntries, window));
    check_counts(with({}, window));
    AttentionSpec custom = causal_spec();
    Mask mask(Shape{1, 1, kQueries, kKeys});
    for (Index i = 0; i < kQueries; ++i)
        for (Index j = 0; j < kKeys; ++j) mask(0, 0, i, j) = (i + 2 * j) % 3 != 0 ? 1 : 0;
    custom.mask.custom = std::make_shared<const Mask>(std::move(mask));
    check_counts(with(kEntries, custom));
    AttentionSpec negative;
    negative.scale = ScaleKind::value;
    negative.scale_value = -0.5;
    check_counts(with(kEntries, negative));
}

TEST_CASE("a cap, a sink and global tokens: the NaN weights counted are those that are drawn") {
    AttentionSpec global;  // two runs of keys a query
    global.mask.window = 10;
    global.mask.global_tokens = 50;
    check_counts(with(kEntries, global));
    AttentionSpec capped = causal_spec();  // of ±inf it makes ±cap
    capped.softcap = 3.0;
    check_counts(with(kEntries, capped));
    capped.mask = global.mask;
    check_counts(with(kEntries, capped));
    const auto with_sink = [](const std::vector<Entry>& entries, double logit) {
        auto input = std::make_shared<MapInput>(*with(entries, causal_spec()));
        input->source.sinks = {logit};
        return input;
    };
    check_counts(with_sink(kEntries, 0.5));
    std::vector<Entry> lowest{{'q', 17, 0, kInf}};  // every score of query 17 is −inf
    for (Index t = 0; t < kKeys; ++t) lowest.push_back({'k', t, 0, -1.0F});
    check_counts(with(lowest));
    check_counts(with_sink(lowest, 0.5));
    CHECK(must(take_census(with(lowest)->source, {}, {})).rows[17] == RowFate::nan);
    CHECK(must(take_census(with_sink(lowest, 0.5)->source, {}, {})).rows[17] == RowFate::unknown);
    for (const float logit : {kNan, kInf}) check_counts(with_sink({}, static_cast<double>(logit)));
}

TEST_CASE("scores beyond a float are NaN once they are computed, and unknown before") {
    std::vector<Entry> huge;
    for (Index t = 0; t < kQueries; ++t) huge.push_back({'q', t, 2, t == 33 ? 1e30F : 0.0F});
    for (Index t = 0; t < kKeys; ++t) huge.push_back({'k', t, 2, t == 50 ? 1e30F : 0.0F});
    const auto census = must(take_census(with(huge)->source, {}, {}));
    CHECK(std::ranges::count(census.rows, RowFate::unknown) == kQueries);
    check_counts(with(huge));
}

TEST_CASE("operands that are not finite are counted, and the first named") {
    const auto input = with(kEntries);
    const auto census = must(take_census(input->source, {}, {}));
    CHECK(census.q.nans == 1);
    CHECK(census.q.infinities == 2);
    CHECK(census.q.first == Cell{5, 1});
    CHECK(std::isnan(census.q.first_value));
    CHECK(census.k.nans == 1);
    CHECK(census.k.infinities == 2);
    CHECK(census.k.first == Cell{7, 0});
    CHECK(census.k.first_value == -kInf);
    CHECK_FALSE(take_census(input->source, {}, stopped()));
}

TEST_CASE("a pooled, sampled view knows its NaN weights before any of them is drawn") {
    auto input = std::make_shared<MapInput>(*planted({.tokens = 8192, .d_k = 32}));
    Tensor q = *input->source.q;
    q(0, 0, 4321, 3) = kNan;
    input->source.q = std::make_shared<const Tensor>(std::move(q));
    WeightMap map(input, {}, {});
    ViewRequest request = exactly(0.0, 0.0, 8192.0, 8192.0, 5);
    request.full_pass = false;
    const auto snapshot = finished_snapshot(map, request);
    check_same(snapshot->not_finite.all, {1, 8192, Cell{4321, 0}});
    check_same(snapshot->not_finite.in_view, {1, 8192, Cell{4321, 0}});
    const auto elsewhere = finished_snapshot(map, exactly(0.0, 0.0, 100.0, 100.0, 0));
    CHECK_FALSE(elsewhere->not_finite.in_view.first);
    CHECK(elsewhere->not_finite.all.cells == 8192);
}

TEST_CASE("profiles leave rows of texels with NaN out and say how many queries that are") {
    const auto input = with({{'q', 8, 1, kNan}});
    WeightMap map(input, {}, {});
    for (const int level : {0, 1}) {
        const auto profiles =
            must(finished_snapshot(map, exactly(0.0, 0.0, kQueries, kKeys, level))->profiles);
        const Index side = Index{1} << level;
        CHECK(profiles.queries_left_out == side);
        CHECK(profiles.queries == kQueries - side);
        CHECK(profiles.keys == kKeys);
        CHECK(std::isnan(profiles.rows[8 / side]));
        double sum = 0.0;
        for (std::size_t n = 0; n < profiles.columns.size(); ++n)
            sum += profiles.columns[n] * static_cast<double>(side);
        CHECK(sum == doctest::Approx(1.0).epsilon(1e-4));  // each counted query gives 1 to all keys
    }
}

TEST_CASE("the arithmetic of a cell names the score that makes its row NaN") {
    const auto input = with({{'k', 40, 3, kNan}}, causal_spec());
    const CellArithmetic finite = cell_arithmetic(input->source, {}, {30, 10});
    CHECK(std::isfinite(finite.weight));
    CHECK_FALSE(finite.spoiling_key);
    const CellArithmetic spoilt = cell_arithmetic(input->source, {}, {50, 10});
    CHECK(std::isnan(spoilt.weight));
    CHECK(std::isfinite(spoilt.scaled));
    CHECK(spoilt.spoiling_key == 40);
    CHECK(cell_arithmetic(input->source, {}, {50, 60}).weight == 0.0);  // masked
    // +inf among the scores: NaN as in the map, and not exp(S - inf) = 0
    const auto infinite = with({{'q', 3, 0, kInf}});
    CHECK(std::isnan(cell_arithmetic(infinite->source, {}, {3, 0}).weight));
}

TEST_CASE("a search counts the NaN weights that it cannot rank") {
    const auto input = with({{'q', 8, 1, kNan}});
    WeightMap map(input, {}, {});
    ViewRequest request = exactly(0.0, 0.0, kQueries, kKeys, 0);
    request.search = Search{Search::Of::key, 5};
    const auto found = must(finished_snapshot(map, request)->search);
    CHECK(found.nans == 1);
    CHECK(found.first_nan == Cell{8, 5});
    CHECK(std::isnan(found.total));
}
