#include "app/ui/step/heading.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/ui/common/figure_painters.h"
#include "app/ui/common/imgui_compat.h"
#include "core/text.h"
#include "tests/ui/null_ui.h"
#include "tests/view/sample_states.h"

using namespace attn;
using test::NullUi;

namespace {

struct Text {
    view::Font font;
    view::Point low, high;
    std::string text;
};

class TextSpy final : public ui::PassingPainter {
  public:
    TextSpy(view::Painter& to, std::vector<Text>& texts) : PassingPainter(to), texts_(texts) {}
    void text(const view::Font& font, view::Point at, view::Color color,
              std::string_view text) override {
        const float width = text_size(font, text).x;
        texts_.push_back({font, at, {at.x + width, at.y + font.px}, std::string(text)});
        PassingPainter::text(font, at, color, text);
    }

  private:
    bool admits(view::Point, view::Point) override { return true; }
    std::vector<Text>& texts_;
};

/// A window with a heading alone.
struct Heading {
    NullUi ui;
    view::StepView view;
    std::vector<Text> texts;
    float height = 0.0F;

    explicit Heading(float width, float scale = 1.0F) : ui({width, 700.0F * scale}, scale) {
        ui.show_in_window([this](const ui::Frame& frame, view::Actions& out) {
            texts.clear();
            TextSpy spy(frame.painter, texts);
            const float top = ImGui::GetCursorScreenPos().y;
            ui::draw_heading(view, {frame.fonts, frame.theme, frame.scale, spy, spy}, out);
            height = ImGui::GetCursorScreenPos().y - top;
        });
    }
    void draw(view::StepView of) {
        view = std::move(of);
        ui.frames(2);
    }
    const Text* find(const std::string& text) const {
        const auto found = std::ranges::find(texts, text, &Text::text);
        return found == texts.end() ? nullptr : &*found;
    }
};

bool has_all_glyphs(const ui::Fonts& fonts, const Text& text) {
    std::string_view rest = text.text;
    while (!rest.empty()) {
        const CodePoint next = first_code_point(rest);
        if (!ui::has_glyph(ui::loaded(fonts, text.font), next.value)) return false;
        rest.remove_prefix(next.bytes);
    }
    return true;
}

std::vector<view::StepView> all_headings() {
    std::vector<view::StepView> views;
    for (view::AppState state : {view::initial_state(), view::preset_state("cross-attention")})
        for (const Stage stage : view::ribbon_stages(state.document()))
            for (const bool gradients : {false, true}) {
                state =
                    view::after(state, {view::GoToStage{stage}, view::ShowGradients{gradients}});
                views.push_back(build_step_view(state));
            }
    return views;
}

bool overlap(const Text& a, const Text& b) {
    return a.low.x + 1.0F < b.high.x && b.low.x + 1.0F < a.high.x && a.low.y + 4.0F < b.high.y &&
           b.low.y + 4.0F < a.high.y;
}

}  // namespace

TEST_CASE("every stage's heading is equally high, readable and inside the window") {
    for (const float scale : {1.0F, 1.5F}) {
        for (const float width : {640.0F, 900.0F, 1400.0F}) {
            Heading heading(width * scale, scale);
            for (const view::StepView& view : all_headings()) {
                CAPTURE(view.title);
                CAPTURE(width);
                heading.draw(view);
                CHECK(heading.height == doctest::Approx(64.0F * scale));
                CHECK(heading.texts.size() > 2);
                for (const Text& text : heading.texts) {
                    CAPTURE(text.text);
                    CHECK(text.font.px >= 11.0F * scale);
                    CHECK(has_all_glyphs(heading.ui.style().fonts, text));
                    CHECK(text.low.x >= 0.0F);
                    CHECK(text.high.x <= width * scale - 15.0F * scale);
                    CHECK(text.high.y <= 16.0F * scale + 66.0F * scale);
                }
            }
        }
    }
}

TEST_CASE("title, formula and sentence of a heading stand clear of each other") {
    Heading heading(1100.0F);
    for (const view::StepView& view : all_headings()) {
        heading.draw(view);
        const Text* const title = heading.find(view.title);
        const Text* const sentence = heading.find(view.words);
        CAPTURE(view.title);
        REQUIRE(title);
        REQUIRE(sentence);
        for (const Text& text : heading.texts) {
            CAPTURE(text.text);
            if (&text != title) CHECK_FALSE(overlap(text, *title));
            if (&text != sentence) CHECK_FALSE(overlap(text, *sentence));
        }
    }
}

TEST_CASE("a symbol of the formula under the pointer names its matrix, once") {
    Heading heading(1400.0F);
    view::AppState state = view::after(view::initial_state(), {view::GoToStage{Stage::scores}});
    heading.draw(build_step_view(state));
    const Text* const k = heading.find("k");
    REQUIRE(k);
    const ImVec2 on{(k->low.x + k->high.x) / 2, (k->low.y + k->high.y) / 2};
    const view::Actions said = heading.ui.move_to(on);
    const auto* const hover = test::last<view::HoverOperand>(said);
    REQUIRE(hover);
    CHECK(hover->operand == OperandId(Stage::k));
    heading.draw(build_step_view(view::after(state, {*hover})));
    const view::Actions still = heading.ui.frame();
    CHECK_FALSE(test::last<view::HoverOperand>(still));
    const view::Actions away = heading.ui.move_to({5.0F, 290.0F});
    const auto* const left = test::last<view::HoverOperand>(away);
    REQUIRE(left);
    CHECK_FALSE(left->operand);
}
