#include <algorithm>
#include <cmath>
#include <string>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/grid.h"
#include "app/common/draw/items.h"
#include "app/workspaces/saturation/draw/parts.h"

namespace attn::ui {
namespace {

using view::ComparedNumber;

// Design units.
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
    row.number(true, frame.fonts.strong, frame.theme.role(Role::weight), "with scaling");
    row.number(false, frame.fonts.strong, frame.theme.role(Role::score), "without");
    frame.painter.line({row.low.x, row.high.y - 1}, {row.high.x, row.high.y - 1}, frame.theme.line,
                       frame.px(1));
}

void draw_number(const Row& row, const ComparedNumber& number) {
    const Frame& frame = row.frame;
    ImGui::SetCursorScreenPos(row.low);
    ImGui::PushID(number.label.c_str());
    invisible_button("number", {row.high.x - row.low.x, row.high.y - row.low.y});
    tooltip(frame, number.label + ": " + number.formula, number.tooltip);
    ImGui::PopID();
    draw_text_in(frame, frame.fonts.body, row.low, row.high, Align::left, frame.theme.text,
                 number.label);
    const float after = row.low.x + frame.text_width(frame.fonts.body, number.label) + frame.px(10);
    const float space = row.end(true) - row.column() - after;
    if (frame.text_width(frame.fonts.small, number.formula) <= space)
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
               "● " + verdict->text);
}

// --- bars and Jacobians

using view::BarView, view::SaturationSideView;
using Bars = std::vector<BarView>;

// Design units.
constexpr float kWidestBar = 56.0F, kAxisWidth = 40.0F, kNote = 17.0F, kLargestCell = 64.0F;

/// Place of the bars: the area between 0 and 100 %, divided into a slot for each key.
struct Slots {
    ImVec2 low, high;
    float width = 0.0F;

    float left(std::size_t j) const { return low.x + width * static_cast<float>(j); }
    float y(double value) const {
        return high.y - (high.y - low.y) * static_cast<float>(within(value, 0.0, 1.0));
    }
};

float widest(const Frame& frame, const Bars& bars, const Font& font, std::string BarView::*text) {
    float width = 0.0F;
    for (const BarView& bar : bars) width = std::max(width, frame.text_width(font, bar.*text));
    return width;
}

/// The longest form of the numbers that fits above the bars; nullptr when none does.
std::string BarView::*number_form(const Frame& frame, const Bars& bars, float space) {
    for (const auto form : {&BarView::text, &BarView::bare})
        if (widest(frame, bars, frame.fonts.digits_small, form) <= space) return form;
    return nullptr;
}

void draw_axis(const Slots& slots, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    for (const double share : {0.0, 0.5, 1.0}) {
        const float y = std::round(slots.y(share));
        frame.painter.line({slots.low.x, y}, {slots.high.x, y}, frame.theme.line, frame.px(1));
        const char* label = share == 0.0 ? "0" : share == 0.5 ? "50 %" : "100 %";
        draw_text_in(frame, font, {slots.low.x - frame.px(kAxisWidth + 8), y - font.px},
                     {slots.low.x - frame.px(8), y + font.px}, Align::right, frame.theme.muted,
                     label);
    }
}

void draw_bar(const BarView& bar, std::size_t j, const Slots& slots, view::Color color,
              const Frame& frame) {
    if (std::isnan(bar.value)) return;
    const float gap = slots.width > frame.px(8) ? frame.px(4) : slots.width * 0.2F;
    const float width = std::min(slots.width - gap, frame.px(kWidestBar));
    const float x = slots.left(j) + (slots.width - width) / 2;
    const float top = std::min(slots.y(bar.value), slots.high.y - frame.px(1));
    frame.painter.rect({x, top}, {x + width, slots.high.y}, color);
}

/// On a plate, so that no line of the axis strikes it through.
void draw_number(const std::string& text, const BarView& bar, std::size_t j, const Slots& slots,
                 const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    const float bottom = (std::isnan(bar.value) ? slots.high.y : slots.y(bar.value)) - frame.px(2);
    const float top = bottom - font.px - frame.px(2);
    const float half = frame.text_width(font, text) / 2 + frame.px(2);
    const float middle =
        within(slots.left(j) + slots.width / 2, slots.low.x + half, slots.high.x - half);
    frame.painter.rect({middle - half, top}, {middle + half, bottom}, frame.theme.background);
    draw_text_in(frame, font, {middle - half, top}, {middle + half, bottom}, Align::center,
                 frame.theme.text, text);
}

/// NaN is never the largest.
std::size_t largest(const Bars& bars) {
    return static_cast<std::size_t>(std::ranges::max_element(bars, {}, &BarView::value) -
                                    bars.begin());
}

void draw_labels(const Bars& bars, const Slots& slots, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    const float needed = widest(frame, bars, font, &BarView::label) + frame.px(6);
    const auto stride = static_cast<std::size_t>(std::max(1.0F, std::ceil(needed / slots.width)));
    for (std::size_t j = 0; j < bars.size(); j += stride)
        draw_text_in(frame, font, {slots.left(j), slots.high.y + frame.px(2)},
                     {slots.left(j) + slots.width, slots.high.y + font.px + frame.px(6)},
                     Align::center, frame.theme.key, bars[j].label);
}

/// The tooltip of the bar under the pointer; the area is an item of its own.
void explain(const Bars& bars, const Slots& slots, const Frame& frame) {
    ImGui::SetCursorScreenPos(slots.low);
    invisible_button("bars", {slots.high.x - slots.low.x, slots.high.y - slots.low.y});
    focus_stop(frame);
    if (!ImGui::IsItemHovered()) return;
    const float at = (ImGui::GetMousePos().x - slots.low.x) / slots.width;
    const auto j = static_cast<std::size_t>(std::max(0.0F, at));
    if (j < bars.size()) tooltip(frame, "key " + bars[j].label, bars[j].tooltip);
}

/// One bar for each key on a scale of 0 to 100 %. Numbers above the bars and labels below them as far as they
/// fit, the largest number always. True when all numbers are shown.
bool draw_bars(const Bars& bars, view::Color color, ImVec2 low, ImVec2 high, const Frame& frame) {
    if (bars.empty()) return false;
    const float line = frame.fonts.digits_small.px + frame.px(6);
    Slots slots{{low.x + frame.px(kAxisWidth + 8), low.y + line}, {high.x, high.y - line}, 0.0F};
    slots.width = (slots.high.x - slots.low.x) / static_cast<float>(bars.size());
    draw_axis(slots, frame);
    const auto form = number_form(frame, bars, slots.width - frame.px(2));
    for (std::size_t j = 0; j < bars.size(); ++j) {
        draw_bar(bars[j], j, slots, color, frame);
        if (form) draw_number(bars[j].*form, bars[j], j, slots, frame);
    }
    if (!form)
        draw_number(bars[largest(bars)].text, bars[largest(bars)], largest(bars), slots, frame);
    draw_labels(bars, slots, frame);
    explain(bars, slots, frame);
    return form != nullptr;
}

// --- a side

void draw_heading(const SaturationSideView& side, ImVec2 low, ImVec2 high, const Frame& frame) {
    const Font& font = frame.fonts.strong;
    const ImVec2 bottom{high.x, low.y + frame.px(kTableRow)};
    draw_text_in(frame, font, low, bottom, Align::left, frame.theme.role(side.role), side.title);
    const float after = low.x + frame.text_width(font, side.title) + frame.px(10);
    if (frame.text_width(frame.fonts.small, side.formula) <= high.x - after)
        draw_text_in(frame, frame.fonts.small, {after, low.y}, bottom, Align::left,
                     frame.theme.muted, side.formula);
}

float cell_in(const view::GridView& grid, ImVec2 space, const Frame& frame) {
    float cell = space.x / static_cast<float>(grid.columns);
    for (int pass = 0; pass < 2; ++pass) {  // the margins depend a little on the cell
        const GridMargins margins = grid_margins(grid, frame, cell);
        cell = std::min((space.x - margins.left - margins.right) / static_cast<float>(grid.columns),
                        (space.y - margins.top - margins.bottom) / static_cast<float>(grid.rows));
        cell = within(cell, frame.px(0.25F), frame.px(kLargestCell));
    }
    return cell;
}

}  // namespace

float median_table_height(const Frame& frame) { return frame.px(5 * kTitleRow + kRule); }

void draw_median_table(const view::SaturationTable& table, ImVec2 low, float width,
                       const Frame& frame) {
    const float height = frame.px(kTitleRow);
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
    const float height = std::min(frame.px(kTitleRow), (box.high.y - box.low.y) / lines);
    Row row{frame, box.low, {box.high.x, box.low.y + height}, kNumbers};
    draw_heads(row, details.caption);
    for (const ComparedNumber& number : details.rows) {
        row.low.y += height;
        row.high.y += height;
        draw_number(row, number);
    }
}

void draw_side_bars(const SaturationSideView& side, const Box& box, const Frame& frame) {
    const ImVec2 low = box.low, high = box.high;
    ImGui::PushID(side.title.c_str());
    draw_heading(side, low, high, frame);
    const float note = frame.px(kNote);
    const ImVec2 bottom{high.x, high.y - 2 * note};
    const bool numbered = draw_bars(side.bars, frame.theme.role(side.role),
                                    {low.x, low.y + frame.px(kTableRow)}, bottom, frame);
    const auto line = [&](float top, const std::string& text) {
        draw_fitted(frame, frame.fonts.small, {low.x, top}, {high.x, top + note}, Align::left,
                    frame.theme.muted, text);
    };
    line(bottom.y, side.note);
    if (numbered) line(bottom.y + note, side.rounding_note);
    ImGui::PopID();
}

float jacobian_height(const SaturationSideView& side, float width, const Frame& frame) {
    const view::GridView& grid = side.jacobian;
    const float cell = cell_in(grid, {width, 1e6F}, frame);
    const GridMargins margins = grid_margins(grid, frame, cell);
    return cell * static_cast<float>(grid.rows) + margins.top + margins.bottom;
}

void draw_side_jacobian(const SaturationSideView& side, const Box& box, const Frame& frame) {
    const view::GridView& grid = side.jacobian;
    const ImVec2 space{box.high.x - box.low.x, box.high.y - box.low.y};
    const float cell = cell_in(grid, space, frame);
    const GridMargins margins = grid_margins(grid, frame, cell);
    const GridPlace place{{box.low.x + margins.left, box.low.y + margins.top}, {cell, cell}};
    ImGui::PushID(side.title.c_str());
    draw_grid(grid, {}, place, frame);
    ImGui::PopID();
}

}  // namespace attn::ui
