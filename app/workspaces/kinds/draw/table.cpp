#include "app/common/draw/draw.h"
#include "app/common/draw/grid.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/inspector.h"
#include "app/workspaces/kinds/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kTwoColumns = 900.0F, kTableLargestCell = 72.0F;
constexpr float kOutputs = 136.0F, kOutputRow = 28.0F, kOutputsWidth = 272.0F;
constexpr float kNumber = 0.31F;  // of a column's width: the numbers of one side

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
    void text(const Font& font, Color color, float left, float right, Align align,
              const std::string& text) const {
        draw_fitted(frame, font, {left, low.y}, {right, high.y}, align, color, text);
    }
    void numbers(const Font& font, Color color, const std::string& a, const std::string& b) const {
        text(font, color, high.x - 2 * number(), high.x - number(), Align::right, a);
        text(font, color, high.x - number(), high.x, Align::right, b);
    }
};

void draw_line(const Line& line, const KindRow& row) {
    const Frame& frame = line.frame;
    ImGui::SetCursorScreenPos(line.low);
    ImGui::PushID(row.label.c_str());
    invisible_button("line", {line.high.x - line.low.x, line.high.y - line.low.y});
    tooltip(frame, row.label + ": " + row.formula, row.tooltip);
    ImGui::PopID();
    const float label = frame.text_width(frame.fonts.body, row.label) + frame.px(kSpace8);
    const float first = frame.text_width(frame.fonts.digits, row.a) + frame.px(kSpace8);
    const float numbers = row.between.empty() ? line.high.x - line.number() - first
                                              : std::min(line.low.x + label, line.high.x);
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
    const Color color = frame.theme.role(Role::weight);
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

float kinds_numbers_height(const KindsView& view, float width, const Frame& frame) {
    const Groups groups(view.rows);
    const auto between = groups.between.size() + 1, sides = groups.sides.size() + 1;
    const bool wide = is_wide(width, frame);
    const float lines =
        frame.px(kTitleRow) * static_cast<float>(wide ? std::max(between, sides) : between + sides);
    return wide ? std::max(lines, frame.px(kOutputs)) : lines + frame.px(kSpace16 + kOutputs);
}

void draw_kinds_numbers(const KindsView& view, const Box& box, const Frame& frame) {
    const Groups groups(view.rows);
    const bool wide = is_wide(box.size().x, frame);
    const float gap = frame.px(kSpace24);
    const float last = wide ? frame.px(kOutputsWidth) : box.size().x;
    const float column = wide ? (box.size().x - last - 2 * gap) / 2 : box.size().x;
    const auto below = [&](const std::vector<const KindRow*>& rows) {
        return frame.px(kTitleRow) * static_cast<float>(rows.size() + 1);
    };
    ImVec2 at = box.low;
    draw_group(groups.between, Heads::between, at, column, frame);
    wide ? at.x += column + gap : at.y += below(groups.between);
    draw_group(groups.sides, Heads::sides, at, column, frame);
    wide ? at.x += column + gap : at.y += below(groups.sides) + frame.px(kSpace16);
    if (view.outputs && at.y + frame.px(kOutputs) <= box.high.y + 1.0F)
        draw_vectors(*view.outputs, "outputs", at, last, frame.px(kOutputRow), frame);
    record_rect_for_tests(frame.painter, Measuring::Kind::labels, box.low, box.high);
}

float draw_vectors(const GridView& grid, const char* id, ImVec2 low, float width, float row_height,
                   const Frame& frame) {
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
