#include <array>

#include "app/common/document/document.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/inspector.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/draw/parts.h"

namespace attn::ui {
namespace {

using view::MemoryRowView;

// Design units.
constexpr float kShare = 3.0F;  // height of the strip of a weight

struct Column {
    const char* title;
    std::string MemoryRowView::*text;
    float share;  // of the width
    bool number;
};
constexpr std::array<Column, 7> kColumns{{{"key", &MemoryRowView::key, 0.18F, false},
                                          {"value", &MemoryRowView::value, 0.18F, false},
                                          {"q·k", &MemoryRowView::score, 0.1F, true},
                                          {"cos", &MemoryRowView::cosine, 0.09F, true},
                                          {"weight a", &MemoryRowView::weight, 0.14F, true},
                                          {"v", &MemoryRowView::at, 0.21F, true},
                                          {"‖a v‖", &MemoryRowView::contribution, 0.1F, true}}};

view::Color color_of_cell(const MemoryRowView& row, const Column& column, const Frame& frame) {
    const view::Theme& theme = frame.theme;
    if (column.text == &MemoryRowView::key) return theme.role(Role::key);
    if (column.text == &MemoryRowView::value) return theme.role(Role::value);
    if (column.text == &MemoryRowView::score && row.best) return theme.accent;
    if (column.text == &MemoryRowView::cosine && row.most_similar) return theme.accent;
    return theme.text;
}

template <class Text, class Paint>
void draw_cells(const Box& line, const Frame& frame, Text text_of, Paint color_of) {
    float x = line.low.x;
    const float pad = frame.px(6);
    for (const Column& column : kColumns) {
        const float width = line.size().x * column.share;
        const Font& font = column.number ? frame.fonts.digits_small : frame.fonts.body;
        draw_fitted(frame, font, {x + pad, line.low.y}, {x + width - pad, line.high.y},
                    column.number ? Align::right : Align::left, color_of(column), text_of(column));
        x += width;
    }
}

bool draw_row(const MemoryRowView& row, std::size_t n, const Box& line, const Frame& frame,
              view::Actions& out) {
    ImGui::SetCursorScreenPos(line.low);
    ImGui::PushID(static_cast<int>(n));
    const bool clicked = invisible_button("row", line.size());
    const bool hovered = ImGui::IsItemHovered();
    if (clicked || pressed_by_key(frame))
        out.push_back(view::SelectLookupPair{static_cast<Index>(n)});
    tooltip(
        frame, row.key + " → " + row.value,
        "The strip shows the weight. The largest q·k and the largest cosine are coloured. Click "
        "to see the arithmetic.");
    ImGui::PopID();
    if (row.selected || hovered || row.hovered)
        frame.painter.rect(line.low, line.high, frame.theme.raised, frame.px(4));
    const auto share = static_cast<float>(within(row.share, 0.0, 1.0));
    frame.painter.rect({line.low.x, line.high.y - frame.px(kShare)},
                       {line.low.x + line.size().x * share, line.high.y},
                       frame.theme.role(Role::weight));
    if (row.selected)
        frame.painter.rect(line.low, {line.low.x + frame.px(2), line.high.y}, frame.theme.accent);
    draw_cells(
        line, frame, [&](const Column& column) { return row.*column.text; },
        [&](const Column& column) { return color_of_cell(row, column, frame); });
    return hovered;
}

}  // namespace

float memory_table_height(const view::MemoryView& view, const Frame& frame) {
    return frame.px(kTableRow + kTableRow * static_cast<float>(view.rows.size()));
}

std::optional<Index> draw_memory_table(const view::MemoryView& view, const Box& box,
                                       const Frame& frame, view::Actions& out) {
    const Box head{box.low, {box.high.x, box.low.y + frame.px(kTableRow)}};
    draw_cells(
        head, frame, [](const Column& column) { return std::string(column.title); },
        [&](const Column&) { return frame.theme.muted; });
    std::optional<Index> hovered;
    for (std::size_t n = 0; n < view.rows.size(); ++n) {
        const float y = head.high.y + frame.px(kTableRow) * static_cast<float>(n);
        if (draw_row(view.rows[n], n, {{box.low.x, y}, {box.high.x, y + frame.px(kTableRow)}},
                     frame, out))
            hovered = static_cast<Index>(n);
    }
    record_rect_for_tests(frame.painter, Measuring::Kind::labels, box.low, box.high);
    return hovered;
}

float memory_numbers_height(const view::MemoryView& view, const Frame& frame) {
    return frame.px(kTableRow) * static_cast<float>(view.numbers.size());
}

void draw_memory_numbers(const view::MemoryView& view, const Box& box, const Frame& frame) {
    float y = box.low.y;
    for (const view::Readout& each : view.numbers) {
        const float bottom = y + frame.px(kTableRow);
        const float width = box.size().x;
        ImGui::SetCursorScreenPos({box.low.x, y});
        leave_space({width, bottom - y});
        tooltip(frame, each.label, each.tooltip);
        draw_text_in(frame, frame.fonts.body, {box.low.x, y}, {box.high.x, bottom}, Align::left,
                     frame.theme.text, each.label);
        const float value = frame.text_width(frame.fonts.digits, each.text);
        draw_text_in(frame, frame.fonts.digits, {box.low.x, y}, {box.high.x, bottom}, Align::right,
                     frame.theme.text, each.text);
        const float left = box.low.x + frame.text_width(frame.fonts.body, each.label) + frame.px(8);
        draw_fitted(frame, frame.fonts.small, {left, y}, {box.high.x - value - frame.px(8), bottom},
                    Align::left, frame.theme.muted, each.formula);
        y = bottom;
    }
}

}  // namespace attn::ui
