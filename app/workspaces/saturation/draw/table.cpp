#include <algorithm>
#include <string>

#include "app/common/draw/draw.h"
#include "app/workspaces/saturation/draw/parts.h"

namespace attn::ui {
namespace {

using view::ComparedNumber;

// Design units.
constexpr float kRow = 24.0F;
constexpr float kRule = 20.0F;
constexpr float kColumn = 112.0F;  // of numbers, or verdicts
constexpr float kNumbers = 84.0F;  // of numbers alone

/// One line of a table: its box, and where its two columns of numbers end.
struct Row {
    const Frame& frame;
    ImVec2 low, high;
    float units = kColumn;

    float column() const { return std::min(frame.px(units), (high.x - low.x) * 0.3F); }
    float end(bool scaled) const { return scaled ? high.x - column() : high.x; }

    void number(bool scaled, const Font& font, view::Color color, const std::string& text) const {
        const float right = end(scaled);
        draw_text_in(frame, font, {right - column(), low.y}, {right, high.y}, Align::right, color,
                     text);
    }
};

void draw_heads(const Row& row, const std::string& caption) {
    const Frame& frame = row.frame;
    draw_text_in(
        frame, frame.fonts.small, row.low, row.high, Align::left, frame.theme.muted,
        fit_text(frame, frame.fonts.small, caption, row.end(true) - row.column() - row.low.x));
    row.number(true, frame.fonts.strong, frame.theme.role(Role::weight), "scaled");
    row.number(false, frame.fonts.strong, frame.theme.role(Role::score), "unscaled");
    frame.painter.line({row.low.x, row.high.y - 1}, {row.high.x, row.high.y - 1}, frame.theme.line,
                       frame.px(1));
}

void draw_number(const Row& row, const ComparedNumber& number) {
    const Frame& frame = row.frame;
    ImGui::SetCursorScreenPos(row.low);
    ImGui::PushID(number.label.c_str());
    ImGui::InvisibleButton("number", {row.high.x - row.low.x, row.high.y - row.low.y});
    tooltip(frame, number.label + ": " + number.formula, number.tooltip);
    ImGui::PopID();
    draw_text_in(frame, frame.fonts.body, row.low, row.high, Align::left, frame.theme.text,
                 number.label);
    const float after = row.low.x + frame.text_width(frame.fonts.body, number.label) + frame.px(10);
    const float room = row.end(true) - row.column() - after;
    if (frame.text_width(frame.fonts.small, number.formula) <= room)
        draw_text_in(frame, frame.fonts.small, {after, row.low.y}, row.high, Align::left,
                     frame.theme.muted, number.formula);
    row.number(true, frame.fonts.digits, frame.theme.text, number.scaled);
    row.number(false, frame.fonts.digits, frame.theme.text, number.unscaled);
}

void draw_verdict(const Row& row, bool scaled, const std::optional<view::VerdictView>& verdict) {
    const view::Theme& theme = row.frame.theme;
    if (!verdict) return row.number(scaled, row.frame.fonts.body, theme.muted, "…");
    const view::Color colors[] = {theme.good, theme.warning, theme.bad};  // as Verdict lists them
    row.number(scaled, row.frame.fonts.strong, colors[static_cast<std::size_t>(verdict->verdict)],
               "● " + verdict->words);
}

}  // namespace

float median_table_height(const Frame& frame) { return frame.px(5 * kRow + kRule); }

void draw_median_table(const view::SaturationTable& table, ImVec2 low, float width,
                       const Frame& frame) {
    const float height = frame.px(kRow);
    const auto row = [&](std::size_t n) {
        const float y = low.y + height * static_cast<float>(n);
        return Row{frame, {low.x, y}, {low.x + width, y + height}, kColumn};
    };
    draw_heads(row(0), table.caption);
    for (std::size_t n = 0; n < table.rows.size(); ++n) draw_number(row(n + 1), table.rows[n]);
    const Row last = row(table.rows.size() + 1);
    draw_text_in(frame, frame.fonts.body, last.low, last.high, Align::left, frame.theme.text,
                 "verdict");
    draw_verdict(last, true, table.scaled);
    draw_verdict(last, false, table.unscaled);
    draw_text_in(frame, frame.fonts.small, {low.x, last.high.y},
                 {last.high.x, last.high.y + frame.px(kRule)}, Align::left, frame.theme.muted,
                 fit_text(frame, frame.fonts.small, table.rule, width));
}

void draw_row_numbers(const view::SaturationDetails& details, const Box& box, const Frame& frame) {
    const float lines = static_cast<float>(details.rows.size() + 1);
    const float height = std::min(frame.px(kRow), (box.high.y - box.low.y) / lines);
    Row row{frame, box.low, {box.high.x, box.low.y + height}, kNumbers};
    draw_heads(row, details.caption);
    for (const ComparedNumber& number : details.rows) {
        row.low.y += height;
        row.high.y += height;
        draw_number(row, number);
    }
}

}  // namespace attn::ui
