#include "app/common/math.h"

#include <algorithm>
#include <cmath>

namespace attn::view {
namespace {

/// Letters of rows and of whole matrices that the stage table does not name so.
struct Letter {
    std::string_view symbol;
    Stage stage;
};
constexpr Letter kLetters[] = {{"x", Stage::x},           {"q", Stage::q},
                               {"k", Stage::k},           {"v", Stage::v},
                               {"a", Stage::weights},     {"s", Stage::scaled},
                               {"scores", Stage::scores}, {"context", Stage::context},
                               {"output", Stage::output}, {"weights", Stage::weights}};

bool is_level_bar(const MathStroke& stroke) { return stroke.points.size() == 2; }

}  // namespace

std::optional<OperandId> operand_named(std::string_view symbol) {
    for (const Letter& letter : kLetters)
        if (letter.symbol == symbol) return letter.stage;
    for (const StageInfo& stage : stage_table())
        if (stage.symbol == symbol) return stage.stage;
    for (const ParamInfo& param : param_table())
        if (param.symbol == symbol) return param.param;
    return std::nullopt;
}

void draw_math(const MathBox& box, Point baseline, const Theme& theme,
               const std::optional<OperandId>& lit, Painter& painter) {
    const Point from{std::round(baseline.x), std::round(baseline.y)};
    const auto placed = [&](Point at) { return Point{from.x + at.x, from.y + at.y}; };
    for (const MathWord& word : box.words) {
        const auto role = [](auto id) { return info(id).role; };
        const Color color = word.operand ? theme.role(std::visit(role, *word.operand)) : theme.text;
        painter.text(word.font, placed(word.at), color, word.text);
        if (!lit || word.operand != lit) continue;
        const float y = from.y + std::round(word.at.y + word.font.ascent() + word.font.em() * 0.2F);
        painter.line({from.x + word.at.x, y}, {from.x + word.at.x + word.width, y}, color, 1.0F);
    }
    for (const MathStroke& stroke : box.strokes) {
        std::vector<Point> points;
        for (const Point point : stroke.points) points.push_back(placed(point));
        if (!is_level_bar(stroke)) {
            painter.polyline(points, theme.text, stroke.thickness);
            continue;
        }
        const float y = std::round(points[0].y);
        painter.rect({points[0].x, y}, {points[1].x, y + stroke.thickness}, theme.text);
    }
}

std::optional<OperandId> operand_at(const MathBox& box, Point baseline, Point pointer) {
    for (const MathWord& word : box.words) {
        const Point low{baseline.x + word.at.x, baseline.y + word.at.y};
        const bool inside = pointer.x >= low.x && pointer.x < low.x + word.width &&
                            pointer.y >= low.y && pointer.y < low.y + word.font.px;
        if (inside && word.operand) return word.operand;
    }
    return std::nullopt;
}

}  // namespace attn::view
