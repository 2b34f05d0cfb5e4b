#include "app/workspaces/step/draw/canvas.h"

#include <algorithm>

#include "app/common/draw/draw.h"
#include "app/common/draw/grid_parts.h"
#include "app/common/draw/lens.h"
#include "app/common/draw/widgets.h"
#include "app/workspaces/step/draw/heading.h"
#include "app/workspaces/step/draw/layout.h"
#include "app/workspaces/step/draw/story.h"

namespace attn::ui {
namespace {

using view::CellRef;
using view::GridView;
using view::Slot;
using view::StepView;

// Design units.
constexpr float kGap = 8.0F;
constexpr float kTitle = 20.0F;
constexpr float kLeastPitch = 12.0F;  // of the numbers along an arm
constexpr float kRoomyPitch = 36.0F;  // of columns beside which a row's number has room
constexpr float kNarrowestBar = 96.0F;
constexpr float kFootHeight = 26.0F;  // of a colour bar with its numbers
constexpr double kFading = 0.4;       // of its time, the end: a flash fades
constexpr float kHeight = 0.3F;       // of the spare height stands above words alone

ImVec2 operator+(ImVec2 a, ImVec2 b) { return {a.x + b.x, a.y + b.y}; }

/// The stage's matrices where they stand on screen.
struct Cross {
    const StepView& view;
    const CanvasLayout& layout;
    const Frame& frame;
    ImVec2 origin;
    ImVec2 room;

    GridPlace on_screen(const GridPlace& place) const {
        return {place.origin + origin, place.cell};
    }
    GridCanvas canvas(const GridView& grid, const GridPlace& place) const {
        return {grid, place, frame};
    }
};

/// What stands in a slot farthest from the hero: the labels stand outside of it.
const GridView* outermost(const Cross& cross, Slot slot, GridPlace& place) {
    for (std::size_t n = 0; n < cross.view.operands.size(); ++n) {
        if (cross.view.operands[n].slot != slot) continue;
        place = cross.on_screen(cross.layout.operands[n]);
        return &cross.view.operands[n];
    }
    return nullptr;
}

struct Hero {
    const GridView& grid;
    GridPlace place;
};

Hero hero_of(const Cross& cross) {
    for (std::size_t n = 0; n < cross.view.operands.size(); ++n)
        if (cross.view.operands[n].slot == Slot::hero)
            return {cross.view.operands[n], cross.on_screen(cross.layout.operands[n])};
    return {cross.view.result, cross.on_screen(cross.layout.result)};
}

/// The words of the hero's rows and columns, once, outside of what shares them.
void draw_axes(const Cross& cross, const Hero& hero) {
    GridPlace left = hero.place;
    GridPlace top = hero.place;
    outermost(cross, Slot::left, left);
    outermost(cross, Slot::top, top);
    GridPlace rows{{left.origin.x, hero.place.origin.y}, hero.place.cell};
    draw_row_labels(GridCanvas{hero.grid, rows, cross.frame}, left.origin.x);
    draw_column_labels(GridCanvas{hero.grid, hero.place, cross.frame}, top.origin.y);
}

/// Whether the columns of an arm at the left or right have numbers, or names, above them.
bool is_numbered(const Frame& frame, const GridView& grid, const GridPlace& place) {
    const bool counted = place.cell.x >= frame.px(kLeastPitch) && grid.column_role != Role::key;
    return counted || !grid.groups.empty();
}

/// Where the next matrix at the right begins, or the canvas ends.
float end_of_title(const Cross& cross, const GridPlace& place) {
    float end = cross.origin.x + cross.room.x;
    const auto limit = [&](const GridPlace& other) {
        if (other.origin.x > place.origin.x) end = std::min(end, other.origin.x);
    };
    limit(cross.on_screen(cross.layout.result));
    for (std::size_t n = 0; n < cross.view.operands.size(); ++n)
        if (cross.view.operands[n].slot != Slot::top)
            limit(cross.on_screen(cross.layout.operands[n]));
    return end;
}

/// Above an arm at the left or right: its symbol, and the numbers of its columns where they have room.
void draw_side_title(const Cross& cross, const GridView& grid, const GridPlace& place) {
    const Frame& frame = cross.frame;
    const bool numbered = is_numbered(frame, grid, place);
    float foot = place.origin.y;
    if (numbered) draw_column_labels(GridCanvas{grid, place, frame}, foot);
    if (numbered) foot -= frame.px(kLabelHeight);
    const ImVec2 low{place.origin.x, foot - frame.px(kTitle)};
    const float room = end_of_title(cross, place) - low.x - frame.px(kGap);
    const std::string title = fit_text(frame, frame.fonts.strong, grid.title, room);
    frame.painter.text(frame.fonts.strong, low, frame.theme.role(grid.role), title);
    const float after = frame.text_width(frame.fonts.strong, title) + frame.px(6);
    const float width = place.cell.x * static_cast<float>(grid.columns);
    if (after + frame.text_width(frame.fonts.small, grid.shape) > width) return;
    frame.painter.text(frame.fonts.small, {low.x + after, low.y + frame.px(2)}, frame.theme.muted,
                       grid.shape);
}

/// Single rows of what stands left, which their titles name.
bool has_rows_above(const StepView& view) {
    return std::ranges::any_of(view.operands, [](const GridView& grid) {
        return grid.slot == Slot::top && grid.rows == 1 && grid.row_role == Role::query;
    });
}

/// Where the titles of what stands left begin.
float roof_of_left(const Cross& cross) {
    float roof = cross.origin.y + cross.room.y;
    for (std::size_t n = 0; n < cross.view.operands.size(); ++n) {
        const GridView& grid = cross.view.operands[n];
        if (grid.slot != Slot::left || has_rows_above(cross.view)) continue;
        const GridPlace place = cross.on_screen(cross.layout.operands[n]);
        const float numbers = is_numbered(cross.frame, grid, place) ? kLabelHeight : 0.0F;
        roof = std::min(roof, place.origin.y - cross.frame.px(kTitle + numbers));
    }
    return roof;
}

/// Whether the numbers of a row down at `foot` would stand among narrow columns' numbers of what stands left.
bool meets_columns(const Cross& cross, float foot) {
    if (foot <= roof_of_left(cross)) return false;
    for (std::size_t n = 0; n < cross.view.operands.size(); ++n) {
        const GridView& grid = cross.view.operands[n];
        const GridPlace place = cross.on_screen(cross.layout.operands[n]);
        if (grid.slot == Slot::left && is_numbered(cross.frame, grid, place) &&
            place.cell.x < cross.frame.px(kRoomyPitch))
            return true;
    }
    return false;
}

/// Left of an arm above: its symbol, the numbers of its rows where they have room, and what is done to it.
void draw_top_title(const Cross& cross, const GridView& grid, const GridPlace& place) {
    const Frame& frame = cross.frame;
    const float height = place.cell.y * static_cast<float>(grid.rows);
    const bool is_low = height < frame.fonts.strong.px;
    const Font& font = is_low ? frame.fonts.small : frame.fonts.strong;
    const float foot = std::min(place.origin.y + height, roof_of_left(cross));
    const float head = std::min(place.origin.y, foot - font.px);
    float right = place.origin.x - frame.px(kGap);
    if (grid.rows > 1 && place.cell.y >= frame.px(kLeastPitch) &&
        !meets_columns(cross, place.origin.y + height)) {
        draw_row_labels(GridCanvas{grid, place, frame}, place.origin.x);
        right -= frame.px(24);
    }
    const float left = cross.origin.x;
    const std::string title = fit_text(frame, font, grid.title, right - left);
    draw_text_in(frame, font, {left, head}, {right, foot}, Align::right,
                 frame.theme.role(grid.role), title);
    if (grid.action.empty()) return;
    const float end = right - frame.text_width(font, title) - frame.px(kGap * 2);
    const std::string action = grid.action + " ↓";
    if (frame.text_width(frame.fonts.small, action) > end - left) return;
    draw_text_in(frame, frame.fonts.small, {left, head}, {end, foot}, Align::right,
                 frame.theme.muted, action);
}

void draw_titles(const Cross& cross, const GridView& grid, const GridPlace& place) {
    if (grid.slot == Slot::top) draw_top_title(cross, grid, place);
    const bool named = grid.slot == Slot::left && has_rows_above(cross.view);
    if (named) return;
    if (grid.slot == Slot::left || grid.slot == Slot::right) draw_side_title(cross, grid, place);
}

/// What to press first, at the foot of the canvas. Colour bars end before it.
struct Hint {
    std::string words;
    ImVec2 low, high;
};
Hint hint_of(const Cross& cross) {
    const Frame& frame = cross.frame;
    const Font& font = frame.fonts.body;
    const std::string words = fit_text(frame, font, cross.view.hint, cross.room.x / 2);
    const ImVec2 end = cross.origin + cross.room;
    return {words,
            {end.x - frame.text_width(font, words), end.y - font.px - frame.px(4)},
            {end.x, end.y - frame.px(4)}};
}

void draw_hint(const Cross& cross) {
    const Hint hint = hint_of(cross);
    draw_text_in(cross.frame, cross.frame.fonts.body, hint.low, hint.high, Align::right,
                 cross.frame.theme.accent, hint.words);
}

/// Under a matrix: what stands there, unless it stands above, and its colours.
void draw_foot(const Cross& cross, const GridView& grid, const GridPlace& place,
               view::Actions& out) {
    const Frame& frame = cross.frame;
    const GridCanvas canvas = cross.canvas(grid, place);
    const ImVec2 low{place.origin.x, canvas.end().y + frame.px(kGap)};
    const bool aside = grid.slot == Slot::right;
    float x = low.x;
    if (!aside) {
        frame.painter.text(frame.fonts.strong, low, frame.theme.role(grid.role), grid.title);
        x += frame.text_width(frame.fonts.strong, grid.title) + frame.px(6);
        frame.painter.text(frame.fonts.small, {x, low.y + frame.px(2)}, frame.theme.muted,
                           grid.shape);
        x += frame.text_width(frame.fonts.small, grid.shape) + frame.px(kGap * 2);
    }
    const Hint hint = hint_of(cross);
    const bool meets = !hint.words.empty() && low.y + frame.px(kFootHeight) > hint.low.y;
    const float edge = aside ? cross.origin.x + cross.room.x : canvas.end().x;
    const float end = meets ? std::min(edge, hint.low.x - frame.px(kGap * 2)) : edge;
    if (end - x > frame.px(kNarrowestBar))
        if (const auto on = draw_color_bar(canvas, {x, low.y + frame.px(2)}, end - x))
            out.push_back(view::ScaleRows{*on});
}

/// One matrix with what the pointer does on it.
void draw_one(const Cross& cross, const GridView& grid, const GridPlace& place, const Fade& fade,
              std::optional<CellRef>& hovered, view::Actions& out) {
    const Dress bare{.labels = false, .color_bar = false, .sides = false};
    const GridResult done = draw_grid(grid, fade, place, cross.frame, bare);
    if (done.hovered) hovered = done.hovered;
    if (done.clicked) out.push_back(view::SelectCell{*done.clicked});
    if (done.edited && grid.editable) out.push_back(view::BeginCellEdit{*done.edited});
    if (done.edited && !grid.editable) out.push_back(view::ExplainSource{*done.edited});
    draw_titles(cross, grid, place);
}

std::optional<CellRef> draw_matrices(const Cross& cross, view::Actions& out) {
    std::optional<CellRef> hovered;
    for (std::size_t n = 0; n < cross.view.operands.size(); ++n) {
        ImGui::PushID(static_cast<int>(n));  // two operands may be views of one stage
        const Fade growing{nullptr, cross.view.fade};
        draw_one(cross, cross.view.operands[n], cross.on_screen(cross.layout.operands[n]),
                 cross.view.operands[n].as_bars ? growing : Fade{}, hovered, out);
        ImGui::PopID();
    }
    const Fade fade{cross.view.previous ? &*cross.view.previous : nullptr, cross.view.fade};
    draw_one(cross, cross.view.result, cross.on_screen(cross.layout.result), fade, hovered, out);
    return hovered;
}

void draw_around(const Cross& cross, view::Actions& out) {
    const Hero hero = hero_of(cross);
    draw_axes(cross, hero);
    draw_foot(cross, hero.grid, hero.place, out);
    const GridPlace result = cross.on_screen(cross.layout.result);
    if (cross.view.result.slot == Slot::right)
        return draw_foot(cross, cross.view.result, result, out);
    draw_sides(cross.canvas(cross.view.result, result), cross.layout.right);
}

/// Cells that are too small for numbers are read through a lens.
void draw_lenses(const Cross& cross, const std::optional<CellRef>& hovered) {
    if (!hovered) return;
    const ImVec2 high = cross.origin + cross.room;
    const auto look = [&](const GridView& grid, const GridPlace& place) {
        draw_lens(grid, place, cross.frame, cross.origin, high);
    };
    for (std::size_t n = 0; n < cross.view.operands.size(); ++n)
        look(cross.view.operands[n], cross.on_screen(cross.layout.operands[n]));
    look(cross.view.result, cross.on_screen(cross.layout.result));
}

void edit_in(const Cross& cross, const GridView& grid, const GridPlace& place,
             const view::CellEdit& editing, view::Actions& out) {
    if (!grid.editable) return;  // a target is typed into, the output beside it is not
    for (Index row = 0; row < grid.rows; ++row)
        for (Index column = 0; column < grid.columns; ++column) {
            if (!(grid.ref(row, column) == editing.cell)) continue;
            draw_cell_editor(editing, cross.canvas(grid, place).corner(row, column), place.cell,
                             cross.frame, out);
        }
}

void edit_cells(const Cross& cross, const view::CellEdit& editing, view::Actions& out) {
    for (std::size_t n = 0; n < cross.view.operands.size(); ++n)
        edit_in(cross, cross.view.operands[n], cross.on_screen(cross.layout.operands[n]), editing,
                out);
    edit_in(cross, cross.view.result, cross.on_screen(cross.layout.result), editing, out);
}

/// Whole at first, then it fades: under reduced motion it stays as it is until it is gone.
double strength_of(const view::FlashView& flash) { return std::min(1.0, flash.left / kFading); }

/// "1 → 3" where a number was just typed, over its neighbours when it is wider than its cell.
void flash_in(const Cross& cross, const GridView& grid, const GridPlace& place,
              const view::FlashView& flash) {
    const Frame& frame = cross.frame;
    const Font& font = frame.fonts.digits_small;
    const float width = std::max(place.cell.x, frame.text_width(font, flash.words) + frame.px(12));
    for (Index row = 0; row < grid.rows; ++row)
        for (Index column = 0; column < grid.columns; ++column) {
            if (!(grid.ref(row, column) == flash.cell)) continue;
            const ImVec2 low = cross.canvas(grid, place).corner(row, column);
            const ImVec2 high{low.x + width, low.y + std::max(place.cell.y, font.px + frame.px(6))};
            const auto ink = [&](view::Color color) {
                return view::translucent(color, strength_of(flash));
            };
            frame.painter.rect(low, high, ink(frame.theme.raised), frame.px(2));
            frame.painter.outline(low, high, ink(frame.theme.accent), frame.px(2), frame.px(2));
            draw_text_in(frame, font, low, high, Align::center, ink(frame.theme.text), flash.words);
        }
}

void draw_flash(const Cross& cross) {
    if (!cross.view.flash) return;
    for (std::size_t n = 0; n < cross.view.operands.size(); ++n)
        flash_in(cross, cross.view.operands[n], cross.on_screen(cross.layout.operands[n]),
                 *cross.view.flash);
    flash_in(cross, cross.view.result, cross.on_screen(cross.layout.result), *cross.view.flash);
}

/// The reason why there is nothing to see, in the middle.
void draw_reason(const std::string& reason, const Frame& frame) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const Font& font = frame.fonts.title;
    const bool fits = frame.text_width(font, reason) <= room.x;
    if (!fits) return wrapped_words(frame, frame.fonts.body, frame.theme.muted, reason);
    const float middle = at.y + room.y * kHeight;
    draw_text_in(frame, font, {at.x, middle - font.px}, {at.x + room.x, middle + font.px},
                 Align::center, frame.theme.muted, reason);
    ImGui::Dummy({0.0F, 0.0F});  // ImGui 1.92: a cursor that was set needs an item after it
}

}  // namespace

Pointed draw_canvas(const StepView& view, const std::optional<view::CellEdit>& editing,
                    const Frame& frame, view::Actions& out) {
    const auto symbol = draw_heading(view, frame);
    if (!view.unavailable.empty()) {
        draw_reason(view.unavailable, frame);
        return {std::nullopt, symbol};
    }
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const CanvasLayout layout = lay_out_canvas(view, frame, room);
    const Cross cross{view, layout, frame, ImGui::GetCursorScreenPos(), room};
    const auto hovered = draw_matrices(cross, out);
    draw_around(cross, out);
    draw_story(view, layout, cross.origin, frame);
    draw_hint(cross);
    if (!editing) draw_flash(cross);
    if (editing)
        edit_cells(cross, *editing, out);
    else if (!frame.quiet)
        draw_lenses(cross, hovered);
    return {hovered, symbol};
}

}  // namespace attn::ui
