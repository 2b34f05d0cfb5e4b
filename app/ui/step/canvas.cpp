#include "app/ui/step/canvas.h"

#include <algorithm>

#include "app/ui/common/draw.h"
#include "app/ui/common/widgets.h"
#include "app/ui/step/heading.h"
#include "app/ui/step/layout.h"

namespace attn::ui {
namespace {

using view::CellRef;
using view::GridView;
using view::StepView;

// Design units.
constexpr float kLowCanvas = 380.0F;    // below this the readouts are scrolled to
constexpr float kBelow = 24.0F;         // between matrices and readouts
constexpr float kMostReadouts = 0.36F;  // of the canvas
constexpr float kHeight = 0.3F;         // of the spare height stands above the matrices

constexpr float kNoPage = 1e5F;  // pixels: no figure is so wide or so high

/// While it lives, the current window cuts nothing of a figure of the canvas alone.
class AllRoom {
  public:
    explicit AllRoom(const Frame& frame) : alone_(frame.is_canvas_alone()) {
        if (alone_) ImGui::PushClipRect({0.0F, 0.0F}, {kNoPage, kNoPage}, false);
    }
    ~AllRoom() {
        if (alone_) ImGui::PopClipRect();
    }
    AllRoom(const AllRoom&) = delete;
    AllRoom& operator=(const AllRoom&) = delete;

  private:
    bool alone_;
};

ImVec2 operator+(ImVec2 a, ImVec2 b) { return {a.x + b.x, a.y + b.y}; }

/// One line of text with its middle at `middle`.
void draw_centered(const Frame& frame, const Font& font, ImVec2 middle, view::Color color,
                   const std::string& text) {
    draw_text_in(frame, font, {middle.x, middle.y - font.px}, {middle.x, middle.y + font.px},
                 Align::center, color, text);
}

void draw_operator(const Frame& frame, ImVec2 middle, float width, const std::string& sign) {
    const Font font = operator_font(frame, ImGui::GetWindowSize().x);
    const OperatorText text = operator_text(sign);
    const view::Color color = frame.theme.muted;
    const float words = frame.text_width(font, text.words);
    if (!text.arrow) return draw_centered(frame, font, middle, color, text.words);
    const bool alone = text.words.empty();
    const float y = alone ? middle.y : middle.y + frame.px(4);
    const float half =
        std::min(std::max(words, frame.px(alone ? 24 : 48)), width - frame.px(8)) / 2;
    draw_arrow(frame, {middle.x - half, y}, {middle.x + half, y}, color, frame.px(1.25F));
    draw_centered(frame, font, {middle.x, y - font.px * 0.5F - frame.px(8)}, color, text.words);
    const Font& small = frame.fonts.digits_small;
    if (frame.text_width(small, text.note) > width) return;
    draw_centered(frame, small, {middle.x, y + small.px * 0.5F + frame.px(8)}, color, text.note);
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
    const AllRoom all_room(m.frame);
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

float wanted_readouts(const StepView& view, const Frame& frame, float room) {
    const float wanted = readouts_height(std::max<Index>(view.result.rows, 1), frame);
    return room < frame.px(kLowCanvas) ? wanted : std::min(wanted, room * kMostReadouts);
}

/// Room for the readouts is kept at every [Tq, Tk] stage, so that the matrices stay in place.
bool keeps_readouts(const StepView& view) {
    return view.result.row_role == Role::query && view.result.column_role == Role::key;
}

/// How the canvas under the heading is shared, in pixels.
struct Shares {
    ImVec2 matrices;  // at most
    float readouts = 0.0F;
    float line = 0.0F;  // of the hint
};

Shares share_out(const StepView& view, const Frame& frame, ImVec2 room) {
    Shares shares{room, wanted_readouts(view, frame, room.y),
                  view.hint.empty()
                      ? 0.0F
                      : frame.fonts.body.px + frame.px(20) + ImGui::GetStyle().ItemSpacing.y};
    const bool scrolled_to = room.y < frame.px(kLowCanvas);
    if (keeps_readouts(view) && !scrolled_to)
        shares.matrices.y -= shares.readouts + frame.px(kBelow + 16);
    shares.matrices.y -= shares.line;
    return shares;
}

/// What is seen of the matrices: all of them where nothing is scrolled.
ImVec2 shown_size(const CanvasLayout& layout, ImVec2 available, const Frame& frame) {
    if (frame.is_canvas_alone()) return layout.size;
    const float bar = layout.size.x > available.x ? ImGui::GetStyle().ScrollbarSize : 0.0F;
    return {available.x, std::min(available.y, layout.size.y + bar + frame.px(4))};
}

/// Spare height goes above the matrices in part: the same at every stage with as many rows, while
/// there is enough of it.
float drop_of(const Shares& shares, const Frame& frame, float room, float height, float shown) {
    const float most = room - shown - shares.readouts - frame.px(kBelow + 16);
    return std::max(0.0F, std::min((room - height) * kHeight, most));
}

std::optional<CellRef> draw_scrolled(const StepView& view,
                                     const std::optional<view::CellEdit>& editing,
                                     const CanvasLayout& layout, ImVec2 shown, const Frame& frame,
                                     view::Actions& out) {
    ImGui::SetNextWindowContentSize(layout.size);
    ImGui::BeginChild("matrices", shown, false, ImGuiWindowFlags_HorizontalScrollbar);
    const Matrices matrices{view, layout, frame, ImGui::GetCursorScreenPos()};
    const std::optional<CellRef> hovered = draw_matrices(matrices, out);
    if (editing) edit_cells(matrices, *editing, out);
    ImGui::EndChild();
    return hovered;
}

void draw_below(const StepView& view, const CanvasLayout& layout, const Shares& shares, float left,
                const Frame& frame) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (!view.hint.empty())
        draw_centered(frame, frame.fonts.body, {at.x + room.x / 2, at.y + frame.px(16)},
                      frame.theme.accent, fit_text(frame, frame.fonts.body, view.hint, room.x));
    if (view.rows.empty() || layout.operands.empty()) return;
    const float gap = frame.px(kBelow);
    const float height = std::max(
        shares.readouts,
        std::min(room.y - gap, readouts_height(static_cast<Index>(view.rows.size()), frame)));
    draw_readouts(view.rows,
                  {{left + layout.left, at.y + gap},
                   left + layout.operands.front().origin.x - frame.px(8),
                   {room.x - layout.left, height}},
                  frame);
}

/// The reason why there is nothing to see, in the middle.
void draw_reason(const std::string& reason, const Frame& frame) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const Font& font = frame.fonts.title;
    const bool fits = frame.text_width(font, reason) <= room.x;
    if (!fits) return wrapped_words(frame, frame.fonts.body, frame.theme.muted, reason);
    draw_centered(frame, font, {at.x + room.x / 2, at.y + room.y * kHeight}, frame.theme.muted,
                  reason);
    ImGui::Dummy({0.0F, 0.0F});  // ImGui 1.92: a cursor that was set needs an item after it
}

}  // namespace

std::optional<CellRef> draw_canvas(const StepView& view,
                                   const std::optional<view::CellEdit>& editing, const Frame& frame,
                                   view::Actions& out) {
    const AllRoom all_room(frame);
    draw_heading(view, frame);
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (!view.unavailable.empty()) {
        draw_reason(view.unavailable, frame);
        return std::nullopt;
    }
    const Shares shares = share_out(view, frame, room);
    const CanvasLayout layout = lay_out_canvas(view, frame, shares.matrices);
    const ImVec2 shown = shown_size(layout, shares.matrices, frame);
    const float drop = drop_of(shares, frame, room.y, layout.size.y, shown.y);
    ImGui::SetCursorScreenPos({origin.x, origin.y + drop});
    const auto hovered = draw_scrolled(view, editing, layout, shown, frame, out);
    draw_below(view, layout, shares, origin.x, frame);
    return hovered;
}

}  // namespace attn::ui
