#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/inspector.h"
#include "core/role.h"

namespace attn {
struct AttentionSpec;
}  // namespace attn

namespace attn::view {

// A number as arithmetic with its real operands. The inspector, the three kinds of copies and the tests
// all read this one tree.

enum class Op : std::uint8_t {
    number,
    sum,
    product,
    quotient,
    difference,
    power,  // base, exponent
    // of one argument, but for max
    exp,
    ln,
    sin,
    cos,
    tanh,
    sqrt,
    max
};

struct Expr {
    Op op = Op::number;
    double value = 0.0;     // of a number
    bool constant = false;  // a 1, a d_k: written short
    std::optional<Role> role = {};
    std::optional<CellRef> link = {};
    std::vector<Expr> args = {};
};
inline Expr constant(double value) { return {.value = value, .constant = true}; }
inline Expr constant(Index value) { return constant(static_cast<double>(value)); }
inline Expr plain(double value, std::optional<Role> role = {}) {
    return {.value = value, .role = role};
}
inline Expr combine(Op op, std::vector<Expr> args) { return {.op = op, .args = std::move(args)}; }
inline Expr operator+(Expr a, Expr b) { return combine(Op::sum, {std::move(a), std::move(b)}); }
inline Expr operator-(Expr a, Expr b) {
    return combine(Op::difference, {std::move(a), std::move(b)});
}
inline Expr operator*(Expr a, Expr b) { return combine(Op::product, {std::move(a), std::move(b)}); }
inline Expr operator/(Expr a, Expr b) {
    return combine(Op::quotient, {std::move(a), std::move(b)});
}
std::vector<Expr> numbers_of(std::span<const double> values, Role role);
/// Σ x_c · y_c.
Expr sum_of_products(std::span<const Expr> x, std::span<const Expr> y);
/// √Σ x_c².
Expr length_of(std::span<const Expr> x);
/// scores ÷ √d_k ÷ temperature of one number, as the call scales.
Expr scaled_expr(const AttentionSpec& spec, Index d_k, Expr score);
/// In double, from the operands alone.
double evaluate(const Expr& expr);
/// How many numbers it is made of.
std::size_t count_numbers(const Expr& expr);

/// "label: expr = result".
struct Step {
    std::string label;  // "exp(M − m)"
    std::string latex;  // the same for LaTeX, in math mode
    Expr expr;
    double result = 0.0;
    std::string brief = {};            // in place of many numbers, or of none: "max_j M[cat, j]"
    std::optional<CellRef> link = {};  // the cell that holds the result
};

/// One factor of the sum: a row or column of an operand, for the strip and for numpy.
struct Factor {
    std::string letter;  // "q"
    std::string name;    // "Q[cat, c]"
    Role role = Role::input;
    std::vector<double> values;
    std::vector<std::optional<CellRef>> links = {};  // as many, or none
    std::string heading = {};                        // of its column; "": the letter
};
struct DotProduct {
    Factor left, right;
    std::vector<std::string> labels;  // of the terms
    std::optional<double> bias{};     // added to the sum
    std::string counts = "c";         // what the terms are: "key", "c"
};

// How an expression is written.
enum class Dialect : std::uint8_t { screen, text, latex, python };
std::vector<Piece> write(const Expr& expr, Dialect dialect);
std::string write_text(const Expr& expr, Dialect dialect);
std::string write_number(double value, Dialect dialect);
/// "np.array([1.0, 2.0])".
std::string python_list(const std::vector<double>& values);

struct Explanation {
    CellRef cell;
    std::string name;   // "scores[cat, sat]", "∂L/∂scores[cat, sat]"
    std::string latex;  // the same in math mode
    std::string tex;    // symbolic: \sum_c Q[\text{cat}, c] \cdot K[\text{sat}, c]; "": words alone
    std::string formula;       // the same as plain text
    std::vector<Step> steps;   // the last one's result is the cell's value; none: a given number
    std::vector<Step> asides;  // what is said besides: no part of the result
    std::vector<std::string> notes;   // one plain sentence each
    std::optional<DotProduct> dot;    // a sum of products has it
    std::vector<double> softmax_row;  // of a weight: its row of M, then the sink where there is one
    bool has_sink = false;
    double value = 0.0;
    std::optional<InspectorTable> table;  // where the sum of products is not the whole story

    /// Adds a step; its result, as an operand of the next one.
    Expr add(std::string label, std::string tex_label, Expr expr, std::string brief = {});
};
/// More numbers of a step than this have its brief text in their place: its table shows them.
inline constexpr std::size_t kMostInline = 8;
/// As the inspector shows them.
std::vector<Line> explanation_lines(const Explanation& explanation,
                                    std::size_t most_inline = kMostInline);
/// A step in a copy, a line each: "label = expr = result".
std::string copied_text(const Step& step);
/// The same in an align environment, under `label`.
std::string copied_latex(const Step& step, std::string_view label);
/// The environment around rows.
std::string latex_align(std::string_view rows);
/// Its own table, or that of its sum of products.
std::optional<InspectorTable> explanation_table(const Explanation& explanation);
/// Rows that a table holds: more terms are read from a copy.
inline constexpr std::size_t kMostTableRows = 512;
/// One row for each term: left, right, product, and the sum so far.
InspectorTable product_table(const DotProduct& pair);
/// Numbers of one column: as many decimals as the largest leaves room for, at most four. Smaller ones
/// than those show have one digit and a power of ten.
std::vector<std::string> column_texts(const std::vector<double>& values);
std::vector<Line> geometry_lines(const Explanation& explanation);

}  // namespace attn::view
