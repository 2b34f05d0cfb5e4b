// Heads over a picture: the pointer on a word and on a patch, and what a click selects.

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/image_tokens.h"
#include "app/files/open.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/view.h"
#include "core/io/npz.h"
#include "tests/io/scratch.h"
#include "tests/support/backends.h"
#include "tests/ui/app.h"

using namespace attn;
using namespace attn::test;
using view::heads_look;

namespace {

/// CLS, 3 × 3 patches and a word; row i gives the weight (j + 1) / 66 to key (i + j) mod 11.
view::AppState image_state() {
    const Scratch scratch;
    std::vector<float> weights;
    for (int i = 0; i < 11; ++i)
        for (int j = 0; j < 11; ++j)
            weights.push_back(static_cast<float>((j - i + 11) % 11 + 1) / 66.0F);
    const std::vector<float> tokens{1, 9};
    std::vector<std::uint8_t> pixels(12 * 18 * 3, 99);
    std::vector<NpzEntry> entries{
        {"weights", {1, 11, 11}, weights},
        {"image_tokens", {2}, tokens},
        {"tokens", {}, {}, {"CLS", "*", "*", "*", "*", "*", "*", "*", "*", "*", "cat"}}};
    entries.push_back({"image", {12, 18, 3}, {}});
    entries.back().bytes = pixels;
    REQUIRE(write_npz(scratch / "a.npz", entries));
    view::AppState state = view::initial_state();
    view::play(state, {view::OpenFile{scratch.at("a.npz")}, view::DocumentReady{}},
               files::opener(backends()));
    REQUIRE(state.document().image);
    view::apply(state, view::SetWorkspace{"heads"});
    return state;
}

struct ImageApp : App {
    explicit ImageApp(ImVec2 size = test::kAppSize) : App(size) { set(image_state()); }
    view::HeadImageView image() const {
        const view::AllHeadsView view = view::build_all_heads_view(state);
        REQUIRE(view.images.size() == 1);
        return view.images.front();
    }
};

}  // namespace

TEST_CASE(
    "a click on a patch makes it the query, with Shift the key; the pointer shows who looks at "
    "it") {
    ImageApp app;
    CHECK(app.image().values[0] == doctest::Approx(2.0 / 66.0));
    const auto clicked =
        click_until<view::SelectHeadsPair>(app.ui, {420, 300}, {1000, 700}, {50, 50});
    REQUIRE(clicked);
    REQUIRE(clicked->row >= 1);
    REQUIRE(clicked->row <= 9);
    CHECK(clicked->column == 0);
    app.ui.frames(2);
    CHECK(app.image().query == clicked->row - 1);
    REQUIRE(heads_look(app.state).hovered_pair);
    CHECK(heads_look(app.state).hovered_pair->column == clicked->row);
    CHECK(view::has_image_tokens(app.state));
    const auto& texts = app.image().tokens;
    REQUIRE(texts.size() == 2);
    const Index patch = clicked->row;
    CHECK(texts[1].share ==
          doctest::Approx(static_cast<double>((patch - 10 + 11) % 11 + 1) / 66.0));
    app.ui.move_to({1590, 990});
    app.ui.frames(2);
    CHECK_FALSE(heads_look(app.state).hovered_pair);
}

TEST_CASE("the pointer on a word shows its row; a click selects it") {
    ImageApp app;
    bool pointed = false;
    for (float y = 90; y < 500 && !pointed; y += 10)
        for (float x = 300; x < 1190 && !pointed; x += 16) {
            app.ui.move_to({x, y});
            app.ui.frames(2);
            const auto& hovered = heads_look(app.state).hovered_pair;
            pointed = hovered && hovered->row == 10;
        }
    REQUIRE(pointed);
    CHECK(app.image().title == "L0 H0: keys of “cat”");
    CHECK(app.image().values[0] == doctest::Approx(((1 - 10 + 11) % 11 + 1) / 66.0));
    CHECK(heads_look(app.state).pair.row == 0);
}

TEST_CASE("the picture is drawn in every size") {
    for (const ImVec2 size : {ImVec2{640, 400}, ImVec2{1280, 720}, ImVec2{2560, 1440}}) {
        ImageApp app(size);
        CHECK(app.ui.drawn() > 500);
    }
}
