#include "app/common/document/model_place.h"
#include "app/workspaces/model/actions.h"
#include "app/workspaces/model/view.h"
#include "tests/support/fake_reader.h"
#include "tests/ui/app.h"

using namespace attn;
using attn::test::App, view::Key;

namespace {

struct WholeModel : App {
    explicit WholeModel(const char* family = "gpt2", ImVec2 size = test::kAppSize) : App(size) {
        set(test::golden_read(family));
    }
    void answered() {
        view::answer_all(state, test::golden_reader);
        ui.frames(2);
    }
    /// The hero, from top left to bottom right.
    std::pair<ImVec2, ImVec2> hero() const {
        const ImGuiWindow* const hero = test::child("hero");
        REQUIRE(hero);
        return {hero->Pos, {hero->Pos.x + hero->Size.x, hero->Pos.y + hero->Size.y}};
    }
    template <class A>
    std::optional<A> click_until() {
        const auto [low, high] = hero();
        return test::click_until<A>(ui, {low.x + 8, low.y + 4}, {high.x - 8, high.y - 2},
                                    {22.0F, 9.0F});
    }
};

}  // namespace

TEST_CASE("a click on a matrix opens it, a click in it explains a number, Escape comes back") {
    WholeModel app;
    const auto opened = app.click_until<view::ShowModelStage>();
    REQUIRE(opened);
    CHECK(app.state.workspace == "model");
    app.ui.frames(2);
    REQUIRE(view::build_model_view(app.state).grid);
    const auto [low, high] = app.hero();
    std::optional<view::ShowModelStage> cell;  // a click beside the matrix gives no column
    for (float y = low.y + 40; y < high.y && !cell; y += 9.0F)
        for (float x = low.x + 8; x < high.x && !cell; x += 22.0F) {
            const view::Actions actions = app.ui.click({x, y});
            const auto* const found = test::last<view::ShowModelStage>(actions);
            if (found && found->column) cell = *found;
        }
    REQUIRE(cell);
    CHECK(cell->stage == opened->stage);
    REQUIRE(view::explained_cell(app.state));
    CHECK(view::explained_cell(app.state)->column == *cell->column);
    app.ui.press(Key::escape);
    app.ui.frames(2);
    CHECK_FALSE(view::build_model_view(app.state).grid);
    CHECK(view::model_look(app.state).row == cell->row);
}

TEST_CASE("a click on a bar of a head selects it and its head in every workspace") {
    WholeModel app;
    const auto [low, high] = app.hero();
    std::optional<view::ShowHead> head;
    for (float y = low.y + 4; y < high.y && !head; y += 4.0F)
        for (float x = low.x + (high.x - low.x) * 0.75F; x < high.x && !head; x += 40.0F) {
            const view::Actions actions = app.ui.click({x, y});
            if (const auto* const found = test::last<view::ShowHead>(actions)) head = *found;
        }
    REQUIRE(head);
    const LogitPart* const part = view::selected_model_part(app.state);
    REQUIRE(part);
    CHECK(part->kind == PartKind::head);
    CHECK(part->at.head == head->head);
    CHECK(app.state.head == head->head);
    app.answered();
    CHECK(view::current_model_read(app.state)->ablated.has_value());
    app.ui.press(Key::enter);
    CHECK(app.state.workspace == "heads");
}

TEST_CASE("a click on a word selects it, on a folded layer unfolds it, on an answer explains it") {
    WholeModel app;
    CHECK(app.click_until<view::ExplainAnswer>());
    const auto [low, high] = app.hero();
    const auto word = test::click_until<view::SelectModelToken>(
        app.ui, {low.x + 220, high.y - 10}, {high.x, high.y - 9}, {20.0F, 8.0F});
    REQUIRE(word);
    CHECK(view::model_token(app.state) == word->row);
    app.answered();
    std::optional<view::ShowLayer> layer;
    for (float y = low.y + 8; y < high.y && !layer; y += 5.0F) {
        const view::Actions actions = app.ui.click({low.x + 260, y});
        if (const auto* const found = test::last<view::ShowLayer>(actions)) layer = *found;
        app.ui.press(Key::escape);  // from a matrix
        app.ui.frames(2);
    }
    REQUIRE(layer);
    CHECK(app.state.document().layer == layer->layer);
}

TEST_CASE("a click on an operand in the inspector goes to its number, Backspace comes back") {
    WholeModel app;
    app.act({view::ShowModelStage{"residual1", 2, 5}});
    app.ui.frames(2);
    const ImGuiWindow* const inspector = test::child("inspector");
    REQUIRE(inspector);
    const ImVec2 low = inspector->Pos;
    const auto followed = test::click_until<view::FollowOperand>(
        app.ui, {low.x + 12, low.y + 60},
        {low.x + inspector->Size.x - 12, low.y + inspector->Size.y - 8}, {14.0F, 7.0F});
    REQUIRE(followed);
    CHECK(view::model_look(app.state).stage == followed->stage);
    CHECK(followed->row == 2);
    CHECK(followed->column == 5);
    app.answered();
    app.ui.press(Key::backspace);
    CHECK(view::model_look(app.state).stage == "residual1");
    CHECK(view::model_look(app.state).row == 2);
    CHECK(view::model_look(app.state).column == 5);
}

TEST_CASE("two actions from Step: what follows attention, and one click back to a stage of it") {
    WholeModel app;
    app.act({view::SetWorkspace{"step"}, view::GoToStage{Stage::weights}});
    app.ui.frames(2);
    const ImGuiWindow* const ribbon = test::child("ribbon");
    REQUIRE(ribbon);
    const ImVec2 low{ribbon->Pos.x + 4, ribbon->Pos.y + ribbon->Size.y / 2};
    const ImVec2 high{ribbon->Pos.x + ribbon->Size.x, low.y + 1};
    const auto place = test::click_until<view::ShowModelPlace>(
        app.ui, {(low.x + high.x) / 2, low.y}, high, {8.0F, 8.0F});
    REQUIRE(place);
    CHECK(place->place == view::ModelPlace::output);
    CHECK(app.state.workspace == "model");
    app.answered();
    CHECK(view::build_model_view(app.state).headline.starts_with("After attention: + residual"));
    const auto [top, bottom] = app.hero();
    std::optional<view::ShowAttentionStage> stage;
    for (float at = top.y + 4; at < bottom.y && !stage; at += 7.0F) {
        const view::Actions actions = app.ui.click({top.x + 250, at});
        if (const auto* const found = test::last<view::ShowAttentionStage>(actions)) stage = *found;
        if (!stage) app.ui.press(Key::escape);  // from a matrix
        app.ui.frames(2);
    }
    REQUIRE(stage);
    CHECK(app.state.workspace == "step");
    CHECK(app.state.stage == *stage->stage);
    const auto input = test::click_until<view::ShowModelPlace>(app.ui, low, high, {8.0F, 8.0F});
    REQUIRE(input);
    CHECK(input->place == view::ModelPlace::input);
    app.answered();
    CHECK(view::build_model_view(app.state).headline.starts_with("X, the input of attention"));
}

TEST_CASE("G replaces parameters and FLOP with the gradient of the loss, and back") {
    WholeModel app;
    app.act({view::SelectModelToken{2}});
    app.ui.press(Key::g);
    app.answered();
    const view::ModelView view = view::build_model_view(app.state);
    CHECK(view.gradients);
    CHECK(std::ranges::any_of(view.rows,
                              [](const view::ModelRow& row) { return row.gradient_share == 1.0; }));
    app.ui.press(Key::g);
    app.answered();
    CHECK_FALSE(view::build_model_view(app.state).gradients);
}

TEST_CASE("Space and the arrows work in the window") {
    WholeModel app;
    app.ui.press(Key::space);
    CHECK(view::model_look(app.state).until == 1);
    app.ui.press(Key::escape);
    CHECK_FALSE(view::model_look(app.state).until);
    app.ui.press(Key::up);
    CHECK(app.state.document().layer == 1);
}

TEST_CASE("every family and size is drawn, also without a model") {
    for (const ImVec2 size : test::kAppSizes) {
        for (const char* family : {"gpt2", "bert", "bert~labels", "vit", "mixtral"}) {
            WholeModel app(family, size);
            app.ui.frames(2);
            app.ui.press(Key::space);
            app.ui.frames(2);
        }
        App empty("model", size);
        empty.ui.frames(2);
    }
}
