#include <algorithm>
#include <string>

#include "app/common/draw/draw.h"
#include "app/common/draw/grid.h"
#include "app/common/draw/measured.h"
#include "app/workspaces/kinds/draw/parts.h"

namespace attn::ui {
namespace {

using view::KindRow;

// Design units.
constexpr float kTwoColumns = 900.0F, kTableLargestCell = 72.0F;
constexpr float kNumber = 0.22F;  // of a column's width: the numbers of one side

/// What stands between A and B, and what each of them has.
struct Groups {
    std::vector<const KindRow*> between, sides;
    explicit Groups(const std::vector<KindRow>& rows) {
        for (const KindRow& row : rows) (row.between.empty() ? sides : between).push_back(&row);
    }
};

bool is_wide(float width, const Frame& frame) { return width >= frame.px(kTwoColumns); }

/// One line: its box.
struct Line {
    const Frame& frame;
    ImVec2 low, high;

    float number() const { return (high.x - low.x) * kNumber; }
    void text(const Font& font, view::Color color, float left, float right, Align align,
              const std::string& words) const {
        draw_fitted(frame, font, {left, low.y}, {right, high.y}, align, color, words);
    }
    void numbers(const Font& font, view::Color color, const std::string& a,
                 const std::string& b) const {
        text(font, color, high.x - 2 * number(), high.x - number(), Align::right, a);
        text(font, color, high.x - number(), high.x, Align::right, b);
    }
};

void draw_line(const Line& line, const KindRow& row) {
    const Frame& frame = line.frame;
    ImGui::SetCursorScreenPos(line.low);
    ImGui::PushID(row.label.c_str());
    ImGui::InvisibleButton("line", {line.high.x - line.low.x, line.high.y - line.low.y});
    tooltip(frame, row.label + ": " + row.formula, row.tooltip);
    ImGui::PopID();
    const float numbers = line.high.x - 2 * line.number();
    line.text(frame.fonts.body, frame.theme.text, line.low.x, numbers, Align::left, row.label);
    if (!row.between.empty())
        return line.text(frame.fonts.digits, frame.theme.text, numbers, line.high.x, Align::right,
                         row.between);
    line.numbers(frame.fonts.digits, frame.theme.text, row.a, row.b);
}

enum class Heads { between, sides };

void draw_group(const std::vector<const KindRow*>& rows, Heads heads, ImVec2 low, float width,
                const Frame& frame) {
    const float height = frame.px(kTitleRow);
    const Line head{frame, low, {low.x + width, low.y + height}};
    const view::Color color = frame.theme.role(Role::weight);
    if (heads == Heads::sides)
        head.numbers(frame.fonts.strong, color, "A", "B");
    else
        head.text(frame.fonts.strong, color, low.x, head.high.x, Align::right, "B against A");
    frame.painter.line({low.x, head.high.y - 1}, {head.high.x, head.high.y - 1}, frame.theme.line,
                       frame.px(1));
    for (std::size_t n = 0; n < rows.size(); ++n) {
        const float y = low.y + height * static_cast<float>(n + 1);
        draw_line({frame, {low.x, y}, {head.high.x, y + height}}, *rows[n]);
    }
}

}  // namespace

float kinds_table_height(const std::vector<KindRow>& rows, float width, const Frame& frame) {
    if (rows.empty()) return 0.0F;
    const Groups groups(rows);
    const std::size_t lines = is_wide(width, frame)
                                  ? std::max(groups.between.size(), groups.sides.size()) + 1
                                  : groups.between.size() + groups.sides.size() + 2;
    return frame.px(kTitleRow) * static_cast<float>(lines);
}

void draw_kinds_table(const std::vector<KindRow>& rows, ImVec2 low, float width,
                      const Frame& frame) {
    const Groups groups(rows);
    const bool wide = is_wide(width, frame);
    const float column = wide ? (width - frame.px(kSpace48)) / 2 : width;
    draw_group(groups.between, Heads::between, low, column, frame);
    const float below = frame.px(kTitleRow) * static_cast<float>(groups.between.size() + 1);
    const ImVec2 other =
        wide ? ImVec2{low.x + column + frame.px(kSpace48), low.y} : ImVec2{low.x, low.y + below};
    draw_group(groups.sides, Heads::sides, other, column, frame);
    say_stands(frame.painter, Measuring::Kind::labels, low,
               {low.x + width, low.y + kinds_table_height(rows, width, frame)});
}

float draw_vectors(const view::GridView& grid, const char* id, ImVec2 low, float width,
                   float row_height, const Frame& frame) {
    ImVec2 cell{frame.px(kTableLargestCell), row_height};
    for (int pass = 0; pass < 2; ++pass) {
        const GridMargins margins = grid_margins(grid, frame, cell);
        cell.x = std::min(frame.px(kTableLargestCell),
                          (width - margins.left) / static_cast<float>(grid.columns));
    }
    const GridMargins margins = grid_margins(grid, frame, cell);
    const GridPlace place{{low.x + margins.left, low.y + margins.top}, cell};
    ImGui::PushID(id);
    draw_grid(grid, {}, place, frame, {.color_bar = false});
    ImGui::PopID();
    return place.origin.y + cell.y * static_cast<float>(grid.rows);
}

}  // namespace attn::ui
