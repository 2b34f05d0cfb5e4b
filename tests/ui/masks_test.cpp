#include <doctest/doctest.h>

#include <map>

#include "app/common/document/mask_rules.h"
#include "app/common/document/paint.h"
#include "app/workspaces/masks/actions.h"
#include "app/workspaces/masks/view.h"
#include "tests/ui/app.h"

using namespace attn;
using attn::test::App;
using attn::test::last;
using view::masks_look;
using view::Pair;

namespace {

/// The Masks workspace of "The cat sat down", and where on the screen the pairs of its mask are.
struct Masks : App {
    std::map<std::pair<Index, Index>, ImVec2> at;

    explicit Masks(ImVec2 size = {1600.0F, 1000.0F}) : App(size) {
        view::apply(state, view::SetWorkspace{"masks"});
        ui.frames(3);
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

TEST_CASE("a pair of the weights is selected, not painted") {
    Masks app;
    const ImVec2 first = app.at[{0, 0}];
    bool selected = false;
    for (float x = 700.0F; x < 1250.0F && !selected; x += 40.0F)
        selected = last<view::SelectPair>(app.ui.click({x, first.y})) != nullptr;
    CHECK(selected);
    CHECK(app.allowed() == 16);
}

TEST_CASE("tabs and switches are controls: they change the document and the view") {
    Masks app;
    bool causal = false;
    for (float y = 600.0F; y < 960.0F && !causal; y += 8.0F)
        causal = last<view::SetCausalMask>(app.ui.click({100.0F, y})) != nullptr;
    CHECK(causal);
    CHECK(app.allowed() == 10);
    bool tab = false;
    for (float x = 90.0F; x < 300.0F && !tab; x += 20.0F)
        tab = last<view::ShowMasksTab>(app.ui.click({x, 20.0F})) != nullptr;
    CHECK(tab);
    CHECK(masks_look(app.state).tab == view::MasksTab::conventions);
    bool other = false;
    for (float y = 700.0F; y < 960.0F && !other; y += 8.0F)
        other = last<view::SetConvention>(app.ui.click({140.0F, y})) != nullptr;
    CHECK(other);
}

TEST_CASE("what cannot be shown is said, at every size nothing is drawn over the edge") {
    App app({800.0F, 600.0F});
    view::apply(app.state, view::LoadPreset{"empty"});
    view::apply(app.state, view::SetWorkspace{"masks"});
    app.ui.frames(3);
    CHECK(app.ui.drawn() > 0);
    CHECK_FALSE(masks_look(app.state).hovered);
}
