// Matrices in memory as maps: what a texel of several cells shows, and what is kept of the view.

#include "app/common/document/document.h"
#include "app/common/workspace.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/shown.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/kinds/view.h"
#include "app/workspaces/masks/actions.h"
#include "app/workspaces/masks/long.h"
#include "app/workspaces/masks/view.h"
#include "core/engine.h"
#include "core/heads/all.h"
#include "tests/view/view_test.h"
#include "tests/view/waves.h"

using namespace attn::view;

namespace {

/// 256 × 256 numbers of which cell (i, j) has one; the canvas shows four cells a pixel.
MapCellsPtr sample_cells(std::vector<std::pair<large::Cell, float>> numbers, MapCells cells) {
    std::vector<float> values(256 * 256, 0.0F);
    for (const auto& [at, value] : numbers) values[at.row * 256 + at.column] = value;
    return make_cells(std::move(cells), std::move(values), 256);
}

AppState small_canvas() { return after(state_with(256), {SetMapCanvas{{64.0, 64.0}}, FitMap{}}); }

Color pooled_texel(const AppState& state, const MapCellsPtr& cells, std::size_t row,
                   std::size_t column) {
    const MapView view = cells_view(state, cells, {{-1, -1}});
    REQUIRE(view.pictures.size() == 1);
    const Image image = view.pictures[0].paint();
    REQUIRE(image.width == 64);
    return pixel_at(image, row * 64 + column);
}

}  // namespace

TEST_CASE("a texel of 4 × 4 cells has their largest number by size; NaN is never hidden") {
    const AppState state = small_canvas();
    const ColorRange sign{ColorScale::diverging, -2.0, 2.0};
    const auto cells = sample_cells({{{1, 2}, 1.0F}, {{3, 3}, -2.0F}, {{9, 9}, NAN}},
                                    {.title = "t", .noun = "number", .range = sign});
    CHECK(pooled_texel(state, cells, 0, 0) == color_of(sign, -2.0, state.theme));
    CHECK(pooled_texel(state, cells, 0, 1) == color_of(sign, 0.0, state.theme));
    CHECK(pooled_texel(state, cells, 2, 2) == theme(state.theme).nan);
    CHECK(cells->nans == 1);
    const MapView view = cells_view(state, cells, {{3, 3}});
    CHECK(view.legend.title == "largest number of 4 × 4 cells, by size");
    CHECK(view.legend.nan == "1 NaN");
    CHECK(view.flawed);
    const AppState over = after(state, {HoverMapCell{large::Cell{3, 3}}});
    CHECK(cells_view(over, cells, {{3, 3}}).hover_text ==
          "query 3 → key 3: number " + number(-2.0));
}

TEST_CASE("masked cells count only where all of a texel are; a mask's texel is open where one is") {
    const AppState state = small_canvas();
    std::vector<std::uint8_t> masked(256 * 256, 1);
    masked[0] = 0;
    const ColorRange unit{ColorScale::unit, 0.0, 1.0};
    auto cells = sample_cells({{{0, 0}, 0.5F}, {{0, 1}, 0.9F}},
                              {.title = "t", .noun = "weight", .masked = masked, .range = unit});
    CHECK(pooled_texel(state, cells, 0, 0) == color_of(unit, 0.5, state.theme));
    CHECK(pooled_texel(state, cells, 0, 1) == theme(state.theme).masked);
    cells = sample_cells({{{0, 0}, 1.0F}}, {.title = "mask", .masked = masked, .support = true});
    CHECK(pooled_texel(state, cells, 0, 0) == support_color(true, false, state.theme));
    CHECK(pooled_texel(state, cells, 0, 1) == support_color(false, false, state.theme));
}

TEST_CASE("two matrices that differ in one number have other pictures, equal ones the same") {
    const AppState state = small_canvas();
    const MapCells plain{.title = "t", .noun = "number"};
    const auto key = [&](const MapCellsPtr& cells) {
        return cells_view(state, cells, {{-1, -1}}).pictures[0].content_key;
    };
    const auto one = sample_cells({{{5, 5}, 1.0F}}, plain);
    CHECK(key(one) == key(sample_cells({{{5, 5}, 1.0F}}, plain)));
    CHECK(key(one) != key(sample_cells({{{5, 5}, 1.5F}}, plain)));
    MapCells other = plain;
    other.range.high = 3.0;
    CHECK(key(one) != key(sample_cells({{{5, 5}, 1.0F}}, other)));
}

TEST_CASE("what is selected has its number on both rulers at any size; others come with room") {
    AppState state = small_canvas();
    const auto cells = sample_cells({{{200, 100}, 0.25F}}, {.title = "t", .noun = "weight"});
    const auto chosen = [](const std::vector<RulerMark>& marks) {
        std::string labels;
        for (const RulerMark& mark : marks) labels += mark.chosen ? mark.label : "";
        return labels;
    };
    MapView view = cells_view(state, cells, {{200, 100}});
    CHECK(chosen(view.row_ruler) == "200");
    CHECK(chosen(view.column_ruler) == "100");
    CHECK(view.figures.empty());
    state = after(std::move(state), {GoToCell{{200, 100}}});
    view = cells_view(state, cells, {{200, 100}});
    const auto found = std::ranges::find(view.figures, "0.25", &MapFigure::text);
    CHECK(found != view.figures.end());
}

TEST_CASE("the camera of a map is kept by a session and goes from one workspace to another") {
    AppState state = after(state_with(200), {SetWorkspace{"masks"}, GoToCell{{150, 100}}});
    const MapCamera camera = map_look(state).camera;
    for (const char* const workspace : {"heads", "kinds", "step"}) {
        state = after(std::move(state), {SetWorkspace{workspace}});
        CHECK(map_look(state).camera == camera);
        CHECK_FALSE(map_look(state).fitted);
    }
}

TEST_CASE("64 tokens are grids, 65 are maps: nothing of a map is made for the former") {
    for (const Index tokens : {64, 65}) {
        CAPTURE(tokens);
        const bool maps = tokens > 64;
        AppState state = after(state_with(tokens), {SetWorkspace{"masks"}});
        CHECK(build_masks_view(state).maps.size() == (maps ? 3 : 0));
        CHECK(build_masks_view(state).grids.size() == (maps ? 0 : 3));
        state = after(std::move(state), {ShowMasksTab{MasksTab::conventions}});
        CHECK(build_masks_view(state).maps.size() == (maps ? 3 : 0));
        state = after(std::move(state), {SetWorkspace{"heads"}});
        CHECK((heads_look(state).maps && !heads_look(state).maps->cells.empty()) == maps);
        state = after(std::move(state), {SetWorkspace{"kinds"}});
        CHECK(kinds_look(state).maps.size() == (maps ? 3 : 0));
        CHECK(build_kinds_view(state).difference.has_value() == !maps);
    }
}

TEST_CASE("the map of several heads has the mean of their weights in every cell") {
    constexpr Index kTokens = 65;
    Inputs inputs;
    for (const auto& [to, pace] :
         {std::pair{&Inputs::q, 0.37}, {&Inputs::k, 0.53}, {&Inputs::v, 0.71}}) {
        const Tensor both = waves(2 * kTokens, pace);
        inputs.*to = Tensor({1, 2, kTokens, 8}, {both.values().begin(), both.values().end()});
    }
    Document document = document_of({std::make_shared<const Inputs>(std::move(inputs))});
    document.spec.heads = document.spec.kv_heads = document.heads = 2;
    document.spec.mask.causal = CausalAlign::top_left;
    const AppState state =
        after(state_of(std::move(document)).value(), {SetWorkspace{"heads"}, SetHeadsOf{"layer"}});
    const HeadsLook& look = heads_look(state);
    REQUIRE(look.maps);
    REQUIRE(look.maps->cells.size() == 1);
    const MapCells& cells = *look.maps->cells[0];
    CHECK(cells.title == "mean of 2 heads of layer 0");
    for (const auto [i, j] : each_cell(kTokens, kTokens)) {
        const double mean = (double{look.result->weights({0, 0})(i, j)} +
                             double{look.result->weights({0, 1})(i, j)}) /
                            2.0;
        REQUIRE(cells.values(i, j) == static_cast<float>(mean));
        REQUIRE(cells.is_masked(i, j) == (j > i));
    }
}

TEST_CASE("scores of 300 tokens are a job's and stay with a mask set; weights are the engine's") {
    const auto of_two = [](double pace) {
        Tensor both(Shape{1, 2, 300, 8});
        for (Index h = 0; h < 2; ++h)
            std::ranges::copy(waves(300, pace + static_cast<double>(h)).values(),
                              both.matrix(0, h).data);
        return both;
    };
    for (const bool sink : {false, true}) {
        Inputs inputs;
        inputs.q = of_two(0.37);
        inputs.k = of_two(0.53);
        inputs.v = of_two(0.71);
        inputs.k(0, 1, 290, 0) = NAN;
        if (sink) inputs.params[Param::sinks] = Tensor(Shape{1, 1, 1, 2}, 0.5F);
        Document document = document_of({std::make_shared<const Inputs>(inputs)});
        document.spec.alibi = true;
        document.spec.mask.causal = CausalAlign::top_left;
        AppState state =
            after(state_of(std::move(document)).value(), {ShowHead{1, 0}, SetWorkspace{"masks"}});
        CHECK(build_masks_view(state).maps.size() == 1);
        CHECK(has(build_masks_view(state).unavailable, "still being computed"));
        const auto request = requested_mask_scores(state);
        REQUIRE(request);
        const Action late = run(*request, {});
        CHECK(requested_mask_scores(after(state, {SetScaling{false}, late})));
        state = after(
            std::move(state),
            {late, PaintMask{5, 0, 5, 299, PaintShape::rectangle, false}, SetEmptyRows{true}});
        CHECK_FALSE(requested_mask_scores(state));
        REQUIRE(build_masks_view(state).maps.size() == 3);
        const Trace engine = attend(inputs, state.document().spec).value();
        Index others = 0;
        for (const Stage stage : {Stage::masked, Stage::weights}) {
            const auto found = masks_values(state, stage);
            for (const auto [i, j] : each_cell(300, 300)) {
                const float expected = engine[stage](0, 1, i, j);
                const bool same = found(i, j) == expected ||
                                  std::abs(found(i, j) - expected) < 1e-5F ||
                                  (std::isnan(found(i, j)) && std::isnan(expected));
                others += same ? 0 : 1;
            }
        }
        CHECK(others == 0);
        state = after(std::move(state), {ShowMasksTab{MasksTab::conventions}});
        CHECK(build_masks_view(state).maps.size() == 3);
        CHECK_FALSE(requested_mask_scores(state));
    }
}

TEST_CASE("two kinds of 300 tokens are a job's; a late answer of other settings is dropped") {
    AppState state = after(state_with(300), {SetWorkspace{"kinds"}});
    CHECK(build_kinds_view(state).sentence == "Computing.");
    CHECK(build_kinds_view(state).b.side == KindsSide::b);  // its settings are there meanwhile
    CHECK(build_kinds_view(state).b.letter == "B");
    CHECK(build_kinds_view(state).pairs.size() > 1);
    const auto request = requested_kinds(state);
    REQUIRE(request);
    const Action late = run(*request, {});
    AppState other = after(state, {SetKind{KindsSide::a, "temperature", "2"}, late});
    CHECK_FALSE(kinds_look(other).result);
    state = after(std::move(state), {late});
    CHECK(kinds_look(state).maps.size() == 3);
    CHECK_FALSE(requested_kinds(state));
    CHECK(shown_workspace(state).is_idle(state));
}
