#include "app/common/map/inspector.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/expr.h"
#include "app/common/format.h"
#include "app/common/map/words.h"

namespace attn::view {
namespace {

using large::CellArithmetic;

constexpr std::size_t kTermsShown = 6;
constexpr std::size_t kStripTerms = 12;

struct Inspected {
    const MapLook& look;
    const large::Cell cell;
    const CellArithmetic& sum;
    const double factor;
};

Expr value(double number, std::optional<Role> role = {}) { return {.value = number, .role = role}; }

Expr combine(Op op, std::vector<Expr> args) { return {.op = op, .args = std::move(args)}; }

/// Dimensions by |q_c k_c|, the largest first.
std::vector<std::size_t> by_size(const CellArithmetic& sum) {
    std::vector<std::size_t> order(sum.q.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t c) {
        const double size = std::abs(sum.q[c] * sum.k[c]);
        return std::isnan(size) ? HUGE_VAL : size;
    });
    return order;
}

Expr products(const CellArithmetic& sum, std::span<const std::size_t> dimensions) {
    std::vector<Expr> terms;
    for (const std::size_t c : dimensions)
        terms.push_back(
            combine(Op::product, {value(sum.q[c], Role::query), value(sum.k[c], Role::key)}));
    return combine(Op::sum, std::move(terms));
}

/// A number of the scores' own, not of the weights that they become.
bool is_score(const MapLook& look) {
    return look.form != MapForm::own && look.form != MapForm::weights;
}

/// What the selected cell is a number of.
std::string_view name_of_cell(const MapLook& look) {
    constexpr std::string_view kNames[] = {"", "score", "scaled score", "masked score", "weight"};
    if (look.form == MapForm::own) return shows_scores(look) ? "scaled score" : "weight";
    return kNames[static_cast<std::size_t>(look.form)];
}

/// How it is made.
std::string_view formula_of_cell(const MapLook& look) {
    if (look.form == MapForm::scores) return "q·k, the sum over the dimensions";
    if (look.form == MapForm::scaled) return "S = q·k · factor";
    if (look.form == MapForm::masked) return "M = S where the mask allows it, else −∞";
    return "a = exp(S − L), S = q·k · factor, L = logsumexp of the row";
}

double number_of_cell(const Inspected& at) {
    if (at.look.form == MapForm::masked && !at.sum.allowed) return -HUGE_VAL;
    return shows_scores(at.look) ? at.sum.scaled : at.sum.weight;
}

/// q·k of every dimension, then what becomes of it, as far as the stage goes.
std::vector<Step> steps_of(const Inspected& at, std::span<const std::size_t> order) {
    const CellArithmetic& sum = at.sum;
    const Step product{"q·k", "q \\cdot k", products(sum, order), sum.score};
    const Step scaled{"S", "S",
                      combine(Op::product, {value(sum.score, Role::score), value(at.factor)}),
                      sum.scaled};
    if (at.look.form == MapForm::scores) return {product};
    if (is_score(at.look)) return {product, scaled};
    const Expr shifted =
        combine(Op::difference, {value(sum.scaled, Role::score), value(sum.logsumexp)});
    return {product,
            scaled,
            {"S − L", "S - L", shifted, sum.scaled - sum.logsumexp},
            {"a", "a", combine(Op::exp, {shifted}), sum.weight}};
}

// ---- on screen

Piece words(std::string text, bool muted = false) { return {std::move(text), {}, muted}; }

Line step_line(const Step& step, std::string label, Role role) {
    Line line{std::move(label), write(step.expr, Dialect::screen)};
    line.pieces.push_back(words(" = "));
    line.pieces.push_back({number(step.result), role});
    return line;
}

/// The largest terms, and the sum of all the others.
Line product_line(const Inspected& at, std::span<const std::size_t> order) {
    const std::size_t shown = std::min(kTermsShown, order.size());
    Line line{"q·k", write(products(at.sum, order.first(shown)), Dialect::screen)};
    if (shown < order.size()) {
        const double rest = evaluate(products(at.sum, order.subspan(shown)));
        line.pieces.push_back(words(rest < 0.0 ? " − " : " + "));
        line.pieces.push_back(words(number(std::abs(rest))));
        line.pieces.push_back(
            words(fmt::format(" (the {} smaller terms)", order.size() - shown), true));
    }
    line.pieces.push_back(words(" = "));
    line.pieces.push_back({number(at.sum.score), Role::score});
    return line;
}

std::string token_words(const MapLook& look, const char* kind, Index token) {
    std::string text = fmt::format("{} {}", kind, grouped(token));
    const std::string word = token_text(look, std::string_view(kind) == "key", token);
    if (!word.empty()) text += fmt::format(" “{}”", word);
    const std::string document = document_of(*look.input, token);
    return document.empty() ? text : text + fmt::format(", document {}", document);
}

/// A row that has no key at all is NaN under EmptyRows::nan.
std::string forbidden_words(const Inspected& at) {
    const CellArithmetic& sum = at.sum;
    if (at.look.form == MapForm::masked) return "The mask forbids this pair: its score is −∞.";
    return std::isnan(sum.weight) ? "The mask leaves this query no key: its weights are NaN."
                                  : "The mask forbids this pair: its weight is 0.";
}

/// The scaled score beside the weight that it becomes.
std::vector<Piece> both_values(const CellArithmetic& sum) {
    return {words("score ", true),
            {number(sum.scaled), Role::score},
            words("  weight ", true),
            {number(sum.weight), Role::weight}};
}

std::string spoilt_words(const Inspected& at) {
    return fmt::format("S[{}] = {}: it makes every weight of query {} NaN.",
                       cell_words({at.cell.row, *at.sum.spoiling_key}),
                       number(at.sum.spoiling_score), grouped(at.cell.row));
}

std::vector<Line> lines_of(const Inspected& at, const std::vector<Step>& steps,
                           std::span<const std::size_t> order) {
    std::vector<Line> lines{{"", {words(std::string(formula_of_cell(at.look)), true)}},
                            {"", {words(token_words(at.look, "query", at.cell.row), true)}},
                            {"", {words(token_words(at.look, "key", at.cell.column), true)}}};
    if (!at.sum.allowed) {
        lines.push_back({"", {words(forbidden_words(at))}});
        return lines;
    }
    if (!is_score(at.look)) lines.push_back({"S, a", both_values(at.sum)});
    lines.push_back(product_line(at, order));
    if (steps.size() < 2) return lines;
    lines.push_back(step_line(steps[1], factor_words(at.look.input->source.spec), Role::score));
    if (is_score(at.look)) return lines;
    if (at.sum.spoiling_key) {
        lines.push_back({"", {words(spoilt_words(at))}});
        return lines;
    }
    lines.push_back(step_line(steps[2], "− L", Role::score));
    lines.push_back(step_line(steps[3], "exp", Role::weight));
    return lines;
}

Explanation dot_of(const Inspected& at, std::span<const std::size_t> dimensions) {
    Explanation explanation;
    explanation.cell = {Stage::scores, at.cell.row, at.cell.column};
    DotProduct dot{{"q", fmt::format("Q[{}, c]", at.cell.row), Role::query, {}},
                   {"k", fmt::format("K[{}, c]", at.cell.column), Role::key, {}},
                   {}};
    for (const std::size_t c : dimensions) {
        dot.left.values.push_back(at.sum.q[c]);
        dot.right.values.push_back(at.sum.k[c]);
        dot.labels.push_back(fmt::format("{}", c));
    }
    explanation.dot = std::move(dot);
    return explanation;
}

// ---- copies

std::string as_text(const Inspected& at, const std::vector<Step>& steps) {
    std::string text = fmt::format(
        "{}[query {}, key {}]{}\n", is_score(at.look) ? name_of_cell(at.look) : "weight",
        at.cell.row, at.cell.column,
        is_score(at.look) ? "" : ", a = exp(S - L), L = logsumexp of the row");
    if (!at.sum.allowed)
        return text + fmt::format("the mask forbids this pair: its {}\n",
                                  is_score(at.look) ? "score is -inf" : "weight is 0");
    for (const Step& step : steps)
        text += fmt::format("{} = {} = {}\n", step.label, write_text(step.expr, Dialect::text),
                            write_number(step.result, Dialect::text));
    return text;
}

std::string as_latex(const Inspected& at, const std::vector<Step>& steps) {
    if (!at.sum.allowed)
        return fmt::format(
            "{}_{{{},{}}} = {}\n", is_score(at.look) ? "M" : "A", at.cell.row, at.cell.column,
            write_number(is_score(at.look) ? -HUGE_VAL : at.sum.weight, Dialect::latex));
    std::vector<std::string> rows;
    for (const Step& step : steps)
        rows.push_back(fmt::format("  {} &= {} \\\\\n  &= {}", step.latex,
                                   write_text(step.expr, Dialect::latex),
                                   write_number(step.result, Dialect::latex)));
    return fmt::format("% needs \\usepackage{{amsmath}}\n\\begin{{align*}}\n{}\n\\end{{align*}}\n",
                       fmt::join(rows, " \\\\\n"));
}

std::string python_list(const std::vector<double>& values) {
    std::vector<std::string> texts;
    for (const double each : values) texts.push_back(write_number(each, Dialect::python));
    return fmt::format("np.array([{}])", fmt::join(texts, ", "));
}

std::string python_body(const Inspected& at) {
    const CellArithmetic& sum = at.sum;
    if (is_score(at.look))
        return sum.allowed ? fmt::format("print(q @ k * {})\n", at.factor)
                           : "print(-np.inf)  # the mask forbids this pair\n";
    return sum.allowed
               ? fmt::format("logsumexp = {}  # of row {}\nprint(np.exp(q @ k * {} - logsumexp))\n",
                             sum.logsumexp, at.cell.row, at.factor)
               : std::string("print(0.0)  # the mask forbids this pair\n");
}

std::string as_python(const Inspected& at) {
    const CellArithmetic& sum = at.sum;
    return fmt::format("import numpy as np\n\nq = {}  # query {}\nk = {}  # key {}\n{}",
                       python_list(sum.q), at.cell.row, python_list(sum.k), at.cell.column,
                       python_body(at));
}

InspectorView view_of(const Inspected& at) {
    const std::vector<std::size_t> order = by_size(at.sum);
    std::vector<std::size_t> dimensions(order);
    std::ranges::sort(dimensions);
    const std::vector<Step> steps = steps_of(at, dimensions);
    InspectorView view;
    view.empty = false;
    const bool score = shows_scores(at.look);
    view.title = fmt::format("{}[{}]", name_of_cell(at.look), cell_words(at.cell));
    view.value = number(number_of_cell(at));
    view.role = score ? Role::score : Role::weight;
    view.lines = lines_of(at, steps, order);
    const std::size_t strip = std::min(kStripTerms, order.size());
    view.table = product_table(*dot_of(at, std::span(order).first(strip)).dot);
    if (strip < order.size())
        view.table->title = fmt::format("q_c · k_c, the {} largest of {}", strip, order.size());
    view.geometry = geometry_lines(dot_of(at, dimensions));
    view.as_text = as_text(at, steps);
    view.as_latex = as_latex(at, steps);
    view.as_python = as_python(at);
    return view;
}

}  // namespace

InspectorView map_inspector(const AppState& state) {
    const MapLook& look = map_look(state);
    InspectorView view;
    view.hint = fmt::format("Click a cell to see where its {} comes from.",
                            is_score(look) ? "score" : "weight");
    if (!look.selected || !look.input) return view;
    const MapCell* const answer = look.inspected.get();
    if (!answer || answer->cell != *look.selected || !(answer->head == shown_head(state))) {
        view.hint =
            fmt::format("Computing {}[{}].", name_of_cell(look), cell_words(*look.selected));
        return view;
    }
    const large::WeightSource& source = look.input->source;
    return view_of(
        {look, *look.selected, answer->arithmetic, score_factor(source.spec, source.size.d_k)});
}

}  // namespace attn::view
