#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/view/inspector_view.h"

namespace attn::view {

// Where one number comes from, as arithmetic with its real operands. The inspector, the three kinds
// of copies and the tests all read this one tree.

enum class Op : std::uint8_t { number, sum, product, quotient, difference, exp, sqrt, max };

struct Expr {
    Op op = Op::number;
    double value = 0.0;     // of a number
    bool constant = false;  // a 1, a d_k: written short
    std::optional<Role> role;
    std::optional<CellRef> link;
    std::vector<Expr> args;
};
/// In double, from the operands alone.
double evaluate(const Expr& expr);

/// "label: expr = result".
struct Step {
    std::string label;  // "exp(M − m)"
    std::string latex;  // the same for LaTeX, in math mode
    Expr expr;
    double result = 0.0;
};

/// One factor of the sum: a row or column of an operand, for the strip and for numpy.
struct Factor {
    std::string letter;  // "q"
    std::string name;    // "Q[cat, ·]"
    Role role = Role::input;
    std::vector<double> values;
};
struct DotProduct {
    Factor left, right;
    std::vector<std::string> labels;  // of the terms
};

struct Explanation {
    CellRef cell;
    std::string formula;      // symbolic: "Σ_c Q[cat, c] · K[sat, c]"
    std::vector<Step> steps;  // the last one's result is the cell's value; none: a given number
    std::vector<std::string> notes;   // one plain sentence each
    std::optional<DotProduct> dot;    // a sum of products has it
    std::vector<double> softmax_row;  // of a weight: its row of M
    double value = 0.0;
};

/// `cell` must exist (has_cell). Every step's result is what the trace holds, rounded to float.
Explanation explain(const AppState& state, const CellRef& cell);

// How an expression is written.
enum class Dialect : std::uint8_t { screen, text, latex, python };
std::vector<Piece> write(const Expr& expr, Dialect dialect);
std::string write_text(const Expr& expr, Dialect dialect);
std::string write_number(double value, Dialect dialect);
/// "\mathrm{scores}[\text{cat}, \text{sat}]" from "scores[cat, sat]".
std::string latex_name(const AppState& state, const CellRef& cell);

// inspector_lines.cpp
std::vector<Line> explanation_lines(const AppState& state, const Explanation& explanation);
std::optional<ProductStrip> product_strip(const Explanation& explanation);
std::vector<Line> geometry_lines(const AppState& state, const Explanation& explanation);

// inspector_copy.cpp
std::string copy_as_text(const AppState& state, const Explanation& explanation);
std::string copy_as_latex(const AppState& state, const Explanation& explanation);
std::string copy_as_python(const AppState& state, const Explanation& explanation);

}  // namespace attn::view
