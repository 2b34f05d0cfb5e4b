#include "app/common/actions.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/widgets.h"
#include "app/window/draw/panels.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kBetween = 32.0F;  // columns
constexpr float kButtons = 104.0F, kLeast = 112.0F;

/// Left the text, in the middle the question and the answer, right the buttons.
struct Columns {
    float text = 0.0F, asked = 0.0F;  // widths
};
Columns columns_of(float width, const Frame& frame) {
    const float space = std::max(width - frame.px(kButtons + 2 * kBetween), frame.px(200));
    return {space * 0.48F, space * 0.52F};
}

float wrapped_height(const Font& font, const std::string& text, float width) {
    if (text.empty()) return 0.0F;
    push_font(font);
    const float height = ImGui::CalcTextSize(text.c_str(), nullptr, false, width).y;
    pop_font();
    return height + ImGui::GetStyle().ItemSpacing.y;
}

/// Buttons that flow over lines of `width`.
float choices_height(const TourView& tour, float width, const Frame& frame) {
    const float line = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemSpacing.y;
    const float gap = ImGui::GetStyle().ItemSpacing.x;
    float used = 0.0F;
    float height = tour.choices.empty() ? 0.0F : line;
    for (const std::string& choice : tour.choices) {
        const float wide = button_width(frame, choice);
        if (used > 0.0F && used + gap + wide > width) height += line, used = 0.0F;
        used += (used > 0.0F ? gap : 0.0F) + wide;
    }
    return height;
}

void draw_text(const TourView& tour, const Frame& frame) {
    put_text(frame, frame.fonts.small, frame.theme.muted,
             tour.place + (tour.waits.empty() ? "" : " · " + tour.waits));
    put_text(frame, frame.fonts.strong, frame.theme.text, tour.title);
    wrapped_text(frame, frame.fonts.body, frame.theme.text, tour.text);
}

void draw_asked(const TourView& tour, const Frame& frame, Actions& out) {
    wrapped_text(frame, frame.fonts.strong, frame.theme.text, tour.question);
    for (std::size_t n = 0; n < tour.choices.size(); ++n) {
        if (n > 0) flow(frame, button_width(frame, tour.choices[n]));
        const bool on = tour.chosen == static_cast<Index>(n);
        ImGui::PushID(static_cast<int>(n));
        const ImVec2 low = ImGui::GetCursorScreenPos();
        if (button(frame, "choice", tour.choices[n], {"Your prediction", "Keys: Ctrl+1, Ctrl+2 …"}))
            out.push_back(Predict{static_cast<Index>(n)});
        if (on)
            frame.painter.outline(low, ImGui::GetItemRectMax(), frame.theme.accent, frame.px(2));
        ImGui::PopID();
    }
    const bool seen = !tour.reveal.empty();
    wrapped_text(frame, frame.fonts.body, seen ? frame.theme.muted : frame.theme.accent, tour.ask);
    wrapped_text(frame, frame.fonts.strong, frame.theme.text, tour.verdict);
    wrapped_text(frame, frame.fonts.body, frame.theme.text, tour.reveal);
}

void draw_buttons(const TourView& tour, Index page, const Frame& frame, Actions& out) {
    if (tour.last) {
        if (button(frame, "end", "Finish", {"Finish", "Ends the tour"})) out.push_back(EndTour{});
    } else if (button(frame, "next", "Next  →", {"Next page", "First shows the answer. Ctrl+→"})) {
        out.push_back(GoToTourPage{page + 1});
    }
    if (!tour.ask.empty() && tour.reveal.empty() &&
        button(frame, "show", "Show me", {"Does it for you", "Ctrl+Enter"}))
        out.push_back(ShowTourAction{});
    if (!tour.first && button(frame, "back", "←  Back", {"Previous page", "Ctrl+←"}))
        out.push_back(GoToTourPage{page - 1});
    if (!tour.last &&
        button(frame, "put away", "Close tour", {"Close tour", "Shift+F1 resumes it."}))
        out.push_back(EndTour{});
}

}  // namespace

float tour_height(const TourView& tour, float width, const Frame& frame) {
    const Columns columns = columns_of(width, frame);
    const Fonts& fonts = frame.fonts;
    const float text = wrapped_height(fonts.small, tour.place, 1e6F) +
                       wrapped_height(fonts.strong, tour.title, 1e6F) +
                       wrapped_height(fonts.body, tour.text, columns.text);
    const float asked = wrapped_height(fonts.strong, tour.question, columns.asked) +
                        choices_height(tour, columns.asked, frame) +
                        wrapped_height(fonts.body, tour.ask, columns.asked) +
                        wrapped_height(fonts.strong, tour.verdict, columns.asked) +
                        wrapped_height(fonts.body, tour.reveal, columns.asked);
    const float buttons = 4 * (ImGui::GetFrameHeight() + ImGui::GetStyle().ItemSpacing.y);
    return std::max({text, asked, buttons, frame.px(kLeast)}) + 2 * frame.px(kSpace12);
}

void draw_tour(const TourView& tour, Index page, const Frame& frame, Actions& out) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 space = ImGui::GetContentRegionAvail();
    const Columns columns = columns_of(space.x, frame);
    const float top = low.y + frame.px(kSpace12);
    const float bottom = low.y + space.y;
    const float middle = low.x + columns.text + frame.px(kBetween);
    const float right = middle + columns.asked + frame.px(kBetween);
    panel("says", {{low.x, top}, {low.x + columns.text, bottom}}, [&] { draw_text(tour, frame); });
    panel("asks", {{middle, top}, {middle + columns.asked, bottom}},
          [&] { draw_asked(tour, frame, out); });
    panel("buttons", {{right, top}, {low.x + space.x, bottom}},
          [&] { draw_buttons(tour, page, frame, out); });
}

}  // namespace attn::ui
