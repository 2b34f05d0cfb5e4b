// QK-norm, forward and backward: x a row of Q or K, γ its weights, r = 1 / √(mean x² + ε), y = x r ∘ γ; d_ gradient of, g = γ ∘ d_y.

#include <fmt/format.h>

#include "app/common/document/chain_rule.h"
#include "app/common/document/document.h"
#include "app/common/explain/parts.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "core/qk_norm.h"
#include "core/trace.h"

namespace attn::view {
namespace {

/// The stages and the weights of queries or of keys.
struct NormSide {
    Stage given, normalised;
    Param weight;
    std::string letter;  // of a row in formulas
};
NormSide norm_side(bool query) {
    if (query) return {Stage::q, Stage::q_norm, Param::q_norm_weight, "q"};
    return {Stage::k, Stage::k_norm, Param::k_norm_weight, "k"};
}

bool has_weight(const AppState& state, const NormSide& side) {
    return has_param(state.document(), side.weight);
}

/// Adds the mean of x_c · other_c; its number.
Expr add_mean(Explanation& explanation, const std::string& label, const std::string& latex,
              const std::vector<Expr>& x, const std::vector<Expr>& other, std::string brief) {
    return explanation.add(label, latex, sum_of_products(x, other) / constant(Index{std::ssize(x)}),
                           std::move(brief));
}

/// Adds √(mean x² + ε), the divisor of a row.
Expr add_root(const AppState& state, Explanation& explanation, const NormSide& side,
              const std::vector<Expr>& x) {
    const std::string& name = side.letter;
    const Expr mean = add_mean(explanation, fmt::format("mean {}²", name),
                               fmt::format(R"(\mathrm{{mean}}({}^2))", name), x, x,
                               fmt::format("Σ_c {}_c² ÷ d_k", name));
    const double epsilon = *state.document().spec.qk_norm;
    return explanation.add("rms", R"(\mathrm{rms})", combine(Op::sqrt, {mean + constant(epsilon)}));
}

/// A row of a stage of the sequence and head shown.
std::vector<Expr> row_exprs(const AppState& state, From from, Stage stage, Index row) {
    std::vector<Expr> exprs;
    for (Index c = 0; c < (*state.trace)[stage].shape().d; ++c)
        exprs.push_back(stage_expr(state, from, stage, row, c));
    return exprs;
}

}  // namespace

// y_c = x_c / √(mean x² + ε) · γ_c
void explain_normalised(const AppState& state, Explanation& explanation, Stage stage) {
    const CellRef cell = explanation.cell;
    const NormSide side = norm_side(stage == Stage::q_norm);
    const std::string at =
        fmt::format("{}, {}", tex_label(state, info(side.given).rows, cell.row), cell.column);
    const std::vector<Expr> x = row_exprs(state, From::values, side.given, cell.row);
    const Expr root = add_root(state, explanation, side, x);
    Expr normalised = x[static_cast<std::size_t>(cell.column)] / root;
    std::string formula =
        fmt::format(R"(\frac{{{}[{}]}}{{\mathrm{{rms}}}})", tex_symbol(side.given), at);
    if (has_weight(state, side)) {
        normalised = normalised * cell_expr(state, {side.weight, 0, cell.column});
        formula += fmt::format(R"( \cdot {}[{}])", tex_symbol(side.weight), cell.column);
    }
    set_formula(explanation, std::move(formula));
    end_with(explanation, std::move(normalised));
}

// forward:  y = x r ∘ γ  so  d_x_c = r (g_c − x_c r² mean(x ∘ g)),  g = γ ∘ d_y
void explain_norm_gradient(const AppState& state, Explanation& explanation, Stage stage) {
    const CellRef cell = explanation.cell;
    const NormSide side = norm_side(stage == Stage::q);
    const std::vector<Expr> x = row_exprs(state, From::values, side.given, cell.row);
    std::vector<Expr> g;
    for (Index c = 0; c < std::ssize(x); ++c) {
        Expr each = stage_expr(state, From::gradients, side.normalised, cell.row, c);
        if (has_weight(state, side)) each = each * param_expr(state, side.weight, 0, c);
        g.push_back(std::move(each));
    }
    const Expr root = add_root(state, explanation, side, x);
    const std::string& name = side.letter;
    const Expr mean = add_mean(explanation, fmt::format("mean {}·g", name),
                               fmt::format(R"(\mathrm{{mean}}({} \cdot g))", name), x, g,
                               fmt::format("Σ_c {}_c·g_c ÷ d_k", name));
    const auto column = static_cast<std::size_t>(cell.column);
    set_formula(
        explanation,
        fmt::format(
            R"(\frac{{1}}{{\mathrm{{rms}}}} \cdot (g - {0} \cdot \frac{{\mathrm{{mean}}({0} \cdot g)}}{{\mathrm{{rms}}^2}}))",
            name));
    explanation.notes.push_back(
        has_weight(state, side) ? fmt::format("g is ∂L/∂{}, multiplied by the weights {}.",
                                              name_of(side.normalised), info(side.weight).symbol)
                                : fmt::format("g is ∂L/∂{}.", name_of(side.normalised)));
    end_with(explanation, (g[column] - x[column] * mean / (root * root)) / root);
}

// forward:  y = x r ∘ γ  so  d_γ_c = Σ d_y_c x_c r, over every row of every head and sequence
void explain_norm_weight_gradient(const AppState& state, Explanation& explanation, Param param) {
    const NormSide side = norm_side(param == Param::q_norm_weight);
    const Index column = explanation.cell.column;
    const Tensor& x = (*state.trace)[side.given];
    Chain chain = chain_of(side.normalised, fmt::format("i, {}", column), side.given,
                           fmt::format("i, {}", column), "row");
    chain.right = side_of(
        "w",
        fmt::format(R"(\frac{{{}[i, {}]}}{{\mathrm{{rms}}_i}})", tex_symbol(side.given), column),
        name_of(side.given) + " ÷ rms");
    const Shape shape = x.shape();
    for (Index b = 0; b < shape.b; ++b)
        for (const auto [h, t] : each_cell(shape.h, shape.t)) {
            const double r = inverse_rms(x.matrix(b, h).row(t), *state.document().spec.qk_norm);
            std::string label = axis_label(state, info(side.given).rows, t);
            if (shape.h > 1) label += fmt::format(", head {}", h);
            if (shape.b > 1) label += fmt::format(", sequence {}", b);
            chain.add(stage_expr(state, From::gradients, side.normalised, {b, h}, t, column),
                      plain(static_cast<double>(x(b, h, t, column)) * r), std::move(label));
        }
    add_chain(state, explanation, std::move(chain), "i");
}

}  // namespace attn::view
