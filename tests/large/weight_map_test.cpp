#include <atomic>
#include <cmath>
#include <numeric>
#include <set>
#include <thread>

#include <doctest/doctest.h>

#include "core/io/npz.h"
#include "core/large/cell_arithmetic.h"
#include "core/large/map_input.h"
#include "core/large/pyramid.h"
#include "core/large/stored_strips.h"
#include "core/large/texel_rows.h"
#include "core/large/tile_grid.h"
#include "core/rng.h"
#include "core/threads.h"
#include "tests/large/exact_map.h"
#include "tests/support/no_threads.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::large;
using namespace attn::test;

namespace {

std::shared_ptr<const MapInput> tokens(Index count) {
    return planted({.tokens = count, .d_k = 32});
}

ViewRequest looking_at(double top, double left, double rows, double columns, int level) {
    ViewRequest request = exactly(top, left, rows, columns, level);
    request.full_pass = false;
    return request;
}

/// A different view each time, often beyond the matrix's edge.
ViewRequest random_request(Index count, std::uint64_t n) {
    const auto u = [&](std::uint64_t which) { return uniform(11, 8 * n + which); };
    const auto size = static_cast<double>(count);
    const int level = static_cast<int>(u(0) * 4.0);
    const double texels = 200.0 + 500.0 * u(1);
    const double cells = texels * static_cast<double>(Index{1} << level);
    ViewRequest request =
        looking_at(u(2) * size - cells / 2, u(3) * size - cells / 2, cells, cells, level);
    request.full_pass = u(4) < 0.5;
    request.moving = u(5) < 0.5;
    request.pooling = static_cast<Pooling>(static_cast<int>(u(6) * 3.0));
    if (u(7) < 0.3)
        request.search = Search{u(6) < 0.5 ? Search::Of::key : Search::Of::query,
                                static_cast<Index>(u(5) * size)};
    return request;
}

std::vector<WeightedCell> strongest(const ExactMap& exact, const CellBox& box, std::size_t count) {
    std::vector<WeightedCell> cells;
    for (Index i = box.rows.begin; i < box.rows.end; ++i)
        for (Index j = box.columns.begin; j < box.columns.end; ++j)
            cells.push_back({{i, j}, static_cast<float>(exact.weight(i, j))});
    const auto last = cells.begin() + static_cast<Index>(std::min(count, cells.size()));
    std::partial_sort(cells.begin(), last, cells.end(),
                      [](const auto& a, const auto& b) { return a.weight > b.weight; });
    cells.erase(last, cells.end());
    return cells;
}

/// The strongest cell of each row, the strongest rows first.
std::vector<WeightedCell> one_per_query(const ExactMap& exact, const CellBox& box,
                                        std::size_t count) {
    std::vector<WeightedCell> cells;
    for (Index i = box.rows.begin; i < box.rows.end; ++i)
        cells.push_back(strongest(exact, {{i, i + 1}, box.columns}, 1).front());
    std::ranges::sort(cells, std::greater{}, &WeightedCell::weight);
    cells.resize(std::min(count, cells.size()));
    return cells;
}

/// Cells of nearly equal weight may stand in either order.
void check_strongest(const std::vector<WeightedCell>& actual,
                     const std::vector<WeightedCell>& wanted, const ExactMap& exact) {
    REQUIRE(actual.size() == wanted.size());
    for (std::size_t n = 0; n < wanted.size(); ++n) {
        const double tolerance = exact.relative * static_cast<double>(wanted[n].weight);
        CHECK(std::abs(actual[n].weight - wanted[n].weight) <= tolerance);
        CHECK(std::abs(static_cast<double>(actual[n].weight) -
                       exact.weight(actual[n].cell.row, actual[n].cell.column)) <= tolerance);
    }
}

/// Memory of all visible tiles' numbers, to compare bit for bit.
std::vector<std::vector<float>> numbers(const MapSnapshot& snapshot) {
    std::vector<std::vector<float>> all;
    for (const auto& tile : snapshot.tiles) {
        all.push_back(tile->texels.mean);
        all.push_back(tile->texels.max);
        all.push_back(tile->texels.log_mean);
    }
    return all;
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr Index kLargeTokens = 8192;
#else
constexpr Index kLargeTokens = 262144;
#endif

}  // namespace

TEST_CASE("a map under a storm of requests ends with the exact tiles of the last") {
    constexpr Index kTokens = 2048;
    const auto input = tokens(kTokens);
    const ExactMap exact = exact_map(input->source);
    std::atomic<int> woken{0};
    WeightMap map(input, {}, [&] { ++woken; });
    for (std::uint64_t n = 0; n < 300; ++n) {
        map.want(random_request(kTokens, n));
        if (n % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(n % 80 / 10));
        if (const auto snapshot = map.snapshot())
            for (const auto& tile : snapshot->tiles) CHECK(tile->texels.columns > 0);
    }
    ViewRequest last = looking_at(700.0, 900.0, 600.0, 800.0, 0);
    last.search.reset();
    const auto snapshot = finished_snapshot(map, last);
    CHECK(snapshot->complete);
    for (const auto& tile : snapshot->tiles) {
        const std::string wrong = tile_mismatch(*tile, exact);
        CHECK_MESSAGE(wrong.empty(), wrong);
    }
    CHECK(woken > 0);
}

TEST_CASE("a map can go away in the middle of its work") {
    const auto input = tokens(20000);
    for (std::uint64_t n = 0; n < 6; ++n) {
        WeightMap map(input, {}, {});
        ViewRequest request = random_request(20000, n);
        request.full_pass = true;
        map.want(request);
        std::this_thread::sleep_for(std::chrono::milliseconds(10 * n));
    }
}

TEST_CASE("waiting for a map ends when the caller stops") {
    WeightMap map(tokens(30000), {}, {});
    map.want(exactly(0.0, 0.0, 30000.0, 30000.0, 7));
    CHECK_FALSE(map.wait_until_idle(stopped()));
}

TEST_CASE("a pass that is paused and resumed gives the numbers of one that is not") {
    constexpr Index kTokens = 6000;
    const auto input = tokens(kTokens);
    const ViewRequest corner = looking_at(0.0, 0.0, 50.0, 50.0, 0);
    const ViewRequest going = exactly(0.0, 0.0, 50.0, 50.0, 0);
    WeightMap straight(input, {}, {});
    CHECK(finished_snapshot(straight, going)->pass.rows_done == kTokens);
    WeightMap halting(input, {}, {});
    for (int n = 0; n < 20; ++n) {
        halting.want(n % 2 == 0 ? going : corner);
        std::this_thread::sleep_for(std::chrono::milliseconds(4));
    }
    const auto paused = finished_snapshot(halting, corner);
    CHECK_FALSE(paused->pass.running);
    CHECK(finished_snapshot(halting, going)->pass.rows_done == kTokens);
    for (const int level : {3, 4, 5}) {
        const ViewRequest all = looking_at(0.0, 0.0, kTokens, kTokens, level);
        const auto a = finished_snapshot(straight, all);
        const auto b = finished_snapshot(halting, all);
        CHECK(a->complete);
        CHECK(numbers(*a) == numbers(*b));
        CHECK(a->colors.low == b->colors.low);
        CHECK(a->colors.high == b->colors.high);
    }
}

TEST_CASE("strips that another program computed are read, and never those of another matrix") {
    const auto folder = std::filesystem::temp_directory_path() / "attnscope-strips-test";
    std::filesystem::remove_all(folder);
    MapInput input{normal_source(3001, 3001, 8), {}, {}, {}};
    input.source.spec.mask.causal = CausalAlign::top_left;
    CHECK(find_strips(folder, input.source).empty());
    const auto strips = strips_folder(folder, input.source);
    std::filesystem::create_directories(strips);
    const Pyramid pyramid(input.source, MapLimits{}.pyramid_bytes);
    const Index side = pyramid.block_side();
    for (Index s = 0; s < pyramid.strip_count(); ++s) {
        std::vector<Index> rows;
        for (Index i = pyramid.strip_rows(s).begin; i < pyramid.strip_rows(s).end; ++i)
            rows.push_back(i);
        PooledRows pooled;
        REQUIRE(pool_rows(input.source, {}, rows, side, side, {}, pooled));
        if (s == 0) pooled.texels.max[0] = 0.123F;  // as no weight is: it was read
        REQUIRE(write_strip(strip_file(strips, {}, s), pooled));
    }
    const auto whole = exactly(0, 0, 3001, 3001, pyramid.base_level());
    const auto texels = [&](const std::filesystem::path& from) {
        WeightMap map(
            std::make_shared<const MapInput>(input), {}, [] {}, from);
        const auto snapshot = finished_snapshot(map, whole);
        CHECK(snapshot->complete);
        CHECK(snapshot->pass.rows_done == 3001);
        for (const auto& tile : snapshot->tiles)
            if (tile->id == TileId{pyramid.base_level(), 0, 0}) return tile->texels;
        return Texels{};
    };
    const Texels computed = texels({});
    CHECK(find_strips(folder, input.source) == strips);
    Texels read = texels(folder);
    CHECK(read.max[0] == 0.123F);
    read.max[0] = computed.max[0];
    CHECK(read.max == computed.max);
    CHECK(read.mean == computed.mean);
    CHECK(read.allowed == computed.allowed);

    std::filesystem::resize_file(strip_file(strips, {}, 0), 200);  // damaged: computed again
    CHECK(texels(folder).max == computed.max);
    WeightSource other = input.source;
    other.spec.mask.window = 9;
    CHECK(find_strips(folder, other).empty());
    other = input.source;
    Tensor q = *other.q;
    q.data()[17] += 1.0F;
    other.q = std::make_shared<const Tensor>(std::move(q));
    CHECK(find_strips(folder, other).empty());
    std::filesystem::remove_all(folder);
}

TEST_CASE("a strip whose numbers are no weights or no counts is not read") {
    const auto file = std::filesystem::temp_directory_path() / "attnscope-damaged-strip.npz";
    WeightSource source = normal_source(601, 601, 8);
    source.spec.mask.causal = CausalAlign::top_left;
    const Pyramid pyramid(source, MapLimits{}.pyramid_bytes);
    std::vector<Index> rows(pyramid.strip_rows(0).end);
    std::iota(rows.begin(), rows.end(), Index{0});
    const Index side = pyramid.block_side();
    PooledRows whole;
    REQUIRE(pool_rows(source, {}, rows, side, side, {}, whole));
    PooledRows out;
    const auto is_read = [&] { return read_strip(file, pyramid, 0, source, out); };
    const auto written = [&](auto damage) {
        PooledRows pooled = whole;
        damage(pooled.texels);
        REQUIRE(write_strip(file, pooled));
        return is_read();
    };
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    CHECK(written([](Texels&) {}));
    CHECK(written([](Texels& texels) { texels.mean[3] = texels.max[3] = kNan; }));
    CHECK(!written([](Texels& texels) { texels.max[3] = 2.0F; }));
    CHECK(!written([](Texels& texels) { texels.mean[3] = -0.5F; }));
    CHECK(!written([](Texels& texels) { texels.log_mean[3] = 0.5F; }));
    CHECK(!written([&](Texels& texels) { texels.allowed[3] = pair_count(side * side) + 1; }));
    for (const float count : {kNan, 1e20F, -1.0F}) {
        REQUIRE(write_strip(file, whole));
        Npz read = must(read_npz(file));
        std::get<std::vector<float>>(read.arrays.at("allowed_high").values)[3] = count;
        std::vector<NpzEntry> entries;
        for (const auto& [name, array] : read.arrays)
            entries.push_back({name, array.extents, std::get<std::vector<float>>(array.values)});
        REQUIRE(write_npz(file, entries));
        CHECK(!is_read());
    }
    std::filesystem::remove(file);
}

TEST_CASE("the cache of tiles keeps its budget") {
    MapLimits limits;
    limits.tile_bytes = std::size_t{12} << 20;
    WeightMap map(tokens(4096), limits, {});
    for (int n = 0; n < 12; ++n) {
        const auto snapshot =
            finished_snapshot(map, looking_at(300.0 * n, 250.0 * n, 500.0, 500.0, 0));
        CHECK(snapshot->complete);
        CHECK(snapshot->tile_bytes <= limits.tile_bytes);
    }
}

TEST_CASE("the strongest cells of a view are those of all its cells") {
    const auto input = tokens(2048);
    const ExactMap exact = exact_map(input->source);
    WeightMap map(input, {}, {});
    for (const ViewRequest& request :
         {exactly(0.0, 0.0, 2048.0, 2048.0, 3), exactly(301.5, 77.25, 700.0, 611.0, 1),
          exactly(100.0, 1000.0, 8.0, 9.0, 0), exactly(1500.0, 20.0, 900.0, 130.0, 2)}) {
        const auto snapshot = finished_snapshot(map, request);
        const CellBox box = cells_of(request.view, input->source.size);
        check_strongest(snapshot->top, strongest(exact, box, MapLimits{}.top_cells), exact);
    }
}

TEST_CASE("the strongest cells leave out key 0, and all but one of a query, when told to") {
    const auto input = tokens(2048);  // with a sink: everything attends to key 0
    const ExactMap exact = exact_map(input->source);
    WeightMap map(input, {}, {});
    for (ViewRequest request :
         {exactly(0.0, 0.0, 2048.0, 2048.0, 3), exactly(301.5, 0.25, 700.0, 611.0, 1),
          exactly(0.0, 0.0, 40.0, 30.0, 0)}) {
        const CellBox box = cells_of(request.view, input->source.size);
        const CellBox without{box.rows, {1, box.columns.end}};
        request.top = {.skip_first_key = true};
        check_strongest(finished_snapshot(map, request)->top,
                        strongest(exact, without, MapLimits{}.top_cells), exact);
        request.top = {.skip_first_key = true, .one_per_query = true};
        check_strongest(finished_snapshot(map, request)->top,
                        one_per_query(exact, without, MapLimits{}.top_cells), exact);
        request.top = {.one_per_query = true};
        const auto top = finished_snapshot(map, request)->top;
        check_strongest(top, one_per_query(exact, box, MapLimits{}.top_cells), exact);
        std::set<Index> queries;
        for (const WeightedCell& each : top) CHECK(queries.insert(each.cell.row).second);
    }
}

TEST_CASE("searches find what attends to a key and what a query attends to") {
    const auto input = tokens(2048);
    const ExactMap exact = exact_map(input->source);
    WeightMap map(input, {}, {});
    ViewRequest request = looking_at(0.0, 0.0, 100.0, 100.0, 0);
    request.search = Search{Search::Of::query, 1234};
    const auto of_query = must(finished_snapshot(map, request)->search);
    CHECK(of_query.rows_missing == 0);
    CHECK(of_query.total == doctest::Approx(1.0).epsilon(1e-5));
    check_strongest(of_query.cells, strongest(exact, {{1234, 1235}, {0, 2048}}, 10), exact);

    request.search = Search{Search::Of::key, input->needle->column};
    const auto partial = must(finished_snapshot(map, request)->search);
    CHECK(partial.rows_missing > 0);
    request.full_pass = true;
    const auto of_key = must(finished_snapshot(map, request)->search);
    CHECK(of_key.rows_missing == 0);
    CHECK(of_key.cells.front().cell == *input->needle);
    const Index column = input->needle->column;
    check_strongest(of_key.cells, strongest(exact, {{0, 2048}, {column, column + 1}}, 10), exact);
    double total = 0.0;
    for (Index i = 0; i < 2048; ++i) total += exact.weight(i, column);
    CHECK(of_key.total == doctest::Approx(total).epsilon(exact.relative));
}

TEST_CASE("a column profile keeps its unit at every zoom: the mean weight of a key") {
    const auto input = tokens(2048);
    WeightMap map(input, {}, {});
    double before = 0.0;
    for (int level = 3; level >= 0; --level) {
        const auto profiles =
            must(finished_snapshot(map, exactly(0.0, 0.0, 2048.0, 2048.0, level))->profiles);
        CHECK(profiles.queries == 2048);
        CHECK(profiles.keys == 2048);
        const auto per_bar = static_cast<double>(profiles.side);
        double mean = 0.0;
        for (std::size_t n = 0; n < static_cast<std::size_t>(256 / profiles.side); ++n)
            mean += profiles.columns[n] * per_bar / 256.0;
        if (before != 0.0) CHECK(mean == doctest::Approx(before).epsilon(1e-4));
        before = mean;
    }
}

TEST_CASE("profiles are the means and sums along the edges of the view") {
    const auto input = tokens(2048);
    const ExactMap exact = exact_map(input->source);
    WeightMap map(input, {}, {});
    const auto all = finished_snapshot(map, exactly(0.0, 0.0, 2048.0, 2048.0, 3));
    REQUIRE(all->profiles.has_value());
    CHECK(all->profiles->side == 8);
    for (const double row : all->profiles->rows) CHECK(row == doctest::Approx(1.0).epsilon(1e-4));

    const auto part =
        must(finished_snapshot(map, exactly(512.0, 256.0, 300.0, 400.0, 1))->profiles);
    CHECK(part.first_row == 512);
    CHECK(part.first_column == 256);
    CHECK(part.rows.size() == 150);
    CHECK(part.columns.size() == 200);
    double first_row = 0.0;
    for (Index i = 512; i < 514; ++i)
        for (Index j = 256; j < 656; ++j) first_row += exact.weight(i, j) / 2.0;
    CHECK(part.rows.front() == doctest::Approx(first_row).epsilon(1e-4));
    double last_column = 0.0;
    for (Index i = 512; i < 812; ++i)
        for (Index j = 654; j < 656; ++j)
            last_column += exact.weight(i, j) / 600.0;  // a mean over keys too
    CHECK(part.columns.back() == doctest::Approx(last_column).epsilon(1e-4));
}

TEST_CASE("the colour range follows percentiles of the pooled weights in view") {
    const auto input = tokens(512);
    const ExactMap exact = exact_map(input->source);
    WeightMap map(input, {}, {});
    ViewRequest request = looking_at(0.0, 0.0, 200.0, 200.0, 0);
    request.low_percentile = 0.0;
    request.high_percentile = 100.0;
    const ColorStats colors = finished_snapshot(map, request)->colors;
    double low = 1.0;
    double high = 0.0;
    for (Index i = 0; i < 200; ++i)
        for (Index j = 0; j < 200; ++j) {
            low = std::min(low, exact.weight(i, j));
            high = std::max(high, exact.weight(i, j));
        }
    CHECK(colors.low == doctest::Approx(low).epsilon(exact.relative));
    CHECK(colors.high == doctest::Approx(high).epsilon(exact.relative));
}

TEST_CASE("another head is another map") {
    auto input = std::make_shared<MapInput>(*tokens(400));
    auto q = Tensor(Shape{1, 2, 400, 32});
    std::ranges::copy(input->source.q->values(), q.values().begin() + 400 * 32);
    input->source.q = std::make_shared<const Tensor>(std::move(q));
    input->source.size.heads = 2;
    WeightMap map(input, {}, {});
    ViewRequest request = exactly(0.0, 0.0, 400.0, 400.0, 1);
    const auto even = finished_snapshot(map, request);
    for (const auto& tile : even->tiles)
        CHECK(tile_mismatch(*tile, exact_map(input->source, {0, 0})).empty());
    CHECK(even->tiles.front()->texels.mean.front() == doctest::Approx(1.0 / 400.0));
    request.head = {0, 1};
    const auto other = finished_snapshot(map, request);
    for (const auto& tile : other->tiles)
        CHECK(tile_mismatch(*tile, exact_map(input->source, {0, 1})).empty());
}

TEST_CASE("single cells of a very long input are exact without the whole pass") {
    const auto input = tokens(kLargeTokens);
    WeightMap map(input, {}, {});
    const Cell needle = *input->needle;
    const auto snapshot = finished_snapshot(
        map, looking_at(static_cast<double>(needle.row) - 100.0,
                        static_cast<double>(needle.column) - 100.0, 200.0, 200.0, 0));
    CHECK(snapshot->complete);
    CHECK(snapshot->pass.rows_done < kLargeTokens / 8 + 2000);
    REQUIRE_FALSE(snapshot->top.empty());
    CHECK(snapshot->top.front().cell == needle);
    const double most_of_scores = 60.0;
    const double relative = 0x1.0p-24 * (2.0 + 2.0 * std::sqrt(32.0)) * 2.0 * most_of_scores;
    for (const WeightedCell& cell : snapshot->top)
        CHECK(static_cast<double>(cell.weight) ==
              doctest::Approx(cell_arithmetic(input->source, {}, cell.cell).weight)
                  .epsilon(relative));
}

#ifdef __GLIBC__
TEST_CASE("without a thread a map goes on in the caller's pieces, and a measurement does too") {
    const auto input = tokens(256);
    WeightMap threads(input, {}, [] {});
    const auto expected = finished_snapshot(threads, exactly(0.0, 0.0, 256, 256, 0));
    REQUIRE_FALSE(expected->top.empty());
    {
        const test::NoThreads none;
        WeightMap map(input, {}, [] {});
        CHECK_FALSE(map.work(0.0));
        map.want(expected->request);
        CHECK(map.work(0.0));
        CHECK_FALSE(map.snapshot());
        while (map.work(1e-6)) {
        }
        REQUIRE(map.snapshot());
        REQUIRE(map.snapshot()->top.size() == expected->top.size());
        CHECK(map.snapshot()->complete);
        CHECK_FALSE(map.snapshot()->working);
        CHECK(map.snapshot()->top.front().weight == expected->top.front().weight);
        CHECK(map.wait_until_idle());
        int calls = 0;
        CHECK(run_at_once(4, [&](int) { ++calls; }) == 1);
        CHECK(calls == 1);
    }
    CHECK(run_at_once(2, [](int) {}) == 2);
    std::atomic<int> ended = 0;
    const auto throws = [&](int n) {
        if (n == 1) throw bad_input("of one thread");
        ++ended;
    };
    CHECK_THROWS_WITH_AS(run_at_once(3, throws), "of one thread", Failure);
    CHECK(ended == 2);
    CHECK(run_at_once(0, [](int) {}) == 0);
}
#endif
