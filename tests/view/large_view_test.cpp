// The Large workspace as data: colours, pictures, words, lists, the arithmetic of a cell.

#include <set>

#include "app/common/document/intervention_effects.h"
#include "app/common/map/colors.h"
#include "app/common/map/map_cell.h"
#include "app/common/map/pictures.h"
#include "app/common/map/text.h"
#include "app/common/number_style.h"
#include "core/large/tiles.h"
#include "core/train/run.h"
#include "tests/view/large_sample.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

large::Tile tile_of(std::vector<float> weights, large::TileOrigin origin) {
    large::Tile tile;
    tile.origin = origin;
    tile.texels.rows = 1;
    tile.texels.columns = static_cast<Index>(weights.size());
    tile.texels.mean = tile.texels.max = tile.texels.log_mean = weights;
    for (float& weight : tile.texels.log_mean) weight = std::log(weight);
    return tile;
}

}  // namespace

TEST_CASE("a range of colours is rounded outwards and keeps still") {
    CHECK(weight_range(3e-5, 0.02, true) == weight_range(2.9e-5, 0.021, true));
    CHECK(weight_range(3e-5, 0.02, true).high == doctest::Approx(std::pow(10.0, -1.5)));
    CHECK(weight_range(3e-5, 0.02, true).low == doctest::Approx(1e-5).scale(0.0));
    CHECK(weight_range(0.0, 0.02, false) == WeightRange{0.0, 0.02, false});
    CHECK(weight_range(0.0, 0.021, false).high == doctest::Approx(0.05));
    CHECK(weight_range(0.5, 0.5, true).low < weight_range(0.5, 0.5, true).high);
    CHECK(weight_range(0.0, 1.0, true).low == doctest::Approx(1e-8).scale(0.0));
    for (const double bad : {0.0, -1.0, HUGE_VAL, std::nan("")})
        for (const bool log_scale : {true, false})
            CHECK(weight_range(bad, bad, log_scale).high == 1.0);
}

TEST_CASE("larger weights are never closer to the low end; what is no weight looks like itself") {
    for (const bool log_scale : {true, false})
        for (const ThemeName name : {ThemeName::dark, ThemeName::light}) {
            const WeightRange range = weight_range(1e-5, 0.5, log_scale);
            const WeightPalette palette(range, name, false);
            const auto ramp = weight_ramp(name, false, 256);
            const auto place = [&](float weight) {
                return std::ranges::find(ramp, palette.color(weight)) - ramp.begin();
            };
            std::ptrdiff_t before = 0;
            for (float weight = 1e-7F; weight < 2.0F; weight *= 1.01F) {
                const auto now = place(weight);
                CHECK(now < 256);
                CHECK(now >= before - 3);  // equal colours of a ramp are found at the first of them
                before = now;
            }
            CHECK(palette.color(0.0F) == ramp.front());
            CHECK(palette.color(HUGE_VALF) == ramp.back());
            CHECK(palette.color(std::nanf("")) == theme(name).nan);
            CHECK(palette.color(-std::nanf("")) == theme(name).nan);
        }
}

TEST_CASE("masked, NaN, zero and an estimate are different pixels") {
    const WeightRange range{1e-4, 1.0, true};
    large::Tile tile = tile_of({0.0F, 0.5F, std::nanf(""), 0.0F}, large::TileOrigin::exact);
    tile.texels.allowed = {1, 1, 1, 0};
    tile.texels.max[3] = -HUGE_VALF;
    for (const ThemeName name : {ThemeName::dark, ThemeName::light})
        for (const auto pooling :
             {large::Pooling::mean, large::Pooling::max, large::Pooling::log_mean}) {
            const Image image = paint_tile(tile, pooling, range, name);
            REQUIRE(image.width == 4);
            CHECK(pixel_at(image, 2) == theme(name).nan);
            CHECK(pixel_at(image, 3) == theme(name).masked);
            std::set<std::array<std::uint8_t, 3>> colors;
            for (std::size_t n = 0; n < 4; ++n)
                colors.insert({pixel_at(image, n).r, pixel_at(image, n).g, pixel_at(image, n).b});
            CHECK(colors.size() == 4);
            large::Tile sampled = tile;
            sampled.origin = large::TileOrigin::sampled;
            CHECK_FALSE(pixel_at(paint_tile(sampled, pooling, range, name), 1) ==
                        pixel_at(image, 1));
        }
}

TEST_CASE("the legend names the pooling, the range and the mask; words and numbers of the map") {
    const AppState state = planted_state();
    const MapLegend legend =
        map_legend({1e-5, 1e-2, true}, map_look(state).colors, 64, true, ThemeName::dark);
    CHECK(legend.title == "largest weight of 64 × 64 cells");
    REQUIRE(legend.ticks.size() == 4);
    CHECK(legend.ticks[0].label == "10⁻⁵");
    CHECK(legend.ticks[3].at == doctest::Approx(1.0));
    CHECK(legend.masked == "masked");
    CHECK(has(legend.note, "percentiles 1 % to 99.9 % of the view"));
    CHECK(map_legend({0.0, 1.0, false}, {}, 1, false, ThemeName::dark).title == "weight");
    CHECK(grouped(0) == "0");
    CHECK(grouped(1048576) == "1,048,576");
    CHECK(grouped(-1000) == "−1,000");
    CHECK(short_weight(0.0) == "0");
    CHECK(short_weight(0.25) == "0.250");
    CHECK(short_weight(0.0099) == "0.0099");
    CHECK(short_weight(1.24e-5) == "1·10⁻⁵");
    CHECK(short_weight(9.97e-5) == "0.0001");
    CHECK(duration(11.4) == "11 s");
    CHECK(duration(125.0) == "2 min 5 s");
    CHECK(duration(780.0) == "13 min");
    CHECK(duration(4800.0) == "1 h 20 min");
    CHECK(bytes_text(64.0 * (1 << 20)) == "64 MiB");
    std::set<std::string> tokens;
    for (std::uint32_t id = 0; id < 20000; ++id) tokens.insert(token_word(id));
    CHECK(tokens.size() == 20000);
    CHECK(token_word(0) == "ba");
}

TEST_CASE("before the matrix is there the view says what is being done") {
    const AppState none = after(empty_state(), {SetWorkspace{"large"}});
    CHECK(build_large_view(none).empty);
    CHECK(has(build_large_view(none).hint, "Ctrl+O"));
    CHECK_FALSE(requested_map_input(none));
    CHECK_FALSE(requested_map(none));
    CHECK_FALSE(requested_map_input(initial_state()));  // another workspace is shown
    CHECK_FALSE(requested_map(initial_state()));
    const AppState opening = after(initial_state(), {SetWorkspace{"large"}});
    CHECK(build_large_view(opening).loading);
    CHECK_FALSE(build_large_view(opening).empty);
    CHECK(has(build_large_view(opening).hint, "queries and keys"));
    CHECK(requested_map_input(opening)->document == opening.shared_document());
    const AppState fault = after(
        opening, {MapInputReady{opening.shared_document(), nullptr, "x.npz: there is no array Q"}});
    CHECK(build_large_view(fault).empty);
    CHECK_FALSE(build_large_view(fault).loading);
    CHECK(has(build_large_view(fault).fault, "no array Q"));
    CHECK(fault.message.severity == Severity::error);
    CHECK_FALSE(requested_map_input(fault));
}

TEST_CASE("a generated matrix that is opened is shown here, and asked for by its size and seed") {
    const AppState opening = after(initial_state(), {OpenPlanted{{.tokens = 1024, .seed = 7}}});
    CHECK(opening.workspace == "step");
    CHECK(has(opening.message.text, "1024 tokens, seed 7"));
    const AppState state = opened_state({.tokens = 1024, .seed = 7});
    CHECK(state.workspace == "large");
    CHECK_FALSE(requested_document(state));
    const LargeView view = build_large_view(state);
    CHECK(view.loading);
    CHECK_FALSE(view.empty);
    CHECK(view.draft == large::PlantedSpec{.tokens = 1024, .seed = 7});
    CHECK(view.has_needle);
    CHECK(has(view.title, "1,024 × 1,024"));
    CHECK(has(view.title, "seed 7"));
}

TEST_CASE("a settled view is covered by tiles, and exact; what is kept is said where it is less") {
    const AppState state = idle_state(planted_state());
    const LargeView view = build_large_view(state);
    CHECK(view.quality == "exact");
    CHECK_FALSE(view.sampled);
    CHECK(has(view.title, "1,024 × 1,024, d_k 64, generated, seed 1"));
    REQUIRE_FALSE(view.top.empty());
    const bool alone = view.top.size() == 1 || view.top[1].weight != view.top[0].weight;
    CHECK(view.point.empty() == !alone);
    const LargeView keys_apart =
        build_large_view(idle_state(after(state, {SetTopCells{{true, true}}})));
    CHECK(has(keys_apart.point, "The largest weight in view without key 0 is " +
                                    keys_apart.top[0].weight + ": " + keys_apart.top[0].text));
    REQUIRE_FALSE(view.pictures.empty());
    std::set<std::uint64_t> keys;
    for (const MapPicture& picture : view.pictures) {
        const Image image = picture.paint();
        CHECK(image.rgba.size() == static_cast<std::size_t>(4 * image.width * image.height));
        keys.insert(picture.content_key);
    }
    CHECK(keys.size() == view.pictures.size());
    CHECK(build_large_view(state).pictures[0].content_key == view.pictures[0].content_key);
    const AppState light = after(state, {SetTheme{ThemeName::light}});
    CHECK(build_large_view(light).pictures[0].content_key != view.pictures[0].content_key);
    CHECK(view.minimap.picture);
    CHECK(view.figures.empty());
    CHECK(view.row_profile);
    CHECK(has(view.pass.text, "exact overview"));
    CHECK(view.pass.fraction == 1.0);
    CHECK_FALSE(view.top.empty());
    const std::string text =
        build_large_view(idle_state(planted_state({.tokens = 4096}))).bottom_line;
    CAPTURE(text);
    CHECK(text.starts_with("stored: "));
    CHECK(has(text, " of 64 MiB (Q and K "));
    CHECK(has(text, "instead of 16,777,216 float32 weights"));
    CHECK(build_large_view(idle_state(planted_state({.tokens = 256}))).bottom_line.empty());
}

TEST_CASE("close by, cells have their numbers, and the selected one its whole arithmetic") {
    AppState state = idle_state(planted_state(), {GoToNeedle{}});
    LargeView view = build_large_view(state);
    REQUIRE_FALSE(view.figures.empty());
    CHECK(view.marks.size() == 1);
    CHECK(view.zoom_text == "1 cell = 48 px");
    CHECK(has(view.inspector.hint, "Computing"));
    const large::Cell needle = *map_look(state).selected;
    const auto answer = *run(*requested_map_cell(state), {}).as<MapCellReady>();
    const auto cell = answer.cell;
    REQUIRE(cell);
    CHECK(cell->cell == needle);
    CHECK(cell->arithmetic.weight ==
          large::cell_arithmetic(map_look(state).input->source, {}, needle).weight);
    state = after(std::move(state), {answer, HoverMapCell{needle}});
    view = build_large_view(state);
    CHECK(has(view.inspector.title, " → "));
    REQUIRE(view.inspector.lines.size() == 8);
    std::string line;
    for (const Piece& piece : view.inspector.lines[4].pieces) line += piece.text;
    CHECK(has(line, "the 58 smaller terms"));
    CHECK(has(view.inspector.as_python, "print(np.exp(q @ k * 0.125 - logsumexp))"));
    CHECK(has(view.inspector.as_latex, "\\exp("));
    CHECK(has(view.inspector.as_text, "S - L"));
    CHECK(has(view.hover_text, "query "));
    // what stands in the cell is what the arithmetic gives
    CHECK(middle_figure(view).text == without_leading_zero(short_weight(cell->arithmetic.weight)));
    const AppState copied = after(state, {CopyArithmetic{CopyAs::python}});
    CHECK(copied.effects.clipboard == view.inspector.as_python);
}

TEST_CASE("a masked cell says so and has no number") {
    AppState state = planted_state({.tokens = 512, .causal = true});
    state = idle_state(std::move(state), {GoToCell{{5, 9}}});
    const Action answer = run(*requested_map_cell(state), {});
    state = after(std::move(state), {answer, HoverMapCell{{{5, 9}}}});
    const LargeView view = build_large_view(state);
    CHECK(view.inspector.value == "0.00");
    CHECK(has(view.inspector.lines.back().pieces[0].text, "The mask forbids this pair"));
    CHECK(has(view.hover_text, "masked"));
    CHECK(view.legend.masked == "masked");
}

TEST_CASE("a search lists the strongest cells of a column") {
    using Of = large::Search::Of;
    const AppState state = idle_state(planted_state(), {SearchMap{large::Search{Of::key, 0}}});
    const LargeView view = build_large_view(state);
    CHECK(has(view.found_title, "Queries that attend to key 0: Σ of the column = "));
    REQUIRE_FALSE(view.found.empty());
    CHECK(view.found[0].cell.column == 0);
    const AppState refused = after(state, {SearchMap{large::Search{Of::query, 1024}}});
    CHECK(map_look(refused).search == map_look(state).search);
}

TEST_CASE("the needle has a mark while some of its cell is on the canvas") {
    const AppState state = idle_state(planted_state(), {GoToNeedle{}});
    REQUIRE(map_look(state).input->needle);
    const auto marks_at = [&](double first_column) {  // of the canvas: 1000 pixels, 1/64 cell each
        AppState moved = state;
        map_look(moved).fitted = false;
        map_look(moved).camera.cells_per_unit = 1.0 / 64.0;
        map_look(moved).camera.column = first_column + 500.0 / 64.0;
        return build_large_view(moved).marks.size();
    };
    const auto needle = static_cast<double>(map_look(state).input->needle->column);
    CHECK(marks_at(needle) == 1);
    CHECK(marks_at(needle + 63.0 / 64.0) == 1);
    CHECK(marks_at(needle + 1.0) == 0);
    CHECK(marks_at(needle - 1000.0 / 64.0 + 1.0 / 64.0) == 1);
    CHECK(marks_at(needle - 1000.0 / 64.0) == 0);
}
