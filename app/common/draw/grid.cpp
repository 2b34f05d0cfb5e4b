#include "app/common/draw/grid.h"

#include "app/common/action.h"
#include "app/common/draw/axis_labels.h"
#include "app/common/draw/grid_parts.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/widgets.h"
#include "app/common/format.h"
#include "app/common/sheet.h"

namespace attn::ui {
namespace {

const char* operand_key(const OperandId& id) { return key_of(id).data(); }

/// Clear of the cell's neighbours: they are what it is compared with.
void cell_tooltip(const GridView& grid, const GridPlace& place, const Frame& frame,
                  large::Cell at) {
    const ImVec2 step = place.cell;
    const ImVec2 low{place.origin.x + step.x * static_cast<float>(at.column - 1),
                     place.origin.y + step.y * static_cast<float>(at.row - 1)};
    tooltip_beside(frame, low, {low.x + 3 * step.x, low.y + 3 * step.y}, Beside::right,
                   cell_description(grid, at.row, at.column), grid.tooltip);
}

GridResult done_at(const GridView& grid, large::Cell at) {
    GridResult result{grid.ref(at.row, at.column)};
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) result.clicked = result.hovered;
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) result.edited = result.hovered;
    return result;
}

/// The border between lit cells and the rest.
void outline_highlighted(const GridCanvas& canvas, large::Cell at, Color color, float thickness) {
    const GridView& grid = canvas.grid;
    const auto highlighted = [&](Index row, Index column) {
        return row >= 0 && column >= 0 && row < grid.rows && column < grid.columns &&
               grid.highlighted[row * grid.columns + column];
    };
    const ImVec2 a = canvas.corner(at.row, at.column);
    const ImVec2 b = canvas.corner(at.row + 1, at.column + 1);
    const auto edge = [&](Index row, Index column, ImVec2 from, ImVec2 to) {
        if (!highlighted(row, column)) canvas.frame.painter.line(from, to, color, thickness);
    };
    edge(at.row - 1, at.column, a, {b.x, a.y});
    edge(at.row + 1, at.column, {a.x, b.y}, b);
    edge(at.row, at.column - 1, a, {a.x, b.y});
    edge(at.row, at.column + 1, {b.x, a.y}, b);
}

// ---- labels

// Design units.
constexpr float kTitleHeight = 24.0F, kCornerTitle = 20.0F;
constexpr float kCornerBar = 96.0F, kWidestCorner = 200.0F, kLowLabels = 24.0F;
constexpr float kSpaciousCell = 56.0F;
constexpr float kBeforeSides = 8;   // between a grid and the first column at its right
constexpr float kBetweenSides = 4;  // between these columns
constexpr float kSideBar = 6.0F;
constexpr float kSideBarWidth = 30.0F;

void draw_title(const GridCanvas& canvas) {
    const Frame& frame = canvas.frame;
    const auto& [origin, cell, corner] = canvas.place;
    const GridMargins margins = grid_margins(canvas.grid, frame, cell, corner);
    const ImVec2 at{corner ? origin.x - margins.left : origin.x, origin.y - margins.top};
    frame.painter.text(frame.fonts.strong, at, frame.theme.role(canvas.grid.role),
                       canvas.grid.title);
    const float after = frame.text_width(frame.fonts.strong, canvas.grid.title) + frame.px(8);
    const float shape = frame.text_width(frame.fonts.small, canvas.grid.shape) + frame.px(8);
    if (corner && after + shape > margins.bar) return;
    const float drop = frame.fonts.strong.px - frame.fonts.small.px;
    frame.painter.text(frame.fonts.small, {at.x + after, at.y + drop}, frame.theme.muted,
                       canvas.grid.shape);
}

const Font& side_font(const Frame& frame, float cell_height) {
    return cell_height >= frame.px(kSpaciousCell) ? frame.fonts.digits : frame.fonts.digits_small;
}

/// What stands below the cells: the ends of the colour bar, or the legend.
float footer_width(const GridView& grid, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    if (!grid.legend.empty()) return frame.widest(font, grid.legend);
    return frame.text_width(font, grid.low_label) + frame.text_width(font, grid.high_label) +
           frame.px(8);
}

float footer_height(const GridView& grid, const Frame& frame) {
    const float line = frame.fonts.digits_small.px;
    return std::max(frame.px(kBarGap + kBarHeight) + line * 1.5F,
                    line * 1.25F * static_cast<float>(grid.legend.size()));
}

/// One number and, before it, its bar.
void draw_side_cell(const GridCanvas& canvas, const SideVector& side, std::size_t row, ImVec2 low,
                    ImVec2 high) {
    const Frame& frame = canvas.frame;
    if (row < side.bars.size()) {
        const float middle = (low.y + high.y) / 2;
        const float half = std::min(frame.px(kSideBar), (high.y - low.y) * 0.6F) / 2;
        const auto share = std::isnan(side.bars[row])
                               ? 0.0F
                               : static_cast<float>(std::clamp(side.bars[row], 0.0, 1.0));
        const ImVec2 from{low.x, middle - half};
        const float width = frame.px(kSideBarWidth);
        frame.painter.rect(from, {low.x + width, middle + half}, frame.theme.line);
        frame.painter.rect(from, {low.x + width * share, middle + half}, frame.theme.muted);
    }
    const Font& font = side_font(frame, canvas.place.cell.y);
    if (font.px > canvas.place.cell.y) return;
    draw_text_in(frame, font, low, {high.x - frame.px(4), high.y}, Align::right, frame.theme.text,
                 side.cells[row]);
}

void point_at_side(const GridCanvas& canvas, const SideVector& side, ImVec2 low, ImVec2 high) {
    ImGui::SetCursorScreenPos({low.x, low.y - canvas.frame.px(kLabelHeight)});
    ImGui::PushID(side.title.c_str());
    invisible_button("side", {high.x - low.x, high.y - low.y + canvas.frame.px(kLabelHeight)});
    const float y = ImGui::GetMousePos().y;
    const auto row = static_cast<std::ptrdiff_t>((y - low.y) / canvas.place.cell.y);
    const bool on_row = y >= low.y && row < std::ssize(side.cell_tips);
    tooltip(canvas.frame, side.title, on_row ? side.cell_tips[row] : side.tooltip);
    ImGui::PopID();
}

AxisLabels rows_of(const GridView& grid, float pitch) {
    AxisLabels labels{grid.row_labels, pitch, grid.row_role, {}, grid.focus_row};
    if (grid.selected) labels.selected = grid.selected->first;
    return labels;
}

AxisLabels columns_of(const GridView& grid, float pitch) {
    AxisLabels labels{grid.column_labels, pitch, grid.column_role, {}, grid.focus_column};
    if (grid.selected) labels.selected = grid.selected->second;
    return labels;
}

// ---- groups of columns

// Design units.
constexpr float kTick = 6.0F;     // how far a border stands out over the cells
constexpr float kMark = 3.0F;     // over the columns of the head on the canvas
constexpr float kNarrow = 24.0F;  // borders of narrower groups are faint

/// Where the columns of a group begin and end.
struct Span {
    float left, right;
};
Span span_of(const GridCanvas& canvas, std::size_t group) {
    const auto& groups = canvas.grid.groups;
    const bool last = group + 1 == groups.size();
    return {canvas.corner(0, groups[group].first).x,
            canvas.corner(0, last ? canvas.grid.columns : groups[group + 1].first).x};
}

void draw_group_borders(const GridCanvas& canvas) {
    const Frame& frame = canvas.frame;
    const float top = canvas.place.origin.y;
    for (std::size_t n = 0; n < canvas.grid.groups.size(); ++n) {
        const Span span = span_of(canvas, n);
        const bool narrow = span.right - span.left < frame.px(kNarrow);
        const Color color = translucent(frame.theme.text, narrow ? 0.35 : 0.8);
        if (n > 0)
            frame.painter.line({span.left, top - frame.px(kTick)}, {span.left, canvas.end().y},
                               color, frame.px(1));
        if (canvas.grid.groups[n].shown)
            frame.painter.rect({span.left, top - frame.px(kMark)}, {span.right, top},
                               frame.theme.accent);
    }
}

/// "head 1" over every group, or "1" where one of them is too narrow for that.
void draw_group_labels(const GridCanvas& canvas, float bottom) {
    const Frame& frame = canvas.frame;
    const Font& font = frame.fonts.small;
    const auto space_of = [&](std::size_t n) {
        const Span span = span_of(canvas, n);
        return span.right - span.left - frame.px(4);
    };
    bool fits = true;
    for (std::size_t n = 0; n < canvas.grid.groups.size(); ++n)
        fits = fits && frame.text_width(font, canvas.grid.groups[n].label) <= space_of(n);
    for (std::size_t n = 0; n < canvas.grid.groups.size(); ++n) {
        const ColumnGroup& group = canvas.grid.groups[n];
        const Span span = span_of(canvas, n);
        const std::string number = group.label.substr(group.label.rfind(' ') + 1);
        if (!fits && frame.text_width(font, number) > space_of(n)) continue;
        draw_text_in(frame, font, {span.left, bottom - frame.px(kLabelHeight)},
                     {span.right, bottom}, Align::center,
                     group.shown ? frame.theme.accent : frame.theme.muted,
                     fits ? group.label : number);
    }
}

// ---- the colour bar

// Enough steps that no edge is seen.
constexpr int kBarSteps = 32;

// Design units.
constexpr float kTickHeight = 2.0F;  // beyond the bar, above and below
constexpr float kLabelAir = 6.0F;
constexpr float kLeastBar = 120.0F;  // beside which there is room for a switch
constexpr float kWidestBar = 320.0F;
constexpr float kLeastTitledBar = 80.0F;  // with the title of the colours beside it, in a figure
constexpr float kTitleLine = 15.0F, kTitleWidth = 100.0F;  // of an axis, in a figure

/// The bar without its words.
struct Bar {
    ImVec2 low;
    float width = 0.0F;
};

void draw_tick(const Bar& bar, float at, const Frame& frame) {
    const float x = std::round(at);
    const ImVec2 low{x, bar.low.y - frame.px(kTickHeight)};
    const ImVec2 high{x, bar.low.y + frame.px(kBarHeight + kTickHeight)};
    frame.painter.line(low, high, frame.theme.background, frame.px(3));  // on bright colours
    frame.painter.line(low, high, frame.theme.text, frame.px(1));
}

/// The ends, then the marks between them whose labels stay clear of what is there.
void draw_bar_labels(const GridCanvas& canvas, const Bar& bar) {
    const Frame& frame = canvas.frame;
    const Font& font = frame.fonts.digits_small;
    const float y = bar.low.y + frame.px(kBarHeight + kTickHeight);
    TakenSpans taken(frame.px(kLabelAir));
    const auto put = [&](float x, const std::string& text) {
        const bool fits = taken.take(x, x + frame.text_width(font, text));
        if (fits) frame.painter.text(font, {x, y}, frame.theme.muted, text);
        return fits;
    };
    put(bar.low.x, canvas.grid.low_label);
    put(bar.low.x + bar.width - frame.text_width(font, canvas.grid.high_label),
        canvas.grid.high_label);
    for (const BarTick& tick : canvas.grid.ticks) {
        const float x = bar.low.x + bar.width * static_cast<float>(tick.position);
        if (put(x - frame.text_width(font, tick.label) / 2, tick.label)) draw_tick(bar, x, frame);
    }
}

void draw_legend(const GridCanvas& canvas, ImVec2 at) {
    const Font& font = canvas.frame.fonts.digits_small;
    for (const std::string& line : canvas.grid.legend) {
        canvas.frame.painter.text(font, at, canvas.frame.theme.muted, line);
        at.y += font.px * 1.25F;
    }
}

/// The title of the colour bar of a figure: "weight, by √"; "" elsewhere, and of numbers with a sign.
std::string bar_title(const GridCanvas& canvas) {
    const ColorRange& range = canvas.grid.range;
    if (!canvas.frame.is_canvas_alone() || canvas.grid.role != Role::weight ||
        range.scale != ColorScale::unit)
        return {};
    const bool root = range.curve == ColorCurve::usual || range.curve == ColorCurve::root;
    return root ? "weight, by √" : range.curve == ColorCurve::log ? "weight, log" : "weight";
}

constexpr const char* kSwitchText = "scale each row";

/// The room that the switch for rows takes beside the bar; 0 where there is none.
float switch_space(const GridCanvas& canvas, float width) {
    const Frame& frame = canvas.frame;
    if (!canvas.grid.rows_scaled || frame.is_canvas_alone()) return 0.0F;
    const float space = toggle_width(frame, kSwitchText) + frame.px(kSpace16);
    return width - space >= frame.px(kLeastBar) ? space : 0.0F;
}

/// Right of the bar.
std::optional<bool> draw_row_switch(const GridCanvas& canvas, const Bar& bar) {
    const Frame& frame = canvas.frame;
    ImGui::SetCursorScreenPos(
        {bar.low.x + bar.width + frame.px(kSpace16), bar.low.y - frame.px(kBarGap)});
    return toggle(frame, "rows", kSwitchText, *canvas.grid.rows_scaled,
                  {"Colours by row",
                   "on: the largest weight of each row has the full colour, which shows the shape "
                   "of each row; off: only the largest weight of the whole matrix has it"});
}

/// "key" over the columns and "query" over the rows, in the corner between their labels.
void draw_axis_titles(const GridCanvas& canvas) {
    const GridView& grid = canvas.grid;
    if (grid.row_role != Role::query || grid.column_role != Role::key) return;
    const Frame& frame = canvas.frame;
    const float line = frame.px(kTitleLine);
    const ImVec2 low{canvas.place.origin.x - frame.px(kTitleWidth),
                     canvas.place.origin.y - frame.px(4)};
    const ImVec2 high{canvas.place.origin.x - frame.px(8), low.y};
    draw_text_in(frame, frame.fonts.small, {low.x, low.y - line}, high, Align::right,
                 frame.theme.query, "query ↓");
    draw_text_in(frame, frame.fonts.small, {low.x, low.y - 2 * line}, {high.x, high.y - line},
                 Align::right, frame.theme.key, "key →");
}

}  // namespace

std::string cell_description(const GridView& grid, Index row, Index column) {
    const CellView& cell = grid.at(row, column);
    const bool is_number = cell.look == CellLook::number;
    const std::string name = grid.title.substr(0, grid.title.find('['));  // of "A[it, ·]" too
    return name + "[" + grid.row_labels[row] + ", " + grid.column_labels[column] +
           "] = " + (is_number ? view::number(cell.value) : cell.text) +
           (cell.look == CellLook::masked ? " (masked)" : "");
}

std::optional<large::Cell> cell_under_pointer(const GridView& grid, const GridPlace& place) {
    const ImVec2 mouse = ImGui::GetMousePos();
    if (mouse.x < place.origin.x || mouse.y < place.origin.y) return std::nullopt;
    const auto row = static_cast<Index>((mouse.y - place.origin.y) / place.cell.y);
    const auto column = static_cast<Index>((mouse.x - place.origin.x) / place.cell.x);
    if (row >= grid.rows || column >= grid.columns) return std::nullopt;
    return large::Cell{row, column};
}

void draw_marks(const GridCanvas& canvas) {
    const GridView& grid = canvas.grid;
    const Theme& theme = canvas.frame.theme;
    const auto outline_all = [&](Color color, float thickness) {
        for (std::size_t n = 0; n < grid.highlighted.size(); ++n) {
            const auto cell = static_cast<Index>(n);
            if (grid.highlighted[n])
                outline_highlighted(canvas, {cell / grid.columns, cell % grid.columns}, color,
                                    thickness);
        }
    };
    outline_all(theme.background, canvas.frame.px(3.5F));  // the accent stands out from that one
    outline_all(theme.accent, canvas.frame.px(1.5F));
    draw_group_borders(canvas);
    if (!grid.selected || canvas.frame.is_canvas_alone()) return;  // of the window alone
    const auto [row, column] = *grid.selected;
    const ImVec2 low = canvas.corner(row, column);
    draw_ring(canvas.frame.painter, low,
              {low.x + canvas.place.cell.x - 1, low.y + canvas.place.cell.y - 1}, theme,
              canvas.frame.scale);
}

std::optional<bool> draw_own_color_bar(const GridCanvas& canvas) {
    const Frame& frame = canvas.frame;
    const auto& [origin, cell, corner] = canvas.place;
    const GridMargins margins = grid_margins(canvas.grid, frame, cell, corner);
    const ImVec2 from{origin.x - margins.left, origin.y - margins.top + frame.px(2)};
    if (corner && margins.bar == 0.0F) {
        const float title = frame.text_width(frame.fonts.strong, canvas.grid.title);
        return draw_color_bar(canvas, {from.x + title + frame.px(kSpace16), from.y},
                              frame.px(kCornerBar));
    }
    if (corner)
        return draw_color_bar(canvas, {from.x, from.y + frame.px(kCornerTitle)},
                              margins.bar - frame.px(kSpace16));
    const ImVec2 low{origin.x, canvas.end().y + frame.px(kBarGap)};
    return draw_color_bar(canvas, low, std::max(canvas.end().x - low.x, margins.width));
}

GridResult draw_grid(const GridView& grid, const Fade& fade, const GridPlace& place,
                     const Frame& frame, const Dress& dress) {
    if (grid.rows == 0 || grid.columns == 0) return {};
    const GridCanvas canvas{grid, place, frame};
    ImGui::PushID(operand_key(grid.id));
    ImGui::PushID(grid.transposed ? "transposed" : "upright");
    ImGui::SetCursorScreenPos(place.origin);
    invisible_button("cells", {canvas.end().x - place.origin.x, canvas.end().y - place.origin.y});
    const auto at = ImGui::IsItemHovered() ? cell_under_pointer(grid, place) : std::nullopt;
    if (at && !needs_lens(grid, place, frame)) cell_tooltip(grid, place, frame, *at);
    GridResult result = at ? done_at(grid, *at) : GridResult{};
    draw_cells(canvas, fade);
    draw_marks(canvas);
    if (dress.labels) draw_labels(canvas);
    if (frame.is_canvas_alone()) draw_axis_titles(canvas);
    if (dress.sides) draw_sides(canvas, std::numeric_limits<float>::max());
    if (dress.color_bar) result.by_row = draw_own_color_bar(canvas);
    ImGui::PopID();
    ImGui::PopID();
    return result;
}

void draw_row_labels(const GridCanvas& canvas, float right) {
    draw_row_labels(rows_of(canvas.grid, canvas.place.cell.y), canvas.frame, right,
                    canvas.place.origin.y);
}

void draw_column_labels(const GridCanvas& canvas, float bottom) {
    if (!canvas.grid.groups.empty()) return draw_group_labels(canvas, bottom);
    draw_column_labels(columns_of(canvas.grid, canvas.place.cell.x), canvas.frame,
                       canvas.place.origin.x, bottom);
}

float side_width(const SideVector& side, const Frame& frame, float cell_height) {
    const float bar = side.bars.empty() ? 0.0F : frame.px(kSideBarWidth + kBeforeSides);
    return std::max(bar + frame.widest(side_font(frame, cell_height), side.cells),
                    frame.text_width(frame.fonts.small, side.title)) +
           frame.px(12);
}

GridMargins grid_margins(const GridView& grid, const Frame& frame, ImVec2 cell, bool corner) {
    GridMargins margins;
    margins.left = row_labels_width(rows_of(grid, cell.y), frame);
    margins.top = column_labels_height(columns_of(grid, cell.x), frame);
    for (const SideVector& side : grid.sides)
        margins.right += side_width(side, frame, cell.y) +
                         frame.px(margins.right == 0.0F ? kBeforeSides : kBetweenSides);
    const float title = frame.text_width(frame.fonts.strong, grid.title);
    const float below = footer_width(grid, frame), bottom = footer_height(grid, frame);
    margins.width =
        std::max(title + frame.px(8) + frame.text_width(frame.fonts.small, grid.shape), below);
    if (!corner) {
        margins.top += frame.px(kTitleHeight);
        margins.bottom = frame.px(kBarGap) + bottom;
        return margins;
    }
    margins.bottom = frame.px(kSpace8);
    const float bar = std::max(below, frame.px(kCornerBar));
    if (title > frame.px(kWidestCorner) || margins.top <= frame.px(kLowLabels)) {
        const float cells = margins.left + cell.x * static_cast<float>(grid.columns);
        margins.right = std::max(margins.right, title + frame.px(kSpace16) + bar - cells);
        margins.top += bottom;
        return margins;
    }
    margins.left = std::max(margins.left, std::max(title, bar) + frame.px(kSpace16));
    margins.top = std::max(margins.top, frame.px(kCornerTitle) + bottom);
    margins.bar = margins.left;
    return margins;
}

void draw_labels(const GridCanvas& canvas) {
    draw_title(canvas);
    draw_row_labels(canvas, canvas.place.origin.x);
    draw_column_labels(canvas, canvas.place.origin.y);
}

void draw_sides(const GridCanvas& canvas, float space) {
    const Frame& frame = canvas.frame;
    const float head = frame.px(kLabelHeight);
    const float end = canvas.end().x + space;
    float x = canvas.end().x + frame.px(kBeforeSides);
    const bool readable = side_font(frame, canvas.place.cell.y).px <= canvas.place.cell.y;
    for (const SideVector& side : canvas.grid.sides) {
        if (side.bars.empty() && !readable)
            continue;  // no room for its numbers, and it has nothing else
        const float right = x + side_width(side, frame, canvas.place.cell.y);
        if (right > end) return;
        const float top = canvas.place.origin.y;
        record_rect_for_tests(frame.painter, Measuring::Kind::labels, {x, top - head},
                              {right, canvas.end().y});
        draw_text_in(
            frame, frame.fonts.small, {x, top - head}, {right - frame.px(4), top}, Align::right,
            side.bars.empty() ? frame.theme.role(side.role) : frame.theme.muted, side.title);
        for (std::size_t row = 0; row < side.cells.size(); ++row) {
            const float y = canvas.corner(static_cast<Index>(row), 0).y;
            const Titled titled(frame.painter, [&] {
                return row < side.cell_tips.size() ? side.cell_tips[row]
                                                   : side.title + ": " + side.cells[row];
            });
            draw_side_cell(canvas, side, row, {x, y}, {right, y + canvas.place.cell.y});
        }
        point_at_side(canvas, side, {x, top}, {right, canvas.end().y});
        x = right + frame.px(kBetweenSides);
    }
}

std::optional<bool> draw_color_bar(const GridCanvas& canvas, ImVec2 low, float width) {
    if (!canvas.grid.legend.empty()) {
        draw_legend(canvas, low);
        return std::nullopt;
    }
    const Frame& frame = canvas.frame;
    const float space = switch_space(canvas, width);
    Bar bar{low, std::min(width - space, frame.px(kWidestBar))};
    if (const std::string title = bar_title(canvas); !title.empty()) {
        const float needed = frame.text_width(frame.fonts.small, title) + frame.px(kSpace12);
        if (width - needed >= frame.px(kLeastTitledBar)) {
            bar.width = std::min(bar.width, width - needed);
            const float middle = low.y + frame.px(kBarHeight) / 2, half = frame.fonts.small.px / 2;
            draw_text_in(frame, frame.fonts.small,
                         {low.x + bar.width + frame.px(kSpace8), middle - half},
                         {low.x + width, middle + half}, Align::left, frame.theme.text, title);
        }
    }
    const auto by_row = space > 0.0F ? draw_row_switch(canvas, bar) : std::nullopt;
    std::vector<Color> colors;
    for (int step = 0; step <= kBarSteps; ++step)
        colors.push_back(color_at(canvas.grid.range.scale, static_cast<double>(step) / kBarSteps,
                                  frame.theme.name, canvas.grid.range.map));
    frame.painter.gradient(bar.low, {bar.low.x + bar.width, bar.low.y + frame.px(kBarHeight)},
                           colors);
    draw_bar_labels(canvas, bar);
    return by_row;
}

}  // namespace attn::ui
