#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/actions.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/state.h"
#include "tests/ui/app.h"

using namespace attn;
using namespace attn::test;
using view::Key, view::lookup_controls, view::lookup_look;

namespace {

struct Lookup : App {
    explicit Lookup(ImVec2 size = test::kAppSize) : App("lookup", size) {}
    void show(view::LookupPage page) { draw_frames({view::ShowLookupPage{page}}); }
    /// The first place from which a drag does A.
    template <class A>
    std::optional<ImVec2> find_drag(ImVec2 low, ImVec2 high) {
        for (float y = low.y; y < high.y; y += 16.0F)
            for (float x = low.x; x < high.x; x += 16.0F)
                if (last<A>(ui.drag({x, y}, {x + 40.0F, y}))) return ImVec2{x, y};
        return std::nullopt;
    }
};

}  // namespace

TEST_CASE("the query follows the hand, one step of undo, and its weights with it") {
    Lookup app;
    const PlanePoint before = lookup_controls(app.state).query;
    const std::size_t now = app.state.now;
    const auto weights = view::memory_read(lookup_controls(app.state)).weights;
    REQUIRE(app.find_drag<view::MoveLookupQuery>({app.left() + 36.0F, 150.0F}, {650.0F, 700.0F}));
    CHECK(lookup_controls(app.state).query[0] > before[0]);
    CHECK(view::memory_read(lookup_controls(app.state)).weights != weights);
    view::apply(app.state, view::Undo{});
    CHECK(app.state.now >= now);
}

TEST_CASE("a click on a word of the inspector's table chooses that key, as its numbers do") {
    Lookup app;
    REQUIRE(lookup_look(app.state).pair == 0);
    // The words are at the left of the table; each is clicked once, from the top down.
    const float left = 1600.0F - 288.0F;
    std::vector<Index> chosen;
    for (float y = 300.0F; y < 900.0F; y += 4.0F) {
        const auto actions = app.ui.click({left, y});
        const auto* const select = last<view::SelectLookupPair>(actions);
        if (select != nullptr && (chosen.empty() || chosen.back() != select->pair))
            chosen.push_back(select->pair);
    }
    REQUIRE(chosen.size() >= 5);  // below the table another one names words too
    CAPTURE(fmt::format("{}", fmt::join(chosen, " ")));
    CHECK(std::vector<Index>(chosen.begin(), chosen.begin() + 5) ==
          std::vector<Index>{0, 1, 2, 3, 4});
    CHECK(lookup_look(app.state).pair == 4);
}

TEST_CASE("a value that is dragged moves the output and no weight") {
    Lookup app;
    const auto weights = view::memory_read(lookup_controls(app.state)).weights;
    REQUIRE(app.find_drag<view::MoveLookupValue>({650.0F, 150.0F}, {1240.0F, 700.0F}));
    CHECK(view::memory_read(lookup_controls(app.state)).weights == weights);
}

TEST_CASE("keys move the query, the key and the value, change the temperature and the page") {
    Lookup app;
    CHECK(lookup_controls(app.pressed(Key::right)).query[0] == doctest::Approx(1.7));
    CHECK(lookup_controls(app.pressed(Key::h)).temperature == 0.01);
    CHECK(lookup_controls(app.pressed(Key::a)).pairs.size() == 6);
    CHECK(lookup_controls(app.pressed(Key::del)).pairs.size() == 5);
    CHECK(lookup_look(app.pressed(Key::page_down)).page == view::LookupPage::capacity);
    CHECK(lookup_controls(app.pressed(Key::right)).width == 32);
    app.ui.press(Key::page_up);
    CHECK(lookup_look(app.pressed(Key::page_up)).page == view::LookupPage::permutation);
    CHECK(lookup_controls(app.pressed(Key::r)).order == std::vector<Index>{3, 2, 1, 0});
    CHECK(lookup_controls(app.pressed(Key::n)).position == view::PermutationPosition::sinusoidal);
}

TEST_CASE("add gives each pair a place of its own, and says when there is room for none") {
    Lookup app;
    float x = app.left() + 650.0F;
    while (x < app.ui.style().px(1200) && !last<view::AddLookupPair>(app.ui.click({x, 28.0F})))
        x += 16.0F;
    for (std::size_t n = 0; n < view::kMostLookupPairs; ++n) {
        app.ui.frames(20);  // no double click
        app.ui.click({x, 28.0F});
    }
    std::set<PlanePoint> keys;
    for (const view::LookupPair& pair : lookup_controls(app.state).pairs) keys.insert(pair.k);
    CHECK(keys.size() == view::kMostLookupPairs);
    CHECK(app.state.message.text == "A memory has at most 12 pairs.");
}

TEST_CASE("a token is dragged to another place") {
    Lookup app;
    app.show(view::LookupPage::permutation);
    const ImVec2 hero = child("hero")->Pos;
    REQUIRE(app.find_drag<view::MoveToken>(hero, {hero.x + 110.0F, hero.y + 40.0F}));
    CHECK(lookup_controls(app.state).order != std::vector<Index>{});
}

TEST_CASE("every page is drawn at every size, for every memory") {
    for (const ImVec2 size : test::kAppSizes) {
        Lookup app(size);
        for (const view::MemoryPreset& preset : view::memory_presets()) {
            app.act({view::LoadMemory{preset.key}});
            CHECK(app.ui.drawn() > 500);
        }
        for (std::size_t n = 0; n < view::kLookupPageCount; ++n) {
            app.show(static_cast<view::LookupPage>(n));
            CHECK(app.ui.drawn() > 500);
        }
    }
}
