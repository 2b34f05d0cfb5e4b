#include "app/ui/canvas.h"

#include <algorithm>

#include "app/ui/canvas_layout.h"
#include "app/ui/draw.h"
#include "app/ui/widgets.h"

namespace attn::ui {
namespace {

using view::CellRef;
using view::GridView;
using view::StepView;

// Design units.
constexpr float kRowHeight = 22.0F;   // of the readouts
constexpr float kHeadHeight = 40.0F;  // of the readouts
constexpr float kLowCanvas = 380.0F;  // below this the readouts are scrolled to
constexpr std::size_t kMostRows = 6;  // of the readouts without scrolling

ImVec2 operator+(ImVec2 a, ImVec2 b) { return {a.x + b.x, a.y + b.y}; }

/// At the right end of the title's line while it fits, else on a line of its own.
void draw_badge(const StepView& view, const Frame& frame, float taken, ImVec2 line) {
    const Font& font = frame.fonts.small;
    const float width = text_size(font, view.controls.badge).x;
    const float right = line.x + ImGui::GetContentRegionAvail().x;
    if (right - width < line.x + taken + frame.px(24)) {
        wrapped_words(font, frame.theme.warning, view.controls.badge);
        return;
    }
    draw_text(*ImGui::GetWindowDrawList(), font, {right - width, line.y + frame.px(8)},
              to_u32(frame.theme.warning), view.controls.badge);
}

/// Every stage's heading is at least as high as its title and the lines that may wrap under it, so
/// that the matrices do not move from stage to stage.
void keep_heading_height(const Frame& frame, float top, float room) {
    const float lines = room < frame.px(640) ? 3.0F : 2.0F;
    const float gap = ImGui::GetStyle().ItemSpacing.y;
    const float height =
        frame.fonts.title.px + gap + lines * (frame.fonts.body.px + gap) + frame.px(8);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos({at.x, std::max(at.y, top + height)});
}

void draw_heading(const StepView& view, const Frame& frame) {
    const view::Theme& theme = frame.theme;
    const ImVec2 line = ImGui::GetCursorScreenPos();
    const float room = ImGui::GetContentRegionAvail().x;
    const float title = text_size(frame.fonts.title, view.title).x;
    const float both = title + frame.px(24) + text_size(frame.fonts.digits, view.formula).x;
    words(frame.fonts.title, theme.text, view.title);
    if (both <= room) {
        ImGui::SameLine(0.0F, frame.px(24));
        const float drop = (frame.fonts.title.px - frame.fonts.digits.px) * 0.75F;
        ImGui::SetCursorPosY(ImGui::GetCursorPosY() + drop);
    }
    wrapped_words(frame.fonts.digits, theme.role(view.result.role), view.formula);
    wrapped_words(frame.fonts.body, theme.muted, view.words);
    draw_badge(view, frame, both <= room ? both : title, line);
    wrapped_words(frame.fonts.body, theme.accent, view.hint);
    keep_heading_height(frame, line.y, room);
}

void draw_operator(const Frame& frame, ImVec2 middle, float width, const std::string& sign) {
    const Font font = operator_font(frame, ImGui::GetWindowSize().x);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImU32 color = to_u32(frame.theme.muted);
    const ImVec2 size = text_size(font, sign);
    const ImVec2 half{std::max(width, size.x) / 2, size.y / 2};
    draw_text_in(list, font, {middle.x - half.x, middle.y - half.y}, middle + half, Align::center,
                 color, sign);
}

/// Matrices that may scroll sideways when even small cells do not fit.
struct Matrices {
    const StepView& view;
    const CanvasLayout& layout;
    const Frame& frame;
    ImVec2 origin;

    GridPlace on_screen(const GridPlace& place) const {
        return {place.origin + origin, place.cell};
    }
};

void edit_in(const GridView& grid, const GridPlace& place, const view::CellEdit& editing,
             const Frame& frame, view::Actions& out) {
    for (Index row = 0; row < grid.rows; ++row)
        for (Index column = 0; column < grid.columns; ++column) {
            if (!(grid.ref(row, column) == editing.cell)) continue;
            const ImVec2 low{place.origin.x + static_cast<float>(column) * place.cell.x,
                             place.origin.y + static_cast<float>(row) * place.cell.y};
            draw_cell_editor(editing, low, place.cell, frame, out);
        }
}

std::optional<CellRef> draw_matrices(const Matrices& m, view::Actions& out) {
    std::optional<CellRef> hovered;
    for (std::size_t n = 0; n < m.view.operands.size(); ++n) {
        ImGui::PushID(static_cast<int>(n));  // two operands may be views of one stage
        const auto over =
            draw_grid(m.view.operands[n], {}, m.on_screen(m.layout.operands[n]), m.frame, out);
        ImGui::PopID();
        if (over) hovered = over;
        if (n < m.view.operators.size())
            draw_operator(m.frame, m.layout.operators[n] + m.origin, m.layout.operator_widths[n],
                          m.view.operators[n]);
    }
    const Fade fade{m.view.previous ? &*m.view.previous : nullptr, m.view.fade};
    const auto over = draw_grid(m.view.result, fade, m.on_screen(m.layout.result), m.frame, out);
    return over ? over : hovered;
}

void edit_cells(const Matrices& m, const view::CellEdit& editing, view::Actions& out) {
    for (std::size_t n = 0; n < m.view.operands.size(); ++n)
        edit_in(m.view.operands[n], m.on_screen(m.layout.operands[n]), editing, m.frame, out);
    edit_in(m.view.result, m.on_screen(m.layout.result), editing, m.frame, out);
}

void edit_selected(const GridView& grid, view::Actions& out) {
    if (grid.editable && grid.selected)
        begin_edit_by_keyboard(grid.ref(grid.selected->first, grid.selected->second), out);
}

/// Room for the readouts is kept at every [Tq, Tk] stage, so that the matrices stay in place.
float readouts_height(const StepView& view, const Frame& frame, float available) {
    if (view.result.row_role != Role::query || view.result.column_role != Role::key) return 0.0F;
    const auto rows = static_cast<std::size_t>(std::max<Index>(view.result.rows, 1));
    const float wanted = frame.px(kHeadHeight) +
                         frame.px(kRowHeight) * static_cast<float>(std::min(rows, kMostRows));
    return available < frame.px(kLowCanvas) ? wanted : std::min(wanted, available * 0.36F);
}

}  // namespace

std::optional<CellRef> draw_canvas(const StepView& view,
                                   const std::optional<view::CellEdit>& editing, const Frame& frame,
                                   view::Actions& out) {
    draw_heading(view, frame);
    if (!view.unavailable.empty()) {
        wrapped_words(frame.fonts.body, frame.theme.warning, view.unavailable);
        return std::nullopt;
    }
    ImGui::Dummy({0.0F, frame.px(8)});
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float below = readouts_height(view, frame, room.y);
    const bool low = room.y < frame.px(kLowCanvas);
    const ImVec2 available{room.x, low ? room.y : room.y - below - frame.px(below > 0.0F ? 40 : 8)};
    const CanvasLayout layout = lay_out_canvas(view, frame, available);
    ImGui::SetNextWindowContentSize(layout.size);
    const float bar = layout.size.x > available.x ? ImGui::GetStyle().ScrollbarSize : 0.0F;
    const ImVec2 shown{available.x, std::min(available.y, layout.size.y + bar + frame.px(4))};
    ImGui::BeginChild("matrices", shown, false, ImGuiWindowFlags_HorizontalScrollbar);
    const Matrices matrices{view, layout, frame, ImGui::GetCursorScreenPos()};
    const std::optional<CellRef> hovered = draw_matrices(matrices, out);
    if (editing) {
        edit_cells(matrices, *editing, out);
    } else {
        for (const GridView& operand : view.operands) edit_selected(operand, out);
        edit_selected(view.result, out);
    }
    ImGui::EndChild();
    if (view.rows.empty()) return hovered;
    ImGui::Dummy({0.0F, frame.px(16)});
    draw_readouts(view.rows, below, frame);
    return hovered;
}

}  // namespace attn::ui
