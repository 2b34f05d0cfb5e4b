#include "app/common/draw/parts.h"

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/parts.h"
#include "app/common/workspace.h"
#include "tests/ui/app.h"

using namespace attn;
using namespace attn::test;
using view::Key, view::parts_look;

namespace {

constexpr float kBottomLine = 32.0F;

struct Shown {
    ImVec2 size;
    float scale;
};
std::vector<Shown> sizes() {
    std::vector<Shown> all;
    for (const ImVec2 size :
         {ImVec2{1024, 640}, ImVec2{1280, 720}, ImVec2{1600, 1000}, ImVec2{2560, 1440}})
        for (const float scale : {1.0F, 1.5F, 2.0F}) all.push_back({size, scale});
    return all;
}

/// What the hero has of the height between bar and bottom line.
float hero_share(const ImGuiWindow& bar, const ImGuiWindow& hero, const Shown& at) {
    const float canvas = at.size.y - bar.Rect().Max.y - kBottomLine * at.scale;
    return hero.Size.y / canvas;
}

bool is_inside(const ImGuiWindow& window, ImVec2 size) {
    const ImRect at = window.Rect();
    return at.Min.x >= 0.0F && at.Min.y >= 0.0F && at.Max.x <= size.x && at.Max.y <= size.y;
}

}  // namespace

TEST_CASE("every hero has 35 % of the canvas at every size, and no row of controls scrolls") {
    for (const Shown& at : sizes()) {
        App app(at.size, at.scale);
        view::apply(app.state, view::LoadPreset{"three-heads"});
        for (const view::WorkspaceInfo* workspace : app.state.workspaces) {
            // Generate has no hero without a model.
            if (workspace->key == "step" || workspace->key == "generate" ||
                !workspace->missing_data(app.state).empty())
                continue;
            app.draw_frames({go_to(*workspace)}, 3);
            CAPTURE(workspace->key);
            CAPTURE(at.size.x);
            CAPTURE(at.scale);
            const ImGuiWindow* const bar = child("bar");
            const ImGuiWindow* const hero = child("hero");
            REQUIRE(bar);
            REQUIRE(hero);
            CHECK(hero_share(*bar, *hero, at) >= 0.35F);
            CHECK(is_inside(*hero, at.size));
            CHECK(bar->ScrollMax.x == 0.0F);
            CHECK(bar->ScrollMax.y == 0.0F);
            CHECK(hero->ScrollMax.x == 0.0F);
        }
    }
}

TEST_CASE("a low window has one part at a time, which its tabs change") {
    App app("heads", {1280.0F, 640.0F});
    app.act({view::SetHeads{2}}, 4);  // the only head has no small picture
    REQUIRE(child("tabs"));
    CHECK(child("all heads") == nullptr);
    const ImRect tabs = child("tabs")->Rect();
    const auto chosen = click_until<view::ShowPart>(app.ui, tabs.Min, tabs.Max, {8.0F, 8.0F});
    REQUIRE(chosen);
    CHECK(chosen->value == "all heads");
    CHECK(parts_look(app.state).part == "all heads");
    App high("heads");
    high.act({view::SetHeads{2}}, 4);
    CHECK(child("tabs") == nullptr);
    CHECK(child("all heads"));
}

TEST_CASE("the drawer pushes the hero aside where that leaves it room") {
    App app("heads", {1280.0F, 720.0F});
    app.act({view::ShowInspector{true}});
    REQUIRE(child("side"));
    CHECK(child("hero")->Rect().Max.x <= child("side")->Pos.x);
    app.ui.press(Key::escape);
    CHECK(child("side") == nullptr);
}

TEST_CASE("controls without a place in the bar stand in its popover, which Escape closes") {
    App app("heads");
    app.act({view::ShowMore{true}}, 3);
    REQUIRE(ImGui::FindWindowByName("rest"));
    CHECK(ImGui::FindWindowByName("rest")->Active);
    app.ui.press(Key::escape);
    app.ui.frames(2);
    CHECK_FALSE(parts_look(app.state).more);
    app.act({view::ShowMore{true}});
    app.act({view::SetWorkspace{"masks"}});
    CHECK_FALSE(parts_look(app.state).more);
}
