#include "app/ui/step/canvas.h"

#include <doctest/doctest.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/ui/common/figure_painters.h"
#include "app/ui/step/layout.h"
#include "app/view/common/format.h"
#include "tests/ui/null_ui.h"
#include "tests/ui/sample.h"

using namespace attn;
using attn::test::last;
using attn::test::NullUi;
using view::CellRef;

namespace {

/// A canvas that fills the screen and says what the pointer is on.
struct Bench {
    view::StepView view;
    std::optional<view::CellEdit> editing;
    std::optional<CellRef> hovered;
    NullUi ui;

    explicit Bench(view::StepView shown) : view(std::move(shown)) {
        ui.show_in_window([this](const ui::Frame& frame, view::Actions& out) {
            hovered = ui::draw_canvas(view, editing, frame, out);
        });
        ui.frames(2);
    }

    /// A point on the screen where `cell` is drawn; found as a person finds it, by looking around.
    ImVec2 find(const CellRef& cell) {
        constexpr float kStep = 20.0F;
        for (float y = 60.0F; y < 700.0F; y += kStep)
            for (float x = 0.0F; x < 1500.0F; x += kStep) {
                ui.move_to({x, y});
                if (hovered == cell) return {x, y};
            }
        FAIL("the cell is not on the canvas");
        return {};
    }
};

}  // namespace

TEST_CASE("pointing at a cell names it, and a transposed key cell is named as K has it") {
    Bench bench(test::sample_scores());
    bench.find({Stage::q, 2, 1});
    bench.find({Stage::k, 2, 0});  // drawn at row 0, column 2 of Kᵀ
    bench.find({Stage::scores, 2, 2});
    bench.ui.move_to({1.0F, 990.0F});
    CHECK(!bench.hovered);
}

TEST_CASE("a click selects exactly the cell under the pointer") {
    Bench bench(test::sample_scores());
    const ImVec2 at = bench.find({Stage::scores, 1, 2});
    const view::Actions actions = bench.ui.click(at);
    const auto* selected = last<view::SelectCell>(actions);
    REQUIRE(selected);
    CHECK(selected->cell == CellRef{Stage::scores, 1, 2});
    CHECK(std::ranges::count_if(actions, [](const view::Action& a) {
              return std::holds_alternative<view::SelectCell>(a);
          }) == 1);
}

TEST_CASE("a double click begins an edit only where numbers may be edited") {
    Bench fixed(test::sample_scores());
    CHECK(!last<view::BeginCellEdit>(fixed.ui.double_click(fixed.find({Stage::scores, 1, 1}))));

    Bench bench(test::sample_input());
    const view::Actions actions = bench.ui.double_click(bench.find({Stage::x, 1, 1}));
    const auto* begun = last<view::BeginCellEdit>(actions);
    REQUIRE(begun);
    CHECK(begun->cell == CellRef{Stage::x, 1, 1});
}

TEST_CASE("a digit on the selected cell is no edit: digits are commands") {
    Bench bench(test::sample_input());
    CHECK(bench.ui.type("7").empty());
}

TEST_CASE("the cell editor replaces the number by what is typed and Enter commits it") {
    Bench bench(test::sample_input());
    bench.editing = view::CellEdit{{Stage::x, 0, 0}, "0.25"};
    bench.ui.frames(3);
    for (const char* letter : {"7", ".", "5"}) {
        const view::Actions typed = bench.ui.type(letter);
        const auto* draft = last<view::DraftCell>(typed);
        REQUIRE(draft);
        bench.editing->draft = draft->text;
    }
    CHECK(bench.editing->draft == "7.5");
    CHECK(last<view::CommitCellEdit>(bench.ui.press(view::Key::enter)));
}

TEST_CASE("Tab and a click elsewhere commit the cell") {
    for (const bool by_tab : {true, false}) {
        Bench bench(test::sample_input());
        const ImVec2 other = bench.find({Stage::x, 2, 2});
        bench.editing = view::CellEdit{{Stage::x, 0, 0}, "7"};
        bench.ui.frames(3);
        const view::Actions actions =
            by_tab ? bench.ui.press(view::Key::tab) : bench.ui.click(other);
        CHECK(last<view::CommitCellEdit>(actions));
        CHECK(!last<view::CancelCellEdit>(actions));
    }
}

TEST_CASE("a click into the cell that is typed into is no click on the cells") {
    Bench bench(test::sample_input());
    const ImVec2 at = bench.find({Stage::x, 0, 0});
    bench.editing = view::CellEdit{{Stage::x, 0, 0}, "7"};
    bench.ui.frames(3);
    const view::Actions actions = bench.ui.click(at);
    CHECK(!last<view::SelectCell>(actions));
    CHECK(!last<view::CommitCellEdit>(actions));
}

TEST_CASE("Escape leaves the cell as it was") {
    Bench bench(test::sample_input());
    bench.editing = view::CellEdit{{Stage::x, 0, 0}, "7"};
    bench.ui.frames(3);
    const view::Actions actions = bench.ui.press(view::Key::escape);
    CHECK(last<view::CancelCellEdit>(actions));
    CHECK(!last<view::CommitCellEdit>(actions));
}

/// The tooltip of the last frame; nullptr when there is none.
const ImGuiWindow* tooltip() {
    const ImGuiWindow* window = ImGui::FindWindowByName("##Tooltip_00");
    return window != nullptr && window->Active && !window->Hidden ? window : nullptr;
}

TEST_CASE("the tooltip of a cell stands clear of the cell and its neighbours") {
    Bench bench(test::sample_scores());
    for (const CellRef& cell :
         {CellRef{Stage::q, 0, 0}, CellRef{Stage::scores, 1, 1}, CellRef{Stage::scores, 2, 2}}) {
        const ImVec2 at = bench.find(cell);
        bench.ui.frames(3);
        const ImGuiWindow* window = tooltip();
        REQUIRE(window);
        ImRect rect = window->Rect();
        rect.Expand(40.0F);
        CHECK_FALSE(rect.Contains(at));
        CHECK(ImRect({0.0F, 0.0F}, ImGui::GetIO().DisplaySize).Contains(window->Rect()));
    }
}

TEST_CASE("a stage that was not kept shows the reason instead of matrices") {
    Bench bench(test::sample_scores());
    bench.view.unavailable = "fused does not keep scores";
    bench.ui.frames(2);
    const view::Actions actions = bench.ui.click({400.0F, 300.0F});
    CHECK(actions.empty());
}

TEST_CASE("every score stage draws its result in the same place") {
    const NullUi ui;
    view::StepView scores = test::sample_scores();
    view::StepView scaled = test::sample_scores();
    scaled.operands = {test::sample_grid(Stage::scores, 3, 3)};
    scaled.operators = {"÷ √2 ="};
    const ImVec2 room{1100.0F, 600.0F};
    const ui::CanvasLayout a = ui::lay_out_canvas(scores, ui.style(), room);
    const ui::CanvasLayout b = ui::lay_out_canvas(scaled, ui.style(), room);
    CHECK(a.result.origin.x == doctest::Approx(b.result.origin.x).epsilon(1e-4));
    CHECK(a.result.origin.y == doctest::Approx(b.result.origin.y).epsilon(1e-4));
    CHECK(a.result.cell.x == b.result.cell.x);
    CHECK(a.result.cell.y == b.result.cell.y);
}

TEST_CASE("matrices never overlap, and fit the canvas") {
    const NullUi ui;
    for (const float width : {500.0F, 800.0F, 1100.0F, 1800.0F})
        for (const Index tokens : {Index{1}, Index{4}, Index{12}, Index{30}}) {
            CAPTURE(width);
            CAPTURE(tokens);
            view::StepView view = test::sample_scores();
            view.operands = {test::sample_grid(Stage::q, tokens, 4),
                             test::sample_grid(Stage::k, 4, tokens)};
            view.result = test::sample_grid(Stage::scores, tokens, tokens);
            view.controls.d_k = 4;
            const ui::CanvasLayout layout = ui::lay_out_canvas(view, ui.style(), {width, 500.0F});
            const auto right = [](const ui::GridPlace& p, Index columns) {
                return p.origin.x + p.cell.x * static_cast<float>(columns);
            };
            CHECK(right(layout.operands[0], 4) <= layout.operands[1].origin.x);
            CHECK(right(layout.operands[1], tokens) <= layout.result.origin.x);
            CHECK(layout.result.cell.x >= 6.0F);
            if (width < 800.0F) continue;
            CHECK(right(layout.result, tokens) <= width + 1.0F);
        }
}

namespace {

/// Hands on what is drawn, and keeps where the numbers stand.
class NumberSpy final : public ui::PassingPainter {
  public:
    using ui::PassingPainter::PassingPainter;
    struct Number {
        view::Point at;
        float end = 0.0F;
        float character = 0.0F;
    };
    std::vector<Number> numbers;

    void text(const view::Font& font, view::Point at, view::Color color,
              std::string_view text) override {
        const float width = text_size(font, text).x;
        if (font.face == view::Face::mono && text.find('.') != std::string_view::npos)
            numbers.push_back({at, at.x + width, text_size(font, "0").x});
        PassingPainter::text(font, at, color, text);
    }

  private:
    bool admits(view::Point, view::Point) override { return true; }
};

/// Numbers with signs, side by side: "1.50−1.50" must not read as a difference.
view::StepView signed_scores(Index tokens) {
    view::StepView view;
    view.title = "Scaled scores";
    view.operands = {test::sample_grid(Stage::scores, tokens, tokens)};
    view.operators = {"÷ 2 →"};
    view.result = test::sample_grid(Stage::scaled, tokens, tokens);
    view.controls.d_k = 2;
    for (view::GridView* grid : {&view.operands[0], &view.result}) {
        grid->range = {ColorScale::diverging, -3.0, 3.0};
        for (std::size_t n = 0; n < grid->cells.size(); ++n) {
            grid->cells[n].value = n % 3 == 0 ? 1.5 : -1.25;
            grid->cells[n].text = view::cell_number(grid->cells[n].value, 2);
        }
    }
    return view;
}

}  // namespace

TEST_CASE("numbers of neighbouring cells keep a character of air, and twelve tokens have numbers") {
    for (const Index tokens : {4, 8, 12, 16, 24})
        for (const float width : {600.0F, 800.0F, 1100.0F, 1600.0F}) {
            CAPTURE(tokens);
            CAPTURE(width);
            const view::StepView view = signed_scores(tokens);
            std::vector<NumberSpy::Number> numbers;
            NullUi ui({width, 800.0F});
            ui.show_in_window([&](const ui::Frame& frame, view::Actions& out) {
                NumberSpy spy(frame.painter);
                const ui::Frame spied{frame.fonts, frame.theme, frame.scale, spy, spy};
                ui::draw_canvas(view, {}, spied, out);
                numbers = spy.numbers;
            });
            ui.frames(2);
            for (const auto& left : numbers)
                for (const auto& right : numbers) {
                    const bool follows = left.at.y == right.at.y && right.at.x > left.at.x;
                    if (follows) CHECK(right.at.x - left.end >= 0.99F * left.character);
                }
            if (tokens <= 12 && width >= 1600.0F) CHECK(std::ssize(numbers) >= 2 * tokens * tokens);
        }
}

namespace {

/// Hands on what is drawn, and keeps each text with what its window shows of it.
class TextSpy final : public ui::PassingPainter {
  public:
    using ui::PassingPainter::PassingPainter;
    struct Text {
        std::string text;
        ImRect box, clip;
        view::Color color;
    };
    std::vector<Text> texts;

    void text(const view::Font& font, view::Point at, view::Color color,
              std::string_view text) override {
        const view::Point size = text_size(font, text);
        const ImDrawList& list = *ImGui::GetWindowDrawList();
        texts.push_back({std::string(text),
                         {at.x, at.y, at.x + size.x, at.y + size.y},
                         {list.GetClipRectMin(), list.GetClipRectMax()},
                         color});
        PassingPainter::text(font, at, color, text);
    }

  private:
    bool admits(view::Point, view::Point) override { return true; }
};

/// The texts of a canvas that fills the screen.
std::vector<TextSpy::Text> texts_of(const view::StepView& view, ImVec2 size, float scale) {
    std::vector<TextSpy::Text> texts;
    NullUi ui(size, scale);
    ui.show_in_window([&](const ui::Frame& frame, view::Actions& out) {
        TextSpy spy(frame.painter);
        ui::draw_canvas(view, {}, {frame.fonts, frame.theme, frame.scale, spy, spy}, out);
        texts = spy.texts;
    });
    ui.frames(3);
    return texts;
}

const TextSpy::Text* find(const std::vector<TextSpy::Text>& texts, const std::string& text) {
    const auto found = std::ranges::find(texts, text, &TextSpy::Text::text);
    return found == texts.end() ? nullptr : &*found;
}

bool is_cut_aside(const TextSpy::Text& text) {
    return text.box.Min.x < text.clip.Min.x || text.box.Max.x > text.clip.Max.x;
}

/// Weights with the numbers of each row below them.
view::StepView weights_with_rows(Index tokens) {
    view::StepView view;
    view.title = "Attention weights";
    view.formula = "A = softmax(M)";
    view.words = "Softmax turns each row of scores into shares.";
    view.operands = {test::sample_grid(Stage::masked, tokens, tokens)};
    view.operators = {"softmax →"};
    view.result = test::sample_grid(Stage::weights, tokens, tokens);
    view.controls = test::sample_scores().controls;
    for (Index row = 0; row < tokens; ++row)
        view.rows.push_back({"t" + std::to_string(row),
                             {{"evenness", "H / ln n", "95.1 %", ""},
                              {"p_max", "max_j a_j", "57.7 %", ""},
                              {"∂p_max/∂s_max", "p_max (1 − p_max)", "0.2440", ""},
                              {"‖∂a/∂s‖_F", "‖diag(a) − a aᵀ‖_F", "0.3971", ""},
                              {"keys", "exp(H)", "3.00", ""}}});
    return view;
}

}  // namespace

TEST_CASE("the first hint is seen whole below the matrix") {
    view::StepView view = test::sample_input();
    view.hint = "Press → for the next stage.";
    view.result = test::sample_grid(Stage::x, 24, 4);
    for (float height = 400.0F; height < 500.0F; height += 4.0F) {
        CAPTURE(height);
        const auto texts = texts_of(view, {860.0F, height}, 1.0F);
        const TextSpy::Text* const hint = find(texts, view.hint);
        REQUIRE(hint);
        CHECK(hint->box.Max.y <= height - 8.0F);
    }
}

TEST_CASE("the table of readouts ends above the foot of the canvas, with a scroll bar too") {
    const view::StepView view = weights_with_rows(20);
    for (float height = 800.0F; height < 1000.0F; height += 10.0F) {
        CAPTURE(height);
        NullUi ui({700.0F, height}, 1.5F);
        ui.show_in_window([&](const ui::Frame& frame, view::Actions& out) {
            ui::draw_canvas(view, {}, frame, out);
        });
        ui.frames(3);
        for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
            const std::string name = window->Name;
            if (name.find("/matrices") != name.npos) CHECK(window->ScrollbarX);
            if (name.find("/readouts") != name.npos)
                CHECK(window->Pos.y + window->Size.y <= height - ImGui::GetStyle().WindowPadding.y);
        }
    }
}

TEST_CASE("the table of readouts cuts no number: smaller type, then it is pulled sideways") {
    const view::StepView view = weights_with_rows(4);
    const auto digits = [&](float width) {
        return find(texts_of(view, {width, 800.0F}, 1.0F), "0.2440")->box.GetHeight();
    };
    CHECK(digits(490.0F) < digits(800.0F));
    for (const float width : {400.0F, 490.0F, 540.0F, 800.0F}) {
        CAPTURE(width);
        bool pulled = false;
        NullUi ui({width, 800.0F});
        std::vector<TextSpy::Text> texts;
        ui.show_in_window([&](const ui::Frame& frame, view::Actions& out) {
            TextSpy spy(frame.painter);
            ui::draw_canvas(view, {}, {frame.fonts, frame.theme, frame.scale, spy, spy}, out);
            texts = spy.texts;
        });
        ui.frames(3);
        for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
            const std::string name = window->Name;
            const bool table =
                name.find("/readouts") != name.npos && name.find("/rows") == name.npos;
            if (table) pulled = window->ScrollMax.x > 0.0F;
        }
        for (const char* text : {"keys", "3.00", "0.3971"})
            CHECK((pulled || !is_cut_aside(*find(texts, text))));
    }
}

TEST_CASE("the note beside the title is left out rather than cut to letters") {
    view::StepView view = test::sample_scores();
    view.controls.badge = "toy weights, not trained: W from seed 1";
    for (float width = 200.0F; width < 1400.0F; width += 25.0F) {
        CAPTURE(width);
        int notes = 0;
        for (const TextSpy::Text& text : texts_of(view, {width, 800.0F}, 1.0F)) {
            if (!text.text.starts_with("to") || text.text.starts_with("token")) continue;
            ++notes;
            CHECK(text.text.starts_with("toy weights"));
            CHECK(!text.text.ends_with("…"));
        }
        if (width >= 500.0F) CHECK(notes == 1);
    }
}

TEST_CASE("the note is a warning where the weights are toys, and quiet about a file") {
    view::StepView view = test::sample_scores();
    for (const bool toy : {true, false}) {
        view.controls.toy = toy;
        const view::Theme& theme = view::theme(view::ThemeName::dark);
        const auto texts = texts_of(view, {1200.0F, 800.0F}, 1.0F);
        REQUIRE(find(texts, view.controls.badge));
        CHECK(find(texts, view.controls.badge)->color == (toy ? theme.warning : theme.muted));
    }
}
