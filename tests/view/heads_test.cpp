// The small pictures of all heads.

#include "app/workspaces/step/heads.h"

#include <set>

#include "app/workspaces/step/grids.h"
#include "app/workspaces/step/view_parts.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

AppState with_heads(Index heads, Stage stage) {
    return after(initial_state(), {SetHeads{heads}, GoToStage{stage}});
}

Color pixel(const Image& image, Index row, Index column) {
    const auto n = static_cast<std::size_t>(4 * (row * image.width + column));
    return {image.rgba[n], image.rgba[n + 1], image.rgba[n + 2], image.rgba[n + 3]};
}

}  // namespace

TEST_CASE("a single head has no pictures; pictures outlive the state that they are of") {
    CHECK(build_heads_view(initial_state()).heads.empty());
    Picture picture;
    {
        const AppState state = with_heads(2, Stage::weights);
        picture = build_heads_view(state).heads[0].picture;
    }
    CHECK(picture.paint().width == 4);
}

TEST_CASE("each picture has the colours that the canvas gives that head, by row too") {
    for (const Stage stage :
         {Stage::q, Stage::scores, Stage::masked, Stage::weights, Stage::context}) {
        AppState state =
            after(with_heads(3, stage), {SetCausal{true}, SetCell{{Stage::x, 1, 0}, std::nan("")}});
        const HeadsView view = build_heads_view(state);
        REQUIRE(view.heads.size() == 3);
        for (const HeadPicture& head : view.heads) {
            const Image image = head.picture.paint();
            view::apply(state, ShowHead{head.head});
            const GridView grid = stage_grid(state, stage);
            REQUIRE(Index{image.width} == grid.columns);
            REQUIRE(Index{image.height} == grid.rows);
            for (const auto [i, j] : each_cell(grid))
                CHECK(pixel(image, i, j) == grid.at(i, j).fill);
        }
    }
    for (const Stage stage : {Stage::scaled, Stage::weights, Stage::context}) {
        const AppState values = after(with_heads(2, stage), {SetCausal{true}, ScaleRows{true}});
        const AppState state = after(values, {ShowGradients{true}, ShowHead{1}});
        const HeadPicture head = build_heads_view(state).heads[1];
        CHECK(head.picture.key != build_heads_view(values).heads[1].picture.key);
        CHECK(head.tooltip.starts_with("largest magnitude in ∂L/∂"));
        const Image image = head.picture.paint();
        const GridView grid = gradient_grid(state, stage);
        for (const auto [i, j] : each_cell(grid)) CHECK(pixel(image, i, j) == grid.at(i, j).fill);
    }
    const AppState plain = with_heads(2, Stage::weights);
    const AppState state = after(plain, {ScaleRows{true}, ShowHead{1}});
    const HeadPicture head = build_heads_view(state).heads[1];
    CHECK(head.picture.key != build_heads_view(plain).heads[1].picture.key);
    const GridView grid = stage_grid(state, Stage::weights);
    const Image image = head.picture.paint();
    for (const auto [i, j] : each_cell(grid)) CHECK(pixel(image, i, j) == grid.at(i, j).fill);
}

TEST_CASE("a picture's key follows its pixels: not the head shown, but theme and numbers") {
    const AppState state = with_heads(4, Stage::weights);
    const auto keys = [](const AppState& of) {
        std::vector<std::uint64_t> list;
        for (const HeadPicture& head : build_heads_view(of).heads) list.push_back(head.picture.key);
        return list;
    };
    const auto before = keys(state);
    CHECK(std::set(before.begin(), before.end()).size() == 4);
    CHECK(keys(after(state, {ShowHead{2}})) == before);
    CHECK(keys(after(state, {SetTheme{ThemeName::light}})) != before);
    CHECK(keys(after(state, {SetCell{{Stage::x, 0, 0}, 3.0}})) != before);
    CHECK(keys(after(state, {GoToStage{Stage::scores}})) != before);
}

TEST_CASE("the head on the canvas is marked; the tooltip names the largest weight of each") {
    AppState state = after(with_heads(2, Stage::output), {ShowHead{1}});
    const HeadsView view = build_heads_view(state);
    CHECK(!view.heads[0].shown);
    CHECK(view.heads[1].shown);
    CHECK(view.heads[1].title == "H1");
    CHECK(view.caption == "weights");
    view::apply(state, GoToStage{Stage::x});
    for (const HeadPicture& head : build_heads_view(state).heads) CHECK(!head.drawn);
    state = with_heads(2, Stage::weights);
    Trace trace = *state.trace;
    const auto weights = trace[Stage::weights].matrix(0, 1);
    for (Index i = 0; i < weights.rows; ++i)
        for (float& a : weights.row(i)) a = 0.1F;
    weights(2, 1) = 0.75F;
    state.trace = std::make_shared<const Trace>(std::move(trace));
    CHECK(build_heads_view(state).heads[1].tooltip ==
          "largest number in weights: 75.0 % at [sat, cat]");
}
