#include "app/workspaces/step/draw/canvas.h"

#include <fmt/format.h>

#include "app/common/draw/axis_labels.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/grid_parts.h"
#include "app/common/draw/items.h"
#include "app/common/format.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/draw/heading.h"
#include "app/workspaces/step/draw/layout.h"
#include "app/workspaces/step/draw/sentence.h"
#include "app/workspaces/step/draw/start_buttons.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kLeastPitch = 12.0F;     // of the numbers along an arm
constexpr float kSpaciousPitch = 36.0F;  // of columns beside which a row's number has room
constexpr float kNarrowestBar = 96.0F;
constexpr float kFooterHeight = 26.0F;  // of a colour bar with its numbers
constexpr double kFading = 0.4;         // of its time, the end: a flash fades
constexpr float kHeight = 0.3F;         // of the spare height is above a canvas of words
constexpr std::size_t kMostOfWord = 16, kLeastOfWord = 4;  // letters of a row's word in its title

ImVec2 operator+(ImVec2 a, ImVec2 b) { return {a.x + b.x, a.y + b.y}; }

/// One matrix and its place on screen.
struct Placed {
    const GridView& grid;
    GridPlace place;
};

/// The stage's matrices.
struct Cross {
    const StepView& view;
    const CanvasLayout& layout;
    const Frame& frame;
    ImVec2 origin;
    ImVec2 space;
    std::vector<Placed> all = {};  // the operands, then the result

    const Placed& result() const { return all.back(); }
    std::span<const Placed> operands() const { return std::span(all).first(all.size() - 1); }
    GridCanvas canvas(const Placed& one) const { return {one.grid, one.place, frame}; }
    /// The first in a slot, farthest from the hero; nullptr if the slot is empty.
    const Placed* first_in(Slot slot) const {
        const auto found =
            std::ranges::find(operands(), slot, [](const Placed& one) { return one.grid.slot; });
        return found == operands().end() ? nullptr : &*found;
    }
};

Cross cross_of(const StepView& view, const CanvasLayout& layout, const Frame& frame, ImVec2 space) {
    Cross cross{view, layout, frame, ImGui::GetCursorScreenPos(), space};
    const auto add = [&](const GridView& grid, const GridPlace& place) {
        cross.all.push_back({grid, {place.origin + cross.origin, place.cell}});
    };
    for (std::size_t n = 0; n < view.operands.size(); ++n)
        if (layout.operands[n].cell.y > 0.0F) add(view.operands[n], layout.operands[n]);
    add(view.result, layout.result);
    return cross;
}

/// The words of the hero's rows and columns, once, outside of what shares them. Returns the cell of the one under the
/// pointer.
std::optional<CellRef> draw_axes(const Cross& cross, const Placed& hero, Actions& out) {
    const Placed* const left = cross.first_in(Slot::left);
    const Placed* const top = cross.first_in(Slot::top);
    const float right = (left ? left : &hero)->place.origin.x;
    GridPlace rows{{right, hero.place.origin.y}, hero.place.cell};
    draw_row_labels(GridCanvas{hero.grid, rows, cross.frame}, right);
    const float bottom = (top ? top : &hero)->place.origin.y;
    if (cross.layout.chips == ChipForm::none) {
        draw_column_labels(cross.canvas(hero), bottom);
        return std::nullopt;
    }
    const float chip = cross.layout.chip;
    const WordColumns at{{hero.place.origin.x, bottom - chip - cross.frame.px(kSpace8)},
                         hero.place.cell.x,
                         chip,
                         cross.layout.arcs,
                         cross.layout.chips};
    return draw_sentence(cross.view.sentence, at, cross.frame, out);
}

/// The row of the selected cell, in the colour of queries. Nothing else is dimmed for it.
void draw_selected_row(const Cross& cross) {
    const auto& [grid, place] = cross.result();
    if (!grid.selected || grid.rows < 2 || grid.row_role != Role::query) return;
    const GridCanvas canvas = cross.canvas(cross.result());
    const float out = cross.frame.px(1.5F);
    const ImVec2 low = canvas.corner(grid.selected->first, 0);
    const ImVec2 high = canvas.corner(grid.selected->first + 1, grid.columns);
    const auto ring = [&](float by, Color color) {
        cross.frame.painter.outline({low.x - by, low.y - by}, {high.x + by - 1, high.y + by - 1},
                                    color, out);
    };
    ring(2.0F * out, cross.frame.theme.background);  // apart from dark cells
    ring(out, cross.frame.theme.query);
}

/// Whether the columns of an arm at the left or right have numbers, or names, above them.
bool is_numbered(const Frame& frame, const Placed& one) {
    const bool counted =
        one.place.cell.x >= frame.px(kLeastPitch) && one.grid.column_role != Role::key;
    return counted || !one.grid.groups.empty();
}

/// Where the next matrix at the right begins, or the canvas ends.
float end_of_title(const Cross& cross, const GridPlace& place) {
    float end = cross.origin.x + cross.space.x;
    for (const Placed& other : cross.all) {
        const bool above = other.grid.slot == Slot::top;
        if (!above && other.place.origin.x > place.origin.x)
            end = std::min(end, other.place.origin.x);
    }
    return end;
}

/// Above an arm at the left or right: its symbol, and the numbers of its columns where they have room.
void draw_side_title(const Cross& cross, const Placed& one) {
    const auto& [grid, place] = one;
    const Frame& frame = cross.frame;
    const bool numbered = is_numbered(frame, one);
    float bottom = place.origin.y;
    if (numbered) draw_column_labels(cross.canvas(one), bottom);
    if (numbered) bottom -= frame.px(kLabelHeight);
    const float end = end_of_title(cross, place) - frame.px(kSpace8);
    float left = place.origin.x;
    if (grid.slot == Slot::left)  // a longer matrix begins over the labels
        left = std::max(cross.origin.x,
                        std::min(left, end - frame.text_width(frame.fonts.strong, grid.title)));
    const ImVec2 low{left, bottom - frame.px(kTextRow)};
    const std::string title = fit_text(frame, frame.fonts.strong, grid.title, end - left + 1.0F);
    frame.painter.text(frame.fonts.strong, low, frame.theme.role(grid.role), title);
    const float after = frame.text_width(frame.fonts.strong, title) + frame.px(6);
    const float width = place.cell.x * static_cast<float>(grid.columns);
    if (after + frame.text_width(frame.fonts.small, grid.shape) > width) return;
    frame.painter.text(frame.fonts.small, {low.x + after, low.y + frame.px(2)}, frame.theme.muted,
                       grid.shape);
}

/// Single rows of the left matrices, which their titles name.
bool has_rows_above(const StepView& view) {
    return std::ranges::any_of(view.operands, [](const GridView& grid) {
        return grid.slot == Slot::top && grid.rows == 1 && grid.row_role == Role::query;
    });
}

/// Title and shape under a matrix, and what stays free after them.
float footer_text(const Placed& one, const Frame& frame) {
    return frame.text_width(frame.fonts.strong, one.grid.title) +
           frame.text_width(frame.fonts.small, one.grid.shape) + frame.px(6 + kSpace16);
}

/// Where the titles of what stands left begin.
float roof_of_left(const Cross& cross) {
    float roof = cross.origin.y + cross.space.y;
    if (has_rows_above(cross.view)) return roof;
    for (const Placed& one : cross.operands()) {
        if (one.grid.slot != Slot::left) continue;
        const float numbers = is_numbered(cross.frame, one) ? kLabelHeight : 0.0F;
        roof = std::min(roof, one.place.origin.y - cross.frame.px(kTextRow + numbers));
    }
    return roof;
}

/// Of the matrix next to the hero: where its symbol, above it, ends.
float end_of_left_title(const Cross& cross) {
    float end = cross.origin.x;
    if (has_rows_above(cross.view)) return end;
    for (const Placed& one : cross.operands())
        if (one.grid.slot == Slot::left)
            end = std::max(end, one.place.origin.x + footer_text(one, cross.frame));
    return end;
}

/// Whether the numbers of a row down at `foot` would stand among narrow columns' numbers of what stands left.
bool meets_columns(const Cross& cross, float bottom) {
    return bottom > roof_of_left(cross) &&
           std::ranges::any_of(cross.operands(), [&](const Placed& one) {
               return one.grid.slot == Slot::left && is_numbered(cross.frame, one) &&
                      one.place.cell.x < cross.frame.px(kSpaciousPitch);
           });
}

/// "A[antidisestablishm…, ·]" with as much of the word as fits; where four letters do not fit, the symbol alone.
std::string fitting_title(const GridView& grid, const Frame& frame, const Font& font, float space) {
    const auto fits = [&](const std::string& text) {
        return frame.text_width(font, text) <= space;
    };
    if (fits(grid.title)) return grid.title;
    const std::size_t bracket = grid.title.find('[');
    if (grid.rows > 1 || bracket == std::string::npos)
        return fit_text(frame, font, grid.title, space);
    const std::string symbol = grid.title.substr(0, bracket);
    for (std::size_t letters = kMostOfWord; letters >= kLeastOfWord; --letters)
        if (const std::string title =
                fmt::format("{}[{}, ·]", symbol, middle_ellipsis(grid.row_labels.front(), letters));
            fits(title))
            return title;
    return symbol;
}

/// Left of an arm above: its symbol, the numbers of its rows where they have room, and what is done to it.
void draw_top_title(const Cross& cross, const Placed& one) {
    const auto& [grid, place] = one;
    const Frame& frame = cross.frame;
    const float height = place.cell.y * static_cast<float>(grid.rows);
    const bool is_low = height < frame.fonts.strong.px;
    const Font& font = is_low ? frame.fonts.small : frame.fonts.strong;
    const float bottom = std::min(place.origin.y + height, roof_of_left(cross));
    const float head = std::min(place.origin.y, bottom - font.px);
    float right = place.origin.x - frame.px(kSpace8);
    const float labels =
        row_labels_width({grid.row_labels, place.cell.y, grid.row_role, {}, {}}, frame);
    if (grid.rows > 1 && place.cell.y >= frame.px(kLeastPitch) &&
        !meets_columns(cross, place.origin.y + height) &&
        (bottom == place.origin.y + height || place.origin.x - labels > end_of_left_title(cross))) {
        draw_row_labels(cross.canvas(one), place.origin.x);
        right -= std::max(frame.px(24), labels);
    }
    if (grid.as_bars) right -= frame.px(24);  // the end of their axis stands there
    const float left = cross.origin.x;
    const std::string title = fitting_title(grid, frame, font, right - left);
    draw_text_in(frame, font, {left, head}, {right, bottom}, Align::right,
                 frame.theme.role(grid.role), title);
    if (grid.action.empty()) return;
    const float end = right - frame.text_width(font, title) - frame.px(kSpace8 * 2);
    const std::string action = grid.action + " ↓";
    if (frame.text_width(frame.fonts.small, action) > end - left) return;
    draw_text_in(frame, frame.fonts.small, {left, head}, {end, bottom}, Align::right,
                 frame.theme.muted, action);
}

/// What to press first, at the foot of the canvas, clear of the hero's title. Colour bars end before it.
struct Hint {
    std::string text;
    ImVec2 low, high;
};
Hint hint_of(const Cross& cross) {
    const Frame& frame = cross.frame;
    const Font& font = frame.fonts.body;
    const std::string& whole = cross.view.hint;
    const ImVec2 end = cross.origin + cross.space;
    const Placed& hero = cross.result();
    const bool meets = cross.canvas(hero).end().y + frame.px(kFooterHeight) > end.y - font.px;
    const float title = hero.place.origin.x + footer_text(hero, frame);
    const float space = std::min(cross.space.x / 2, meets ? end.x - title : cross.space.x);
    const bool fits = frame.text_width(font, whole) <= space;
    const std::string text =
        fit_text(frame, font, fits ? whole : whole.substr(0, whole.find(". ")), space);
    return {text,
            {end.x - frame.text_width(font, text), end.y - font.px - frame.px(4)},
            {end.x, end.y - frame.px(4)}};
}

void draw_hint(const Cross& cross) {
    if (cross.frame.is_canvas_alone()) return;
    const Hint hint = hint_of(cross);
    draw_text_in(cross.frame, cross.frame.fonts.body, hint.low, hint.high, Align::right,
                 cross.frame.theme.muted, hint.text);
}

/// Under a matrix at the left, where rows above it leave no space for its title.
void draw_low_title(const Cross& cross, const Placed& one) {
    const Frame& frame = cross.frame;
    const ImVec2 end = cross.canvas(one).end();
    const float width = end_of_title(cross, one.place) - one.place.origin.x;
    draw_text_in(frame, frame.fonts.strong, {one.place.origin.x, end.y + frame.px(kSpace8)},
                 {one.place.origin.x + width, end.y + frame.px(kSpace8 + kTextRow)}, Align::left,
                 frame.theme.role(one.grid.role),
                 fit_text(frame, frame.fonts.strong, one.grid.title, width));
}

void draw_titles(const Cross& cross, const Placed& one) {
    const Slot slot = one.grid.slot;
    if (slot == Slot::top) draw_top_title(cross, one);
    if (slot == Slot::right) draw_side_title(cross, one);
    if (slot != Slot::left) return;
    if (has_rows_above(cross.view))
        draw_low_title(cross, one);
    else
        draw_side_title(cross, one);
}

/// Under the result: its title and its colours.
void draw_footer(const Cross& cross, const Placed& one, Actions& out) {
    const auto& [grid, place] = one;
    const Frame& frame = cross.frame;
    const GridCanvas canvas = cross.canvas(one);
    const ImVec2 low{place.origin.x, canvas.end().y + frame.px(kSpace8)};
    frame.painter.text(frame.fonts.strong, low, frame.theme.role(grid.role), grid.title);
    const float shape = low.x + frame.text_width(frame.fonts.strong, grid.title) + frame.px(6);
    frame.painter.text(frame.fonts.small, {shape, low.y + frame.px(2)}, frame.theme.muted,
                       grid.shape);
    const float x = low.x + footer_text(one, frame);
    const Hint hint = hint_of(cross);
    const bool meets = !hint.text.empty() && low.y + frame.px(kFooterHeight) > hint.low.y;
    const float edge = canvas.end().x;
    const float end = meets ? std::min(edge, hint.low.x - frame.px(kSpace8 * 2)) : edge;
    if (end - x > frame.px(kNarrowestBar))
        if (const auto on = draw_color_bar(canvas, {x, low.y + frame.px(2)}, end - x))
            out.push_back(ScaleRows{*on});
}

/// One matrix with what the pointer does on it.
void draw_one(const Cross& cross, const Placed& one, const Fade& fade,
              std::optional<CellRef>& hovered, Actions& out) {
    const Dress bare{.labels = false, .color_bar = false, .sides = false};
    const GridResult done = draw_grid(one.grid, fade, one.place, cross.frame, bare);
    if (done.hovered) hovered = done.hovered;
    if (done.clicked) out.push_back(SelectCell{*done.clicked});
    if (done.edited && one.grid.editable) out.push_back(BeginCellEdit{*done.edited});
    if (done.edited && !one.grid.editable) out.push_back(ExplainSource{*done.edited});
    draw_titles(cross, one);
}

std::optional<CellRef> draw_matrices(const Cross& cross, Actions& out) {
    std::optional<CellRef> hovered;
    int id = 0;
    for (const Placed& one : cross.operands()) {
        ImGui::PushID(id++);  // two operands may be views of one stage
        const Fade growing{nullptr, cross.view.fade};
        draw_one(cross, one, one.grid.as_bars ? growing : Fade{}, hovered, out);
        ImGui::PopID();
    }
    const Fade fade{cross.view.previous ? &*cross.view.previous : nullptr, cross.view.fade};
    draw_one(cross, cross.result(), fade, hovered, out);
    draw_selected_row(cross);
    return hovered;
}

std::optional<CellRef> draw_around(const Cross& cross, Actions& out) {
    const Placed& hero = cross.result();
    const auto hovered = draw_axes(cross, hero, out);
    draw_footer(cross, hero, out);
    draw_sides(cross.canvas(hero), cross.layout.right);
    return hovered;
}

/// Calls `draw` with the matrix and the corner of every place where the cell of the tensor is drawn.
template <class Draw>
void for_places(const Cross& cross, const CellRef& cell, Draw draw) {
    for (const Placed& one : cross.all)
        for (const auto [row, column] : each_cell(one.grid))
            if (one.grid.ref(row, column) == cell) draw(one, cross.canvas(one).corner(row, column));
}

void edit_cells(const Cross& cross, const CellEdit& editing, Actions& out) {
    for_places(cross, editing.cell, [&](const Placed& one, ImVec2 corner) {
        if (one.grid.editable)  // a target is typed into, the output beside it is not
            draw_cell_editor(editing, corner, one.place.cell, cross.frame, out);
    });
}

// ---- the first moments at a stage

constexpr std::ptrdiff_t kMostSources = 128;
constexpr float kMeeting = 0.75F;      // of the time: the sources have met
constexpr float kSmallDigits = 11.0F;  // design units

Box cell_box(const Cross& cross, const Placed& one, Index row, Index column) {
    const ImVec2 low = cross.canvas(one).corner(row, column);
    return {low, {low.x + one.place.cell.x - 1, low.y + one.place.cell.y - 1}};
}

void draw_moving(const Frame& frame, const CellView& cell, const Box& at) {
    frame.painter.rect(at.low, at.high, cell.fill, frame.px(2));
    const view::Font font{Face::mono, frame.px(kSmallDigits)};
    if (cell.look != CellLook::number || font.px > at.high.y - at.low.y) return;
    const std::string text = view::cell_number(cell.value, 2);
    if (frame.text_width(font, text) > at.high.x - at.low.x) return;
    draw_text_in(frame, font, at.low, at.high, Align::center, cell.ink, text);
}

/// The sources of the focused cell, which are lit, leave their matrices for it and meet there. Nothing once the stage has
/// arrived, where no cell is focused, and of a matrix that has too many sources to follow.
void draw_story(const Cross& cross) {
    const auto& selected = cross.view.result.selected;
    if (cross.view.fade >= kMeeting || !selected) return;
    const float part = static_cast<float>(cross.view.fade) / kMeeting;
    const float t = part * part * (3.0F - 2.0F * part);  // slow, fast, slow
    const auto mix = [t](ImVec2 a, ImVec2 b) {
        return ImVec2{a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t};
    };
    const Box to = cell_box(cross, cross.result(), selected->first, selected->second);
    for (const Placed& one : cross.operands()) {
        const GridView& grid = one.grid;
        if (grid.as_bars || std::ranges::count(grid.highlighted, true) > kMostSources) continue;
        for (std::size_t n = 0; n < grid.highlighted.size(); ++n) {
            if (!grid.highlighted[n]) continue;
            const auto cell = static_cast<Index>(n);
            const Box from = cell_box(cross, one, cell / grid.columns, cell % grid.columns);
            draw_moving(cross.frame, grid.cells[n],
                        {mix(from.low, to.low), mix(from.high, to.high)});
        }
    }
}

// ---- what was just typed

/// Whole at first, then it fades: under reduced motion it stays as it is until it is gone.
double strength_of(const FlashView& flash) { return std::min(1.0, flash.left / kFading); }

/// "1 → 3" where a number was just typed, over its neighbours when it is wider than its cell.
void draw_flash(const Cross& cross, const FlashView& flash) {
    const Frame& frame = cross.frame;
    const Font& font = frame.fonts.digits_small;
    const float least = frame.text_width(font, flash.text) + frame.px(12);
    const auto ink = [&](Color color) { return view::translucent(color, strength_of(flash)); };
    for_places(cross, flash.cell, [&](const Placed& one, ImVec2 low) {
        const ImVec2 size = one.place.cell;
        const ImVec2 high{low.x + std::max(size.x, least),
                          low.y + std::max(size.y, font.px + frame.px(6))};
        frame.painter.rect(low, high, ink(frame.theme.raised), frame.px(2));
        frame.painter.outline(low, high, ink(frame.theme.accent), frame.px(2), frame.px(2));
        draw_text_in(frame, font, low, high, Align::center, ink(frame.theme.text), flash.text);
    });
}

/// The reason why there is nothing to see, in the middle.
void draw_reason(const std::string& reason, const Frame& frame) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 space = ImGui::GetContentRegionAvail();
    const Font& font = frame.fonts.title;
    const bool fits = frame.text_width(font, reason) <= space.x;
    if (!fits) return wrapped_text(frame, frame.fonts.body, frame.theme.muted, reason);
    const float middle = at.y + space.y * kHeight;
    draw_text_in(frame, font, {at.x, middle - font.px}, {at.x + space.x, middle + font.px},
                 Align::center, frame.theme.muted, reason);
    leave_space({0.0F, 0.0F});  // ImGui 1.92: a cursor that was set needs an item after it
}

/// A canvas as narrow as a column of a page has the result, and nothing beside it.
std::optional<StepView> result_alone(const StepView& view, float width, const Frame& frame) {
    if (width >= frame.px(kNarrowCanvas) || !view.sentence.empty()) return std::nullopt;
    StepView alone = view;
    alone.operands.clear();
    return alone;
}

}  // namespace

Pointed draw_canvas(const StepView& whole, const std::optional<CellEdit>& editing,
                    const Frame& frame, Actions& out) {
    const auto symbol = draw_heading(whole, frame);
    if (!whole.unavailable.empty()) {
        draw_reason(whole.unavailable, frame);
        return {std::nullopt, symbol};
    }
    ImVec2 space = ImGui::GetContentRegionAvail();
    const auto alone = result_alone(whole, space.x, frame);
    const StepView& view = alone ? *alone : whole;
    if (view.start_buttons) space.y -= draw_start_buttons(view, frame, out);
    const CanvasLayout layout = lay_out_canvas(view, frame, space);
    const Cross cross = cross_of(view, layout, frame, space);
    auto hovered = draw_matrices(cross, out);
    if (const auto word = draw_around(cross, out)) hovered = word;
    draw_story(cross);
    draw_hint(cross);
    if (editing) {
        edit_cells(cross, *editing, out);
        return {hovered, symbol};
    }
    if (view.flash) draw_flash(cross, *view.flash);
    if (frame.quiet || !hovered) return {hovered, symbol};
    for (const auto& [grid, place] : cross.all)  // too small for numbers: read through a lens
        draw_lens(grid, place, frame, cross.origin, cross.origin + space);
    return {hovered, symbol};
}

}  // namespace attn::ui
