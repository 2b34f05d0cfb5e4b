#include <numeric>

#include "app/workspaces/step/motion.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

std::vector<std::string> texts(const AppState& state) {
    std::vector<std::string> texts;
    for (const CellView& cell : build_step_view(state).result.cells) texts.push_back(cell.text);
    return texts;
}

std::vector<Color> fills(const AppState& state) {
    std::vector<Color> fills;
    for (const CellView& cell : build_step_view(state).result.cells) fills.push_back(cell.fill);
    return fills;
}

/// The weights of two heads, in a window whose clock ticks.
AppState ticking() {
    AppState state = after(two_heads_state(), {GoToStage{Stage::weights}, Tick{10.0}});
    REQUIRE_FALSE(is_animating(state));
    return state;
}

}  // namespace

TEST_CASE("a switch of head morphs the weights: number and colour together, each row sums to 1") {
    const AppState before = ticking();
    const AppState now = after(before, {ShowHead{1}});
    const AppState arrived = after(now, {Tick{kMotionSeconds}});
    REQUIRE(texts(before) != texts(arrived));
    CHECK(is_animating(now));
    CHECK(texts(now) == texts(before));
    CHECK(fills(now) == fills(before));
    const AppState half = after(now, {Tick{kMotionSeconds / 2}});
    CHECK(texts(half) != texts(before));
    CHECK(texts(half) != texts(arrived));
    const auto from = sheet_of(before, Stage::weights).values;
    const auto to = sheet_of(arrived, Stage::weights).values;
    const std::vector<float> moving = moving_values(half, Stage::weights);
    for (Index i = 0; i < to.rows; ++i) {
        const auto first = moving.begin() + i * to.columns;
        CHECK(std::accumulate(first, first + to.columns, 0.0F) == doctest::Approx(1.0));
        for (Index j = 0; j < to.columns; ++j)
            CHECK(first[j] == doctest::Approx((from(i, j) + to(i, j)) / 2));
    }
    CHECK_FALSE(is_animating(arrived));
    CHECK_FALSE(is_animating(after(half, {Tick{kMotionSeconds / 2}})));
    CHECK(moving_values(arrived, Stage::weights).empty());
}

TEST_CASE("another switch on the way goes on from what is shown") {
    const AppState half = after(after(ticking(), {ShowHead{1}}), {Tick{kMotionSeconds / 2}});
    const AppState back = after(half, {ShowHead{0}});
    CHECK(texts(back) == texts(half));
    CHECK(texts(after(back, {Tick{kMotionSeconds}})) == texts(ticking()));
    CHECK(texts(after(half, {HoverCell{CellRef{Stage::weights, 0, 1}}})) == texts(half));
}

TEST_CASE("scaling and a mask move what is finite; −∞ is there at once") {
    const AppState scaled = ticking();
    const AppState off = after(scaled, {SetScaling{false}});
    CHECK(texts(off) == texts(scaled));
    const AppState masks = after(scaled, {GoToStage{Stage::masked}, Tick{10.0}});
    const AppState causal = after(masks, {SetCausal{true}});
    CHECK(texts(causal) == texts(after(causal, {Tick{kMotionSeconds}})));
}

TEST_CASE("what is dragged, reduced motion, another sentence and a picture change at once") {
    const AppState before = ticking();
    CHECK_FALSE(is_animating(after(before, {SetTemperature{3.0}})));
    CHECK_FALSE(is_animating(after(before, {SetReducedMotion{true}, ShowHead{1}})));
    const AppState other = after(before, {SetSentence{"one more sentence now"}});
    CHECK(texts(other) == texts(after(other, {Tick{10.0}})));
    const AppState picture = after(two_heads_state(), {GoToStage{Stage::weights}});
    CHECK(texts(after(picture, {ShowHead{1}})) == texts(after(picture, {ShowHead{1}, Tick{10.0}})));
}
