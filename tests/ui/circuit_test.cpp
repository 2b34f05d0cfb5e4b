// An induction circuit set by hand in a Llama of random weights is found in the window, by what switching heads off does.
#include "app/common/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/swept.h"
#include "app/common/inspector.h"
#include "app/files/open.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/view.h"
#include "tests/io/scratch.h"
#include "tests/support/planted_circuit.h"
#include "tests/ui/app.h"

using namespace attn;
using namespace attn::test;
using view::heads_look, view::Key;

namespace {

/// What a person does, counted: keys and clicks. Requests are answered after each.
struct Finder : App {
    using App::App;
    view::Opener open = files::opener(backends());
    int done = 0;

    void answered() {
        view::answer_all(state, open);
        ui.frames(3);
        ++done;
    }
    void opens(const std::string& folder, const view::Actions& actions) {
        view::apply(state, view::OpenFile{folder, std::string(kCircuitText)});
        answered();
        act(actions, 3);
        answered();
    }
    void press(Key key, bool shift = false) {
        ui.press(key, false, shift);
        answered();
    }
};

}  // namespace

TEST_CASE("the sweep finds the planted induction head in at most 12 actions, beside its weights") {
    const Scratch scratch;
    Finder app;
    view::apply(app.state,
                view::OpenFile{planted_circuit(scratch / "circuit"), std::string(kCircuitText)});
    app.answered();
    REQUIRE(view::model_of(app.state.document()) != nullptr);
    app.press(Key::digit3);
    app.press(Key::h);
    REQUIRE(app.state.workspace == "heads");
    for (int n = 0; n < 3; ++n) app.press(Key::l);  // scatter, table, sweep
    REQUIRE(heads_look(app.state).list == view::HeadsList::sweep);
    const view::SweptModel* const swept = view::current_sweep(app.state);
    REQUIRE(swept != nullptr);
    REQUIRE(swept->fault.empty());
    CHECK(swept->a == "d");
    const auto view = view::build_all_heads_view(app.state);
    const view::GridView& grid = view.sweep->grid.value();
    CHECK(grid.at(kInduction.layer, kInduction.head).value < -4.0);
    CHECK(grid.at(kPrevious.layer, kPrevious.head).value < -4.0);
    for (Index layer = 0; layer < kCircuitLayers; ++layer)
        for (Index head = 0; head < kCircuitHeads; ++head) {
            const HeadPlace at{layer, head};
            if (at != kInduction && at != kPrevious)
                CHECK(std::abs(grid.at(layer, head).value) < 1.5);
        }
    CHECK(view.point.starts_with("logit d − logit "));
    // a click on its cell shows the head: after c it looks at the d before
    const int before = app.done;
    const auto shown = [&](ImVec2 at) {
        const view::Actions actions = app.ui.click(at);
        const auto* const found = last<view::ShowHead>(actions);
        return found != nullptr && found->layer == kInduction.layer &&
               found->head == kInduction.head;
    };
    bool clicked = false;
    for (float y = 150; y < 900 && !clicked; y += 15)
        for (float x = app.left() + 8; x < 850 && !clicked; x += 15) clicked = shown({x, y});
    REQUIRE(clicked);
    app.answered();
    CHECK(app.done == before + 1);
    CHECK(app.state.document().layer == kInduction.layer);
    CHECK(app.state.head == kInduction.head);
    const auto weights = heads_look(app.state).result->weights(kInduction);
    CHECK(weights(10, 3) > 0.5F);
    bool reported = false;
    for (const view::Line& line : view::heads_inspector(app.state).lines)
        reported |= line.label == "context set to 0";
    CHECK(reported);
    CHECK(app.done <= 12);
}

TEST_CASE("the sweep is drawn at every size, in both themes, and while it is asked for") {
    const Scratch scratch;
    const std::string folder = planted_circuit(scratch / "circuit");
    for (const ImVec2 size : kAppSizes) {
        Finder app(size);
        app.opens(folder, {view::SetWorkspace{"heads"}, view::SetHeadsList{"sweep"}});
        app.act({view::SetTheme{view::ThemeName::light}}, 3);
        CHECK(view::build_all_heads_view(app.state).sweep->grid);
    }
}

TEST_CASE("circuit, residual sweep and heads together are drawn at every size; a cell is chosen") {
    const Scratch scratch;
    const std::string folder = planted_circuit(scratch / "circuit");
    for (const ImVec2 size : kAppSizes) {
        Finder app(size);
        app.opens(folder, {view::SetWorkspace{"heads"},
                           view::ShowHead{kInduction.head, {}, kInduction.layer},
                           view::ShowCircuit{"qk", "text"}, view::SweepOver{"residual"}});
        const auto view = view::build_all_heads_view(app.state);
        CHECK(view.sweep->grid);
        CHECK(view.circuit->grids.size() == 1);
        for (const view::Action& action : view::Actions{
                 view::ShowCircuit{"ov", "vocabulary"}, view::ShowCircuit{"composition", "text"},
                 view::PatchSweep{"abcefghabc"}, view::SetTheme{view::ThemeName::light},
                 view::SetHeadForm{"lines"}, view::SetHeadsOf{"layer"}}) {
            app.act({action}, 3);
            app.answered();
        }
        CHECK(view::build_all_heads_view(app.state).sweep->pairs);
    }
    Finder app;
    view::apply(app.state, view::OpenFile{folder, std::string(kCircuitText)});
    app.answered();
    app.act({view::SetWorkspace{"heads"}, view::ShowHead{kInduction.head, {}, kInduction.layer},
             view::ShowCircuit{"qk", "text"}},
            3);
    app.answered();
    const auto chosen = [&](ImVec2 at) {
        return last<view::SelectCircuitCell>(app.ui.click(at)) != nullptr;
    };
    bool clicked = false;
    for (float y = 300; y < 700 && !clicked; y += 25)
        for (float x = 700; x < 1250 && !clicked; x += 25) clicked = chosen({x, y});
    CHECK(clicked);
}

TEST_CASE(
    "edges of a model are drawn at every size; a click on a head shows it, on an edge explains "
    "it") {
    const Scratch scratch;
    const std::string folder = planted_circuit(scratch / "circuit");
    for (const ImVec2 size : kAppSizes) {
        Finder app(size);
        app.opens(folder, {view::SetWorkspace{"heads"}, view::ShowCircuit{"edges", "text"}});
        REQUIRE(view::build_all_heads_view(app.state).circuit->edges);
        app.act({view::SetTheme{view::ThemeName::light}}, 3);
    }
    Finder app;
    app.opens(folder, {view::SetWorkspace{"heads"}, view::ShowCircuit{"edges", "text"}});
    const auto view = view::build_all_heads_view(app.state);
    CHECK(
        view.point.starts_with("Of the edges between heads, cutting L0 H2 → L1 H1 lowers logit d"));
    bool head = false, edge = false, hovered = false;
    for (float y = 150; y < 850; y += 23)
        for (float x = 500; x < 1250; x += 31) {
            const view::Actions actions = app.ui.click({x, y});
            const auto* const shown = last<view::ShowHead>(actions);
            head |= shown != nullptr;
            edge |= last<view::SelectCircuitCell>(actions) != nullptr;
            hovered |= last<view::HoverCircuit>(actions) != nullptr;
        }
    CHECK(head);
    CHECK(edge);
    CHECK(hovered);
}
