#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "app/common/expr.h"
#include "app/common/format.h"

namespace attn::view {
namespace {

Piece plain(std::string text, bool muted = false) {
    Piece piece;
    piece.text = std::move(text);
    piece.muted = muted;
    return piece;
}

Piece coloured(std::string text, Role role) {
    Piece piece;
    piece.text = std::move(text);
    piece.role = role;
    return piece;
}

Role role_of(const CellRef& cell) {
    return std::visit([](auto key) { return info(key).role; }, cell.tensor);
}

/// More numbers than this stand in the table alone.
constexpr std::size_t kMostInline = 8;

Line step_line(const Step& step, bool last, Role role) {
    const bool brief = !step.brief.empty() && count_numbers(step.expr) > kMostInline;
    Line line{step.label,
              brief ? std::vector<Piece>{plain(step.brief)} : write(step.expr, Dialect::screen)};
    line.pieces.push_back(plain(" = "));
    const std::string result = number(step.result);
    line.pieces.push_back(last ? coloured(result, role) : plain(result));
    line.pieces.back().link = step.link;
    return line;
}

double length_of(const std::vector<double>& values) {
    double squares = 0.0;
    for (const double value : values) squares += value * value;
    return std::sqrt(squares);
}

double dot(const DotProduct& pair) {
    double sum = 0.0;
    for (std::size_t n = 0; n < pair.left.values.size(); ++n)
        sum += pair.left.values[n] * pair.right.values[n];
    return sum;
}

Line length_line(const Factor& factor, double length) {
    return {fmt::format("‖{}‖", factor.letter),
            {plain(fmt::format("√(Σ {}_c²) = ", factor.letter)),
             coloured(number(length), factor.role)}};
}

}  // namespace

std::vector<Line> explanation_lines(const Explanation& explanation) {
    std::vector<Line> lines;
    const Role role = role_of(explanation.cell);
    for (std::size_t n = 0; n < explanation.steps.size(); ++n)
        lines.push_back(step_line(explanation.steps[n], n + 1 == explanation.steps.size(), role));
    for (const Step& aside : explanation.asides) lines.push_back(step_line(aside, false, role));
    for (const std::string& note : explanation.notes) lines.push_back({"", {plain(note, true)}});
    return lines;
}

std::vector<Line> geometry_lines(const Explanation& explanation) {
    if (explanation.cell.tensor != OperandId(Stage::scores) || !explanation.dot) return {};
    const DotProduct& pair = *explanation.dot;
    const double q = length_of(pair.left.values);
    const double k = length_of(pair.right.values);
    std::vector<Line> lines{length_line(pair.left, q), length_line(pair.right, k)};
    if (q == 0.0 || k == 0.0) {
        lines.push_back({"θ", {plain("a vector of length 0 has no direction", true)}});
        return lines;
    }
    const double cosine = std::clamp(dot(pair) / (q * k), -1.0, 1.0);
    lines.push_back({"cos θ", {plain("q·k ÷ (‖q‖ ‖k‖) = " + number(cosine))}});
    lines.push_back(
        {"θ", {plain(cell_number(std::acos(cosine) * 180.0 / std::numbers::pi, 1) + "°")}});
    lines.push_back({"q·k",
                     {plain("‖q‖ ‖k‖ cos θ = "), coloured(factor(number(q)), pair.left.role),
                      plain("·"), coloured(factor(number(k)), pair.right.role), plain("·"),
                      plain(factor(number(cosine))), plain(" = " + number(q * k * cosine))}});
    return lines;
}

}  // namespace attn::view
