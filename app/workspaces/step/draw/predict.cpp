#include "app/common/draw/draw.h"
#include "app/common/draw/items.h"
#include "app/common/sheet.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/draw/canvas.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kAxis = 52.0F;     // width of its numbers
constexpr float kLabels = 26.0F;   // height of the labels
constexpr float kSlanted = 72.0F;  // where they are slanted, for they are wider than their bars
constexpr float kSlant = 60.0F;    // degrees
constexpr float kNumbers = 20.0F;  // of the numbers over the bars
constexpr float kWidest = 220.0F;  // of a bar's slot

struct Chart {
    ImVec2 low, high;  // of the bars
    float slot;
    double from, to;
    bool slanted;  // labels

    float y_of(double value) const {
        const double share = within((value - from) / (to - from), 0.0, 1.0);
        return high.y - (high.y - low.y) * static_cast<float>(share);
    }
    double value_at(float y) const {
        const double share = (high.y - y) / std::max(high.y - low.y, 1.0F);
        return from + (to - from) * within(share, 0.0, 1.0);
    }
    float left_of(std::size_t n) const { return low.x + slot * static_cast<float>(n); }
};

Chart place_chart(const PredictView& view, const Frame& frame, ImVec2 low, ImVec2 high) {
    Chart chart;
    chart.low = {low.x + frame.px(kAxis), low.y + frame.px(kNumbers)};
    const float space = high.x - chart.low.x;
    const auto count = static_cast<float>(std::max<std::size_t>(view.guess.size(), 1));
    chart.slot = std::min(space / count, frame.px(kWidest));
    float widest = 0.0F;
    for (const std::string& label : view.labels)
        widest = std::max(widest, frame.text_width(frame.fonts.small, label));
    chart.slanted = widest > chart.slot - frame.px(4);
    chart.high = {chart.low.x + chart.slot * count,
                  high.y - frame.px(chart.slanted ? kSlanted : kLabels)};
    chart.from = view.low;
    chart.to = view.high;
    return chart;
}

void draw_axis(const PredictView& view, const Chart& chart, const Frame& frame) {
    const auto mark = [&](double value, const std::string& text) {
        const float y = std::round(chart.y_of(value));
        frame.painter.line({chart.low.x, y}, {chart.high.x, y}, frame.theme.line, frame.px(1));
        draw_text_in(
            frame, frame.fonts.digits_small, {chart.low.x - frame.px(kAxis), y - frame.px(10)},
            {chart.low.x - frame.px(8), y + frame.px(10)}, Align::right, frame.theme.muted, text);
    };
    mark(view.high, view.high_text);
    mark(view.low, view.low_text.empty() ? "0" : view.low_text);
    if (!view.zero_text.empty()) mark(0.0, view.zero_text);
}

void draw_bar(const Chart& chart, float left, float right, double value, Color color,
              const Frame& frame) {
    const float zero = chart.y_of(0.0);
    const float y = chart.y_of(value);
    frame.painter.rect({left, std::min(y, zero)}, {right, std::max({y, zero, y + frame.px(1)})},
                       color, frame.px(2));
    frame.painter.line({left, y}, {right, y}, color, frame.px(3));
}

void draw_entry(const PredictView& view, const Chart& chart, std::size_t n, const Frame& frame) {
    const Theme& theme = frame.theme;
    const float left = chart.left_of(n) + chart.slot * 0.1F;
    const float right = chart.left_of(n + 1) - chart.slot * 0.1F;
    const float middle = (left + right) / 2;
    const bool chosen = static_cast<Index>(n) == view.column && !view.revealed;
    const bool wide = chart.slot >= frame.text_width(frame.fonts.digits_small, "−0.0000");
    const ImVec2 cell_low{chart.left_of(n), chart.low.y - frame.px(kNumbers)};
    const ImVec2 cell_high{chart.left_of(n + 1), chart.low.y};
    if (chosen)
        frame.painter.rect({chart.left_of(n), chart.low.y}, {chart.left_of(n + 1), chart.high.y},
                           theme.raised);
    draw_bar(chart, left, view.revealed ? middle : right, view.guess[n], theme.muted, frame);
    if (view.revealed && std::isfinite(view.truth[n]))
        draw_bar(chart, middle, right, view.truth[n], theme.role(view.role), frame);
    const Color label = chosen ? theme.accent : theme.text;
    if (chart.slanted)
        draw_rotated_text(frame, frame.fonts.small, {middle, chart.high.y + frame.px(8)}, kSlant,
                          label,
                          fit_text(frame, frame.fonts.small, view.labels[n], frame.px(kSlanted)));
    else
        draw_text_in(frame, frame.fonts.small, {chart.left_of(n), chart.high.y},
                     {chart.left_of(n + 1), chart.high.y + frame.px(kLabels)}, Align::center, label,
                     view.labels[n]);
    if (wide) {
        const std::string& number = view.revealed ? view.truth_text[n] : view.guess_text[n];
        draw_text_in(frame, frame.fonts.digits_small, cell_low, cell_high, Align::center,
                     view.revealed ? theme.role(view.role) : theme.text, number);
    }
}

/// What the hand and the keys do to the bars.
void take_guess(const PredictView& view, const Chart& chart, const Frame& frame, Actions& out) {
    ImGui::SetCursorScreenPos(chart.low);
    invisible_button("bars", {std::max(chart.high.x - chart.low.x, 1.0F),
                              std::max(chart.high.y - chart.low.y, 1.0F)});
    const auto last = static_cast<Index>(view.guess.size()) - 1;
    const ImVec2 at = ImGui::GetMousePos();
    const float slots =
        (at.x - chart.low.x) / std::max(chart.slot, 1.0F);  // far off without a mouse
    const auto over = static_cast<Index>(within(slots, 0.0F, static_cast<float>(last)));
    const auto n = static_cast<std::size_t>(over);
    if (ImGui::IsItemHovered() && !ImGui::IsItemActive())
        tooltip(frame, view.labels[n],
                view.revealed ? "guessed " + view.guess_text[n] + ", is " + view.truth_text[n]
                              : "guessed " + view.guess_text[n] + "; drag it");
    if (view.revealed) return;
    if (ImGui::IsItemActive()) {
        const double value = chart.value_at(at.y);
        if (value != view.guess[n]) out.push_back(GuessEntry{over, value});
    }
}

}  // namespace

void draw_prediction(const PredictView& view, const Frame& frame, Actions& out) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 space = ImGui::GetContentRegionAvail();
    wrapped_text(frame, frame.fonts.title, frame.theme.text, view.question);
    wrapped_text(frame, frame.fonts.body, view.revealed ? frame.theme.accent : frame.theme.muted,
                 view.total);
    for (const std::string& note : view.notes)
        wrapped_text(frame, frame.fonts.body, frame.theme.muted, note);
    if (button(frame, "##reveal", view.revealed ? "Show the stage" : "Reveal",
               {view.revealed ? "The whole stage" : "The row beside the guess", "Key: Enter"}))
        out.push_back(RevealGuess{});
    if (view.revealed) {
        ImGui::SameLine(0.0F, frame.px(8));
        if (button(frame, "##again", "Guess again",
                   {"The same row from the start", "Key: Backspace"}))
            out.push_back(GuessAgain{});
        ImGui::SameLine(0.0F, frame.px(16));
        ImGui::AlignTextToFramePadding();
        put_text(frame, frame.fonts.body, frame.theme.muted, "▬ guessed");
        ImGui::SameLine(0.0F, frame.px(8));
        put_text(frame, frame.fonts.body, frame.theme.role(view.role), "▬ is");
    }
    const float top = ImGui::GetCursorScreenPos().y + frame.px(8);
    const Chart chart = place_chart(view, frame, {low.x, top}, {low.x + space.x, low.y + space.y});
    if (chart.high.y <= chart.low.y) return;
    draw_axis(view, chart, frame);
    for (std::size_t n = 0; n < view.guess.size(); ++n) draw_entry(view, chart, n, frame);
    take_guess(view, chart, frame, out);
}

}  // namespace attn::ui
