#include "app/common/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/mask_rules.h"
#include "app/common/document/paint.h"
#include "app/workspaces/masks/actions.h"
#include "core/bias.h"
#include "tests/ui/app.h"

using namespace attn;
using namespace attn::test;
using view::masks_look, view::Pair;

namespace {

/// The Masks workspace of "The cat sat down", and where on the screen the pairs of its mask are.
struct Masks : App {
    std::map<std::pair<Index, Index>, ImVec2> at;

    explicit Masks(ImVec2 size = test::kAppSize) : App("masks", size) { find_pairs(size); }
    void find_pairs(ImVec2 size = test::kAppSize) {
        at.clear();
        for (float y = 100.0F; y < size.y * 0.8F; y += 20.0F)
            for (float x = 80.0F; x < size.x * 0.4F && at.size() < 16; x += 20.0F) {
                ui.move_to({x, y});
                if (const auto& pair = masks_look(state).hovered; pair && first_is_under({x, y}))
                    at.try_emplace({pair->query, pair->key}, ImVec2{x, y});
            }
    }
    /// The matrices at the right are looked for no farther than the first one's last column.
    bool first_is_under(ImVec2 place) const {
        const auto left =
            at.find({masks_look(state).hovered->query, masks_look(state).hovered->key});
        return left == at.end() || place.x < left->second.x + 1.0F;
    }
    Index allowed() const { return view::count_allowed(state, state.document().spec.mask); }
};

}  // namespace

TEST_CASE("every pair of the mask is found, clicked, and forbidden by that") {
    for (const ImVec2 size : {ImVec2{1600.0F, 1000.0F}, ImVec2{1280.0F, 720.0F}}) {
        Masks app(size);
        REQUIRE(app.at.size() == 16);
        for (const auto& [pair, place] : app.at) {
            app.ui.click(place);
            CHECK(app.allowed() == 15);
            CHECK(masks_look(app.state).pair == Pair{pair.first, pair.second});
            CHECK_FALSE(view::paint_allows(app.state.document(), 0, 0, pair.first, pair.second));
            app.ui.click(place);
            CHECK(app.allowed() == 16);
        }
    }
}

TEST_CASE("a drag paints what the first pair became, in one step of undo") {
    Masks app;
    REQUIRE(app.at.size() == 16);
    app.ui.click(app.at[{1, 1}]);
    const std::size_t before = app.state.now;
    app.ui.drag(app.at[{0, 0}], app.at[{3, 3}]);
    CHECK(app.allowed() <= 12);
    CHECK(app.state.now == before + 1);
    for (Index n = 0; n < 4; ++n) CHECK_FALSE(view::paint_allows(app.state.document(), 0, 0, n, n));
    view::apply(app.state, view::Undo{});
    CHECK(app.allowed() == 15);
}

TEST_CASE("with a number for the bias, a click and a drag paint it, in one step of undo each") {
    Masks app;
    REQUIRE(app.at.size() == 16);
    app.act({view::SetBiasBrush{2.5}}, 3);
    app.find_pairs();
    REQUIRE(app.at.size() == 16);
    const auto bias = [&](Index i, Index j) {
        return bias_at(app.state.document().spec.mask, 0, 0, i, j);
    };
    app.ui.click(app.at[{1, 2}]);
    CHECK(bias(1, 2) == 2.5);
    CHECK(app.allowed() == 16);
    const std::size_t before = app.state.now;
    app.ui.drag(app.at[{0, 0}], app.at[{3, 3}]);
    for (Index n = 0; n < 4; ++n) CHECK(bias(n, n) == 2.5);
    CHECK(app.state.now == before + 1);
    view::apply(app.state, view::Undo{});
    CHECK(bias(3, 3) == 0.0);
    app.ui.frames(2);
    app.ui.click(app.at[{1, 2}]);
    CHECK_FALSE(app.state.document().spec.mask.bias);
    const float left = app.left();
    const auto chosen = click_until<view::SetBiasBrush>(app.ui, {left + 260, 20},
                                                        {test::kAppSize.x - 260, 21}, {12, 20});
    REQUIRE(chosen);
    CHECK_FALSE(chosen->value);  // "mask" comes first
    CHECK_FALSE(masks_look(app.state).bias_value);
    app.ui.press(view::Key::b, false, true);
    CHECK(masks_look(app.state).bias_value == 1.0);
}

TEST_CASE("a pair of the weights is selected, not painted; tabs and switches are controls") {
    Masks app;
    const ImVec2 first = app.at[{0, 0}];
    CHECK(click_until<view::SelectPair>(app.ui, {700, first.y}, {1250, first.y + 1}, {40, 40}));
    CHECK(app.allowed() == 16);
    const float left = app.left();
    CHECK(click_until<view::SetCausalMask>(app.ui, {left + 36, 600}, {left + 37, 960}, {8, 8}));
    CHECK(app.allowed() == 10);
    CHECK(click_until<view::ShowMasksTab>(app.ui, {left + 26, 20}, {left + 236, 21}, {20, 20}));
    CHECK(masks_look(app.state).tab == view::MasksTab::conventions);
    CHECK(click_until<view::SetConvention>(app.ui, {left + 76, 700}, {left + 77, 960}, {8, 8}));
}

TEST_CASE("what cannot be shown is said, at every size nothing is drawn over the edge") {
    App app({800.0F, 600.0F});
    app.act({view::LoadPreset{"empty"}, view::SetWorkspace{"masks"}}, 3);
    CHECK(app.ui.drawn() > 0);
    CHECK_FALSE(masks_look(app.state).hovered);
}
