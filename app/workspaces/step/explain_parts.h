#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/sheet.h"
#include "app/workspaces/step/explain.h"

namespace attn::view {

// What explanations are made of, forward and backward.

Expr constant(double value);
Expr plain(double value);
/// The value of a cell that the trace holds, linked to it.
Expr cell_expr(const AppState& state, const CellRef& cell);
Expr combine(Op op, std::vector<Expr> args);

std::string label_of(const AppState& state, Axis axis, Index n);
/// Adds the step whose result is the explained number.
Step& end_with(Explanation& explanation, Expr expr);

/// One operand of a sum of products.
struct Side {
    std::string letter;   // a name in Python
    std::string name;     // "Q[cat, c]"
    std::string heading;  // of its column
    std::vector<Expr> numbers = {};
    std::string tex = {};  // the name as TeX; "": it has no formula of its own
};
/// The side that `tex` names.
Side side_of(std::string letter, std::string tex, std::string heading);
/// A token or an index as it stands in TeX.
std::string tex_label(const AppState& state, Axis axis, Index n);
/// Σ left · right, term by term.
struct Chain {
    Side left, right;
    std::vector<std::string> labels = {};  // of the terms
    std::string counts = "c";              // what the terms are
    void add(Expr l, Expr r, std::string label);
};
/// What the number is, in TeX; the plain text is made from it.
void set_formula(Explanation& explanation, std::string tex);
/// "\sum_c left \cdot right", over `index`.
std::string sum_tex(const Chain& chain, std::string_view index);
Expr products_of(const Chain& chain);
/// The formula of the sum over `index`, plus the bias of the explained column where there is one, and the last step.
void add_sum(const AppState& state, Explanation& explanation, Chain chain, std::string_view index,
             std::optional<Param> bias = std::nullopt);

/// "weights", "q and k": what is missing of `ids`, "" when all of it is kept.
std::string missing_of(const AppState& state, const std::vector<OperandId>& ids);
/// The formula alone, and which backend's fault it is.
void explain_without(const AppState& state, Explanation& explanation, const std::string& missing);

/// explain_forward.cpp: what the stage is computed from, with its operands kept.
void explain_stage(const AppState& state, Explanation& explanation, Stage stage);
/// scores ÷ √d_k ÷ temperature of one number, as the document scales.
Expr scaled_expr(const AttentionSpec& spec, Index d_k, Expr score);

}  // namespace attn::view
