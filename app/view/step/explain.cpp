#include "app/view/step/explain.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/view/common/format.h"
#include "app/view/common/words.h"
#include "app/view/document/toy.h"
#include "app/view/step/grids.h"
#include "core/check.h"
#include "core/dropout.h"
#include "core/masks.h"
#include "core/rng.h"
#include "core/softmax.h"
#include "core/tex.h"

namespace attn::view {
namespace {

// ---- building expressions

Expr constant(double value) {
    Expr expr;
    expr.value = value;
    expr.constant = true;
    return expr;
}

Expr plain(double value) {
    Expr expr;
    expr.value = value;
    return expr;
}

/// Of a cell that the trace holds: explain() asks first.
Expr cell_expr(const AppState& state, const CellRef& cell) {
    const auto value = value_at(state, cell);
    ATTN_CHECK(value, "an operand that the trace does not hold");
    Expr expr;
    expr.value = *value;
    expr.role = std::visit([](auto key) { return info(key).role; }, cell.tensor);
    expr.link = cell;
    return expr;
}

Expr combine(Op op, std::vector<Expr> args) {
    Expr expr;
    expr.op = op;
    expr.args = std::move(args);
    return expr;
}

std::string label_of(const AppState& state, Axis axis, Index n) {
    return axis_label(state.document(), axis, n);
}

/// A token or an index as it stands in TeX.
std::string tex_label(const AppState& state, Axis axis, Index n) {
    return tex::text_of(label_of(state, axis, n));
}

Step last_step(const AppState& state, const Explanation& explanation, Expr expr) {
    return {cell_name(state, explanation.cell), latex_name(state, explanation.cell),
            std::move(expr), explanation.value};
}

// ---- sums of products

/// One operand of a sum: the n-th cell is cell_at(n).
struct Side {
    std::string letter;
    std::string tex;
    std::vector<CellRef> cells;
};

Factor factor_of(const AppState& state, const Side& side) {
    Factor factor{side.letter, tex::plain_text(side.tex), Role::input, {}};
    for (const CellRef& cell : side.cells) {
        const Expr expr = cell_expr(state, cell);
        factor.role = *expr.role;
        factor.values.push_back(expr.value);
    }
    return factor;
}

/// The float range ends where double's does not.
void note_overflow(Explanation& explanation, const Expr& expr) {
    if (std::isfinite(evaluate(expr)) && !std::isfinite(explanation.value))
        explanation.notes.emplace_back("Beyond the range of a float, 3.4e38: it becomes ∞.");
}

std::string sum_of_products(std::string_view index, const Side& left, const Side& right) {
    return fmt::format("\\sum_{} {} \\cdot {}", index, left.tex, right.tex);
}

/// Σ left · right, and the bias of the column where there is one.
void add_products(const AppState& state, Explanation& explanation, const Side& left,
                  const Side& right, std::vector<std::string> labels,
                  std::optional<Param> bias = std::nullopt) {
    std::vector<Expr> terms;
    for (std::size_t n = 0; n < left.cells.size(); ++n)
        terms.push_back(combine(
            Op::product, {cell_expr(state, left.cells[n]), cell_expr(state, right.cells[n])}));
    explanation.dot =
        DotProduct{factor_of(state, left), factor_of(state, right), std::move(labels)};
    if (bias && !state.document().inputs->params[*bias].empty()) {
        terms.push_back(cell_expr(state, {*bias, 0, explanation.cell.column}));
        explanation.tex += fmt::format(" + {}[{}]", tex_symbol(*bias), explanation.cell.column);
        explanation.dot->bias = terms.back().value;
    }
    Expr sum = combine(Op::sum, std::move(terms));
    note_overflow(explanation, sum);
    explanation.steps.push_back(last_step(state, explanation, std::move(sum)));
}

/// A number of the document's own tensors.
void explain_given(const AppState& state, Explanation& explanation) {
    const auto* file = std::get_if<FileOrigin>(&state.document().origin);
    explanation.tex = tex::text_of("a given number");
    explanation.notes.push_back(file ? fmt::format("It stands in {}.", file->path)
                                     : std::string("It is given."));
}

/// Q, K, V: row of X times column of W.
void explain_projection(const AppState& state, Explanation& explanation, Stage input, Param w,
                        Param bias) {
    const CellRef cell = explanation.cell;
    if (!state.document().inputs->projects()) return explain_given(state, explanation);
    const Index width = sheet_of(state, input).values.columns;
    const std::string token = tex_label(state, info(input).rows, cell.row);
    Side left{"x", fmt::format("{}[{}, c]", tex_symbol(input), token), {}};
    Side right{"w", fmt::format("{}[c, {}]", tex_symbol(w), cell.column), {}};
    for (Index c = 0; c < width; ++c) {
        left.cells.push_back({input, cell.row, c});
        right.cells.push_back({w, c, cell.column});
    }
    explanation.tex = sum_of_products("c", left, right);
    add_products(state, explanation, left, right,
                 axis_labels(state.document(), Axis::d_model, width), bias);
}

void explain_score(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    Side left{"q", fmt::format("Q[{}, c]", tex_label(state, Axis::query, cell.row)), {}};
    Side right{"k", fmt::format("K[{}, c]", tex_label(state, Axis::key, cell.column)), {}};
    for (Index c = 0; c < state.document().d_k; ++c) {
        left.cells.push_back({Stage::q, cell.row, c});
        right.cells.push_back({Stage::k, cell.column, c});
    }
    explanation.tex = sum_of_products("c", left, right);
    add_products(state, explanation, left, right,
                 axis_labels(state.document(), Axis::d_k, state.document().d_k));
}

/// Forbidden keys are left out: they contribute nothing, even where V is NaN.
void explain_context(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const Document& document = state.document();
    const Stage weights = weight_stage(document);
    const Dimensions size = document.size;
    std::vector<std::uint8_t> takes_part(static_cast<std::size_t>(size.tk));
    fill_contributing(document.spec, size, state.batch, state.head, cell.row, takes_part);
    const auto keys = axis_labels(document, Axis::key, size.tk);
    Side left{
        "a",
        fmt::format("{}[{}, j]", tex_symbol(weights), tex_label(state, Axis::query, cell.row)),
        {}};
    Side right{"v", fmt::format("V[j, {}]", cell.column), {}};
    std::vector<std::string> labels;
    for (Index j = 0; j < size.tk; ++j) {
        if (takes_part[static_cast<std::size_t>(j)] == 0) continue;
        left.cells.push_back({weights, cell.row, j});
        right.cells.push_back({Stage::v, j, cell.column});
        labels.push_back(keys[static_cast<std::size_t>(j)]);
    }
    explanation.tex = sum_of_products("j", left, right);
    const auto left_out = keys.size() - labels.size();
    if (labels.empty())
        explanation.notes.emplace_back("The mask leaves no key: the empty row gives 0.");
    else if (left_out > 0)
        explanation.notes.push_back(fmt::format(
            "{} masked key{} weigh{} exactly 0 and {} left out.", left_out,
            left_out == 1 ? "" : "s", left_out == 1 ? "s" : "", left_out == 1 ? "is" : "are"));
    if (!labels.empty()) add_products(state, explanation, left, right, std::move(labels));
}

void explain_output(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const Document& document = state.document();
    const Index width = document.size.d_v;
    const Index joined = document.size.heads * width;
    const Index first = -state.head * width;  // columns count from the head shown
    if (document.inputs->params[Param::w_o].empty()) {
        explanation.tex = tex::text_of("the joined context: there is no W_O");
        explanation.steps.push_back(last_step(
            state, explanation, cell_expr(state, {Stage::context, cell.row, cell.column + first})));
        return;
    }
    Side left{"c",
              fmt::format("\\mathrm{{{}}}[{}, n]", document.size.heads == 1 ? "context" : "concat",
                          tex_label(state, Axis::query, cell.row)),
              {}};
    Side right{"w", fmt::format("W_O[n, {}]", cell.column), {}};
    for (Index n = 0; n < joined; ++n) {
        left.cells.push_back({Stage::context, cell.row, n + first});
        right.cells.push_back({Param::w_o, n, cell.column});
    }
    explanation.tex = sum_of_products("n", left, right);
    if (document.heads > 1)
        explanation.notes.push_back(fmt::format(
            "concat holds the {} heads' contexts, {} columns each.", document.size.heads, width));
    add_products(state, explanation, left, right, axis_labels(document, Axis::d_v, joined),
                 Param::b_o);
}

// ---- one number to one number

void explain_scaled(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const AttentionSpec& spec = state.document().spec;
    Expr expr = cell_expr(state, {Stage::scores, cell.row, cell.column});
    explanation.tex = tex_scaled(spec);
    if (spec.scale == ScaleKind::sqrt_dk) {
        expr = combine(
            Op::quotient,
            {expr, combine(Op::sqrt, {constant(static_cast<double>(state.document().d_k))})});
    }
    if (spec.scale == ScaleKind::value) {
        expr = combine(Op::product, {expr, constant(spec.scale_value)});
    }
    if (spec.scale == ScaleKind::none) explanation.notes.emplace_back("Scaling is off.");
    if (spec.temperature != 1.0) {
        expr = combine(Op::quotient, {expr, constant(spec.temperature)});
    }
    explanation.steps.push_back(last_step(state, explanation, std::move(expr)));
}

/// Which mask forbids the pair, in words; "" when it is allowed.
std::string reason_forbidden(const AppState& state, Index i, Index j) {
    const Document& document = state.document();
    const Dimensions size = document.size;
    const std::string query = label_of(state, Axis::query, i);
    const std::string key = label_of(state, Axis::key, j);
    const auto forbids = [&](const MaskSpec& mask) {
        return !may_attend(mask, size, state.batch, state.head, i, j);
    };
    const MaskSpec& all = document.spec.mask;
    MaskSpec one;
    one.causal = all.causal;
    if (forbids(one)) return fmt::format("causal: key {} comes after query {}", key, query);
    one = {};
    one.padding = all.padding;
    if (forbids(one)) return fmt::format("padding: key {} is past the last valid one", key);
    one = {};
    one.window = all.window;
    if (forbids(one))
        return fmt::format("window: {} and {} are {} apart, more than {}", query, key,
                           std::abs(i - j), *all.window);
    one = {};
    one.block = all.block;
    if (forbids(one)) return fmt::format("block: {} and {} are in different blocks", query, key);
    return forbids(all) ? "the mask forbids the pair" : "";
}

void explain_masked(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const std::string reason = reason_forbidden(state, cell.row, cell.column);
    explanation.tex =
        (reason.empty() ? "S" : "-\\infty") +
        tex::text_of(reason.empty() ? ", the pair is allowed" : ", the pair is forbidden");
    if (!reason.empty()) {
        explanation.notes.push_back(
            fmt::format("{}. exp(−∞) is exactly 0, so its weight is too.", reason));
        return;
    }
    explanation.steps.push_back(
        last_step(state, explanation, cell_expr(state, {Stage::scaled, cell.row, cell.column})));
}

void explain_dropped(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const AttentionSpec& spec = state.document().spec;
    const double factor =
        dropout_factor(spec, state.document().size, state.batch, state.head, cell.row, cell.column);
    if (factor == 0.0) {
        explanation.tex = "0" + tex::text_of(", this weight is dropped");
        explanation.notes.push_back(
            fmt::format("Dropout p = {} took this weight out.", significant(spec.dropout, 4)));
        return;
    }
    explanation.tex = "\\frac{A}{1 - p}" + tex::text_of(", this weight is kept");
    Expr kept = combine(Op::difference, {constant(1.0), constant(spec.dropout)});
    explanation.steps.push_back(last_step(
        state, explanation,
        combine(Op::quotient,
                {cell_expr(state, {Stage::weights, cell.row, cell.column}), std::move(kept)})));
}

// ---- softmax

/// Why a row of M has no ordinary softmax; "" when it has.
std::string softmax_trouble(const std::vector<double>& m, EmptyRows policy, bool all_forbidden) {
    const auto is_nan = [](double value) { return std::isnan(value); };
    const double inf = std::numeric_limits<double>::infinity();
    if (std::any_of(m.begin(), m.end(), is_nan))
        return "A score of the row is NaN, so all its allowed weights are NaN.";
    if (std::count(m.begin(), m.end(), inf) > 0)
        return "A score of the row is ∞: ∞ − ∞ is NaN, so all its allowed weights are NaN.";
    if (std::any_of(m.begin(), m.end(), [](double value) { return std::isfinite(value); }))
        return {};
    if (!all_forbidden) return "All allowed scores are −∞: 0 ÷ 0 is NaN.";
    return policy == EmptyRows::zero ? "The mask leaves no key: the empty row gives 0."
                                     : "The mask leaves no key: the empty row gives NaN.";
}

Expr shifted_exp(const AppState& state, const CellRef& masked, const Expr& largest) {
    return combine(Op::exp, {combine(Op::difference, {cell_expr(state, masked), largest})});
}

void explain_weight(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const auto m = sheet_of(state, Stage::masked).values;
    const auto allowed = allowed_pairs(state);
    const auto pair = [&](Index j) {
        return allowed[static_cast<std::size_t>(cell.row * m.columns + j)] != 0;
    };
    std::vector<Expr> row;
    bool all_forbidden = true;
    for (Index j = 0; j < m.columns; ++j) {
        explanation.softmax_row.push_back(m(cell.row, j));
        if (pair(j)) row.push_back(cell_expr(state, {Stage::masked, cell.row, j}));
        all_forbidden = all_forbidden && !pair(j);
    }
    explanation.tex = "\\frac{\\exp(M - m)}{\\sum_j \\exp(M_j - m)}";
    const std::string trouble =
        softmax_trouble(explanation.softmax_row, state.document().spec.empty_rows, all_forbidden);
    if (!trouble.empty()) explanation.notes.push_back(trouble);
    if (!pair(cell.column))
        explanation.notes.emplace_back("The pair is masked: exp(−∞) = 0, the weight is exactly 0.");
    else if (!all_forbidden && static_cast<Index>(row.size()) < m.columns)
        explanation.notes.emplace_back("Masked keys add exp(−∞) = 0 to the sum and are left out.");
    if (!trouble.empty() || !pair(cell.column)) return;

    const SoftmaxRow sides = softmax_sides(m.row(cell.row));
    Expr largest = plain(sides.max);
    largest.role = Role::score;
    std::vector<Expr> exps;
    for (const Expr& score : row) exps.push_back(shifted_exp(state, *score.link, largest));
    const Expr own = shifted_exp(state, {Stage::masked, cell.row, cell.column}, largest);
    explanation.steps.push_back({"m", "m", combine(Op::max, std::move(row)), sides.max});
    explanation.steps.push_back({"exp(M − m)", "e", own, evaluate(own)});
    explanation.steps.push_back({"Σ exp", "\\Sigma", combine(Op::sum, std::move(exps)), sides.sum});
    explanation.steps.push_back(last_step(
        state, explanation, combine(Op::quotient, {plain(evaluate(own)), plain(sides.sum)})));
}

// ---- what nothing computes

void explain_vector(const AppState& state, Explanation& explanation, Stage stage) {
    const CellRef cell = explanation.cell;
    if (!is_toy(state.document())) return explain_given(state, explanation);
    if (!is_embedding(state, stage, cell.row)) {
        explanation.tex = tex::text_of("a given number");
        explanation.notes.emplace_back("It is given with the sentence, or was edited.");
        return;
    }
    const Document& document = state.document();
    const auto& tokens = stage == Stage::x ? document.tokens : document.tokens_kv;
    const std::string& token = tokens[static_cast<std::size_t>(cell.row)];
    explanation.tex = tex::text_of(
        fmt::format("word vector of “{}” + position {}", shown_token(token, kMostNamed), cell.row));
    explanation.steps.push_back(last_step(
        state, explanation,
        combine(Op::sum, {plain(word_value(hash_text(token), cell.column)),
                          plain(position_value(cell.row, cell.column))})));
    explanation.notes.push_back(fmt::format("Position: {}({} ÷ 10000^({}/{})).",
                                            cell.column % 2 == 0 ? "sin" : "cos", cell.row,
                                            cell.column - cell.column % 2, kWaveWidth));
}

void explain_param(Explanation& explanation, Param param) {
    const ParamInfo& row = info(param);
    explanation.tex = tex::text_of("a weight of ") + tex_symbol(param);
    if (param == Param::w_o) {
        explanation.notes.push_back(
            fmt::format("Row {} takes column {} of the joined heads; column {} goes to column {} "
                        "of the output.",
                        explanation.cell.row, explanation.cell.row, explanation.cell.column,
                        explanation.cell.column));
        return;
    }
    const char letter = std::string_view(row.symbol).back();
    if (row.bias) {
        explanation.notes.push_back(fmt::format("It is added to column {} of {}, for every token.",
                                                explanation.cell.column,
                                                letter == 'O' ? 'Y' : letter));
        return;
    }
    explanation.notes.push_back(
        fmt::format("It multiplies column {} of X and adds to column {} of {}, for every token.",
                    explanation.cell.row, explanation.cell.column, letter));
}

/// "weights", "q and k": the operands that the backend does not keep; "" when it keeps all.
std::string missing_operands(const AppState& state, Stage stage) {
    std::vector<std::string_view> missing;
    for (const auto& operand : info(stage).operands) {
        if (!operand) continue;
        const OperandId id = operand_of(state.document(), stage, operand->id);
        if (!is_kept(state, id)) missing.push_back(key_of(id));
    }
    return fmt::format("{}", fmt::join(missing, " and "));
}

void explain_without(const AppState& state, Explanation& explanation, Stage stage,
                     const std::string& missing) {
    explanation.tex = info(stage).tex;
    explanation.notes.push_back(
        fmt::format("{} are not kept by the backend {}: choose another backend, such as "
                    "reference, to see the arithmetic of this number.",
                    missing, state.backend_used));
}

void explain_stage(const AppState& state, Explanation& explanation, Stage stage) {
    if (const std::string missing = missing_operands(state, stage); !missing.empty())
        return explain_without(state, explanation, stage, missing);
    switch (stage) {
        case Stage::x:
        case Stage::x_kv:
            return explain_vector(state, explanation, stage);
        case Stage::q:
            return explain_projection(state, explanation, Stage::x, Param::w_q, Param::b_q);
        case Stage::k:
            return explain_projection(state, explanation, key_stage(state.document()), Param::w_k,
                                      Param::b_k);
        case Stage::v:
            return explain_projection(state, explanation, key_stage(state.document()), Param::w_v,
                                      Param::b_v);
        case Stage::scores:
            return explain_score(state, explanation);
        case Stage::scaled:
            return explain_scaled(state, explanation);
        case Stage::masked:
            return explain_masked(state, explanation);
        case Stage::weights:
            return explain_weight(state, explanation);
        case Stage::dropped:
            return explain_dropped(state, explanation);
        case Stage::context:
            return explain_context(state, explanation);
        case Stage::output:
            return explain_output(state, explanation);
    }
}

}  // namespace

std::string tex_scaled(const AttentionSpec& spec) {
    const std::string scores = spec.scale == ScaleKind::value
                                   ? R"(\mathrm{scores} \cdot \mathrm{scale})"
                                   : R"(\mathrm{scores})";
    std::string below = spec.scale == ScaleKind::sqrt_dk ? R"(\sqrt{d_k})" : "";
    if (spec.temperature != 1.0) below += below.empty() ? R"(\tau)" : R"( \cdot \tau)";
    return below.empty() ? scores : fmt::format(R"(\frac{{{}}}{{{}}})", scores, below);
}

Explanation explain(const AppState& state, const CellRef& cell) {
    Explanation explanation;
    explanation.cell = cell;
    const auto value = value_at(state, cell);
    ATTN_CHECK(value, "a cell that does not exist");
    explanation.value = *value;
    if (const Param* param = std::get_if<Param>(&cell.tensor))
        explain_param(explanation, *param);
    else
        explain_stage(state, explanation, std::get<Stage>(cell.tensor));
    explanation.formula = tex::plain_text(explanation.tex);
    return explanation;
}

}  // namespace attn::view
