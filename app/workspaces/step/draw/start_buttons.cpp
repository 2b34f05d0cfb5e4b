#include "app/workspaces/step/draw/start_buttons.h"

#include <imgui.h>

#include "app/common/actions.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/math.h"
#include "app/workspaces/step/actions.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kStartButton = 40.0F;
constexpr float kAboveStartButtons = 8.0F;
constexpr float kUnderStartButtons = 8.0F;
constexpr float kStartButtonPad = 16.0F;
constexpr float kCapPad = 6.0F;
constexpr float kKeyCap = 20.0F;
constexpr float kBetweenStartButtons = 12.0F;
constexpr float kStartButtonRadius = 6.0F;
constexpr float kLeastCanvas = 480.0F;
constexpr float kStartButtonFormula = 14.0F;

struct StartButton {
    const char* id;
    std::string text;
    std::string tex;  // after the words
    std::string cap;  // its keys
    Actions actions;
    enum class Form { filled, outlined, link } form = Form::outlined;
    bool shown = true;
};
using Form = StartButton::Form;

/// A change of the text goes on offering the others; each of these closes the offers.
std::vector<StartButton> start_buttons_of(const StepView& view) {
    const Action closed = ShowStartButtons{false};
    return {
        {"watch", "Watch it compute", "", "Space", {TogglePlay{}}, Form::filled},
        {"offered",
         view.offered.change,
         "",
         "",
         {TypeText{view.offered.text}},
         Form::outlined,
         !view.offered.change.empty()},
        {"why", "Why", R"(\div \sqrt{d_k})", "2 S", {closed, SetWorkspace{"saturation"}}},
        {"open", "Open my model", "", "Ctrl+O", {closed, ShowPrompt{PromptKind::open}}},
        {"tour", "or start the tour", "", "", {closed, StartTour{""}}, Form::link, view.has_tour}};
}

struct Measure {
    std::optional<MathBox> formula;
    float text = 0.0F, cap = 0.0F, whole = 0.0F;
};

Measure measure(const StartButton& start_button, const Frame& frame) {
    Measure size;
    size.text = frame.text_width(frame.fonts.strong, start_button.text);
    size.whole = size.text;
    if (!start_button.tex.empty())
        size.formula = fitted_math(frame, start_button.tex, kStartButtonFormula, frame.px(200));
    if (size.formula) size.whole += frame.px(6) + size.formula->width;
    if (start_button.form == Form::link) return size;
    size.whole += frame.px(2 * kStartButtonPad);
    if (start_button.cap.empty()) return size;
    size.cap = frame.text_width(frame.fonts.digits_small, start_button.cap) + frame.px(2 * kCapPad);
    size.whole += frame.px(kBetweenStartButtons) + size.cap;
    return size;
}

void draw_cap(const StartButton& start_button, ImVec2 low, float width, Color ink,
              const Frame& frame) {
    const float top = low.y + frame.px((kStartButton - kKeyCap) / 2);
    const ImVec2 high{low.x + width, top + frame.px(kKeyCap)};
    frame.painter.outline({low.x, top}, high, ink, frame.px(1), frame.px(4));
    draw_text_in(frame, frame.fonts.digits_small, {low.x, top}, high, Align::center, ink,
                 start_button.cap);
}

void draw_start_button(const StartButton& start_button, const Measure& size, ImVec2 low,
                       const Frame& frame) {
    const Theme& theme = frame.theme;
    const ImVec2 high{low.x + size.whole, low.y + frame.px(kStartButton)};
    const bool link = start_button.form == Form::link, filled = start_button.form == Form::filled;
    const Color ink = filled ? theme.on_accent : link ? theme.accent : theme.text;
    if (filled) frame.painter.rect(low, high, theme.accent, frame.px(kStartButtonRadius));
    if (!filled && !link)
        frame.painter.outline(low, high, theme.control, frame.px(1), frame.px(kStartButtonRadius));
    float x = low.x + (link ? 0.0F : frame.px(kStartButtonPad));
    draw_text_in(frame, link ? frame.fonts.body : frame.fonts.strong, {x, low.y}, high, Align::left,
                 ink, start_button.text);
    if (link) {
        const float bottom = (low.y + high.y + frame.fonts.body.px) / 2;
        return frame.painter.line({low.x, bottom}, {high.x, bottom}, theme.accent, frame.px(1));
    }
    x += size.text;
    if (size.formula) {
        const float baseline = (low.y + high.y) / 2 + frame.px(5);
        draw_formula(frame, *size.formula, {x + frame.px(6), baseline});
        x += frame.px(6) + size.formula->width;
    }
    if (!start_button.cap.empty())
        draw_cap(start_button, {x + frame.px(kBetweenStartButtons), low.y}, size.cap, ink, frame);
}

bool is_pressed(const StartButton& start_button, const Measure& size, ImVec2 low,
                const Frame& frame) {
    const ImVec2 extent{size.whole, frame.px(kStartButton)};
    ImGui::SetCursorScreenPos(low);
    const bool clicked = invisible_button(start_button.id, extent);
    const bool keyed = pressed_by_key(frame);
    draw_start_button(start_button, size, low, frame);
    return clicked || keyed;
}

}  // namespace

float draw_start_buttons(const StepView& view, const Frame& frame, Actions& out) {
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const ImVec2 space = ImGui::GetContentRegionAvail();
    if (frame.is_canvas_alone() || space.y < frame.px(kLeastCanvas)) return 0.0F;
    const float height = frame.px(kAboveStartButtons + kStartButton + kUnderStartButtons);
    ImVec2 low{origin.x, origin.y + space.y - frame.px(kStartButton + kUnderStartButtons)};
    for (const StartButton& each : start_buttons_of(view)) {
        if (!each.shown) continue;
        const Measure size = measure(each, frame);
        if (low.x + size.whole > origin.x + space.x) continue;
        if (is_pressed(each, size, low, frame))
            for (const Action& action : each.actions) out.push_back(action);
        low.x += size.whole + frame.px(kBetweenStartButtons);
    }
    ImGui::SetCursorScreenPos(origin);
    leave_space({0.0F, 0.0F});  // ImGui 1.92: a cursor that was set needs an item after it
    ImGui::SetCursorScreenPos(origin);
    return height;
}

}  // namespace attn::ui
