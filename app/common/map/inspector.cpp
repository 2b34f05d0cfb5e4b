#include "app/common/map/inspector.h"

#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/document/document.h"
#include "app/common/explain/expr.h"
#include "app/common/format.h"
#include "app/common/map/map_cell.h"
#include "app/common/map/state.h"
#include "app/common/map/text.h"
#include "app/common/state.h"
#include "core/call.h"
#include "core/large/map_input.h"
#include "core/rows.h"

namespace attn::view {
namespace {

using large::CellArithmetic;

constexpr std::size_t kTermsShown = 6;
constexpr std::size_t kStripTerms = 12;

struct Inspected {
    const MapLook& look;
    const large::Cell cell;
    const CellArithmetic& sum;
    const AttentionSpec& spec;  // of what is computed: of a stage's map, what the stage has
    const OperandNames names = operand_names(spec);
    const double factor;

    bool biased() const { return !sum.rule.is_plain() || sum.bias; }
    bool has_sink() const { return sum.sink != -HUGE_VAL; }
};

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
    std::vector<double> q, k;
    for (const std::size_t c : dimensions) q.push_back(sum.q[c]), k.push_back(sum.k[c]);
    return sum_of_products(numbers_of(q, Role::query), numbers_of(k, Role::key));
}

/// A number of the scores' own, not of the weights that they become.
bool is_score(const MapLook& look) {
    return look.form != MapForm::own && look.form != MapForm::weights;
}

/// What the selected cell is a number of.
std::string_view name_of_cell(const MapLook& look) {
    constexpr std::string_view kNames[] = {
        "", "score", "scaled score", "biased score", "masked score", "weight"};
    if (look.form == MapForm::own)
        return shows_scores(look) ? score_name(look.input->source.spec) : "weight";
    return kNames[static_cast<std::size_t>(look.form)];
}

/// "logsumexp of the row", of its sink too.
std::string logsumexp_text(const Inspected& at) {
    return at.has_sink() ? "logsumexp of the row and the sink" : "logsumexp of the row";
}

/// How it is made.
std::string formula_of_cell(const Inspected& at) {
    const MapForm form = at.look.form;
    const std::string product = at.names.product();
    if (form == MapForm::scores) return product + ", the sum over the dimensions";
    const std::string bias = at.biased() ? bias_text(at.spec) + ", " : "";
    const std::string scaled = bias + fmt::format("S = {} · factor", product);
    if (form == MapForm::scaled || form == MapForm::biased) return scaled;
    const std::string_view letter = logit_letter(at.spec);
    if (form == MapForm::masked)
        return fmt::format("M = {} where the mask allows it, else −∞{}", letter,
                           at.biased() ? ", " + scaled : "");
    return fmt::format("a = exp({} − L), {}, L = {}", letter, scaled, logsumexp_text(at));
}

double number_of_cell(const Inspected& at) {
    if (at.look.form == MapForm::masked && !at.sum.allowed) return -HUGE_VAL;
    return shows_scores(at.look) ? at.sum.biased : at.sum.weight;
}

/// A step, and what stands before it on screen.
struct ShownStep {
    Step step;
    std::string label;
    Role role = Role::score;
};

/// S to B: the cap and the bias in their order, then the slope times the distance.
void add_biases(const Inspected& at, std::vector<ShownStep>& steps) {
    const CellArithmetic& sum = at.sum;
    double now = sum.scaled;
    const bool sloped = sum.rule.slope != 0.0;
    const auto add = [&](const Expr& expr, std::string label, std::string name, bool last) {
        now = last ? sum.biased : evaluate(expr);
        const std::string latex = last ? "B" : fmt::format("\\text{{{}}}", name);
        steps.push_back({{last ? "B" : name, latex, expr, now}, std::move(label)});
    };
    const auto add_bias = [&](bool last) {
        add(plain(now, Role::score) + plain(*sum.bias), "+ bias", "biased", last);
    };
    const double cap = sum.rule.cap;
    if (sum.bias && sum.rule.bias_first) add_bias(cap == 0.0 && !sloped);
    if (cap != 0.0)
        add(plain(cap) * combine(Op::tanh, {plain(now, Role::score) / plain(cap)}), "cap", "capped",
            !sloped && (!sum.bias || sum.rule.bias_first));
    if (sum.bias && !sum.rule.bias_first) add_bias(!sloped);
    if (!sloped) return;
    const Expr fall = plain(sum.rule.slope) * plain(static_cast<double>(sum.distance));
    add(plain(now, Role::score) - fall, "− slope·|p − j|", "B", true);
}

/// q·k of every dimension, then what becomes of it, as far as the stage goes.
std::vector<ShownStep> steps_of(const Inspected& at, std::span<const std::size_t> order) {
    const CellArithmetic& sum = at.sum;
    const auto latex = [](const std::string& name) {
        return name.size() > 1 ? name[0] + std::string("'") : name;
    };
    const std::string product = at.names.product();
    std::vector<ShownStep> steps{
        {{product, fmt::format("{} \\cdot {}", latex(at.names.q), latex(at.names.k)),
          products(sum, order), sum.score},
         product}};
    if (at.look.form == MapForm::scores) return steps;
    steps.push_back({{"S", "S", plain(sum.score, Role::score) * plain(at.factor), sum.scaled},
                     factor_text(at.spec)});
    add_biases(at, steps);
    if (is_score(at.look)) return steps;
    const std::string_view letter = logit_letter(at.spec);
    const Expr shifted = plain(sum.biased, Role::score) - plain(sum.logsumexp);
    steps.push_back({{fmt::format("{} − L", letter), fmt::format("{} - L", letter), shifted,
                      sum.biased - sum.logsumexp},
                     "− L"});
    steps.push_back({{"a", "a", combine(Op::exp, {shifted}), sum.weight}, "exp", Role::weight});
    return steps;
}

// ---- on screen

Piece text(std::string text, bool muted = false) { return {std::move(text), {}, muted}; }

Line step_line(const ShownStep& shown) {
    Line line{shown.label, write(shown.step.expr, Dialect::screen)};
    line.pieces.push_back(text(" = "));
    line.pieces.push_back({number(shown.step.result), shown.role});
    return line;
}

/// The largest terms, and the sum of all the others.
Line product_line(const Inspected& at, std::span<const std::size_t> order) {
    const std::size_t shown = std::min(kTermsShown, order.size());
    Line line{at.names.product(), write(products(at.sum, order.first(shown)), Dialect::screen)};
    if (shown < order.size()) {
        const double rest = evaluate(products(at.sum, order.subspan(shown)));
        line.pieces.push_back(text(rest < 0.0 ? " − " : " + "));
        line.pieces.push_back(text(number(std::abs(rest))));
        line.pieces.push_back(
            text(fmt::format(" (the {} smaller terms)", order.size() - shown), true));
    }
    line.pieces.push_back(text(" = "));
    line.pieces.push_back({number(at.sum.score), Role::score});
    return line;
}

std::string token_description(const MapLook& look, const char* kind, Index token) {
    std::string text = fmt::format("{} {}", kind, grouped(token));
    const std::string word = token_text(look, std::string_view(kind) == "key", token);
    if (!word.empty()) text += fmt::format(" “{}”", word);
    const std::string document = document_of(*look.input, token);
    return document.empty() ? text : text + fmt::format(", document {}", document);
}

/// A row that has no key at all is NaN under EmptyRows::nan.
std::string forbidden_description(const Inspected& at) {
    const CellArithmetic& sum = at.sum;
    if (at.look.form == MapForm::masked) return "The mask forbids this pair: its score is −∞.";
    return std::isnan(sum.weight) ? "The mask leaves this query no key: its weights are NaN."
                                  : "The mask forbids this pair: its weight is 0.";
}

/// The score that softmax takes beside the weight that it becomes.
std::vector<Piece> both_values(const CellArithmetic& sum) {
    return {text("score ", true),
            {number(sum.biased), Role::score},
            text("  weight ", true),
            {number(sum.weight), Role::weight}};
}

/// What makes the row NaN; "" where nothing does.
std::string spoilt_text(const Inspected& at) {
    if (at.has_sink() && !std::isfinite(at.sum.sink))
        return fmt::format("The sink's logit is {}: it makes every weight of the head NaN.",
                           number(at.sum.sink));
    if (!at.sum.spoiling_key) return {};
    return fmt::format("{}[{}] = {}: it makes every weight of query {} NaN.", logit_letter(at.spec),
                       cell_description({at.cell.row, *at.sum.spoiling_key}),
                       number(at.sum.spoiling_score), grouped(at.cell.row));
}

/// The part of the row's softmax that no key has.
Line sink_line(const CellArithmetic& sum) {
    return {"sink",
            {text(fmt::format("a logit of {} in the row takes exp({} − L) = ", number(sum.sink),
                              factor(number(sum.sink)))),
             {number(std::exp(sum.sink - sum.logsumexp)), Role::weight}}};
}

std::vector<Line> lines_of(const Inspected& at, std::span<const ShownStep> steps,
                           std::span<const std::size_t> order) {
    std::vector<Line> lines{{"", {text(formula_of_cell(at), true)}},
                            {"", {text(token_description(at.look, "query", at.cell.row), true)}},
                            {"", {text(token_description(at.look, "key", at.cell.column), true)}}};
    if (!at.names.how.empty()) lines.insert(lines.begin() + 1, {"", {text(at.names.how, true)}});
    if (!at.sum.allowed) {
        lines.push_back({"", {text(forbidden_description(at))}});
        return lines;
    }
    if (!is_score(at.look))
        lines.push_back({fmt::format("{}, a", logit_letter(at.spec)), both_values(at.sum)});
    lines.push_back(product_line(at, order));
    const std::string spoilt = is_score(at.look) ? "" : spoilt_text(at);
    const std::size_t softmax = spoilt.empty() ? 0 : 2;  // its steps say nothing of a NaN
    for (const ShownStep& shown : steps.subspan(1, steps.size() - 1 - softmax))
        lines.push_back(step_line(shown));
    if (!spoilt.empty())
        lines.push_back({"", {text(spoilt)}});
    else if (!is_score(at.look) && at.has_sink())
        lines.push_back(sink_line(at.sum));
    return lines;
}

Explanation dot_of(const Inspected& at, std::span<const std::size_t> dimensions) {
    Explanation explanation;
    explanation.cell = {Stage::scores, at.cell.row, at.cell.column};
    DotProduct dot{{at.names.q, fmt::format("Q[{}, c]", at.cell.row), Role::query, {}},
                   {at.names.k, fmt::format("K[{}, c]", at.cell.column), Role::key, {}},
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

std::string as_text(const Inspected& at, std::span<const ShownStep> steps) {
    std::string text =
        fmt::format("{}[query {}, key {}]", is_score(at.look) ? name_of_cell(at.look) : "weight",
                    at.cell.row, at.cell.column);
    if (!is_score(at.look))
        text += fmt::format(", a = exp({} - L), L = {}", logit_letter(at.spec), logsumexp_text(at));
    text += "\n";
    if (!at.names.how.empty()) text += at.names.how + "\n";
    if (!at.sum.allowed)
        return text + fmt::format("the mask forbids this pair: its {}\n",
                                  is_score(at.look) ? "score is -inf" : "weight is 0");
    for (const ShownStep& shown : steps) text += copied_text(shown.step);
    return text;
}

std::string as_latex(const Inspected& at, std::span<const ShownStep> steps) {
    if (!at.sum.allowed)
        return fmt::format(
            "{}_{{{},{}}} = {}\n", is_score(at.look) ? "M" : "A", at.cell.row, at.cell.column,
            write_number(is_score(at.look) ? -HUGE_VAL : at.sum.weight, Dialect::latex));
    std::vector<std::string> rows;
    for (const ShownStep& shown : steps) rows.push_back(copied_latex(shown.step, shown.step.latex));
    return latex_align(fmt::format("{}", fmt::join(rows, " \\\\\n")));
}

/// From q @ k to the score that softmax takes.
std::string python_score(const Inspected& at) {
    const PairRule& rule = at.sum.rule;
    std::string score = fmt::format("q @ k * {}", at.factor);
    const std::string bias = at.sum.bias ? fmt::format(" + {}", *at.sum.bias) : "";
    if (rule.bias_first && at.sum.bias) score = fmt::format("({}{})", score, bias);
    if (rule.cap != 0.0) score = fmt::format("{0} * np.tanh({1} / {0})", rule.cap, score);
    if (!rule.bias_first) score += bias;
    return rule.slope == 0.0 ? score
                             : fmt::format("{} - {} * {}", score, rule.slope, at.sum.distance);
}

std::string python_body(const Inspected& at) {
    const CellArithmetic& sum = at.sum;
    if (is_score(at.look))
        return sum.allowed ? fmt::format("print({})\n", python_score(at))
                           : "print(-np.inf)  # the mask forbids this pair\n";
    return sum.allowed
               ? fmt::format("logsumexp = {}  # of row {}{}\nprint(np.exp({} - logsumexp))\n",
                             sum.logsumexp, at.cell.row, at.has_sink() ? " and the sink" : "",
                             python_score(at))
               : std::string("print(0.0)  # the mask forbids this pair\n");
}

std::string as_python(const Inspected& at) {
    const CellArithmetic& sum = at.sum;
    const auto of = [](const std::string& name) { return name.size() > 1 ? name + " of " : ""; };
    return fmt::format("import numpy as np\n\n{}q = {}  # {}query {}\nk = {}  # {}key {}\n{}",
                       at.names.how.empty() ? "" : fmt::format("# {}\n", at.names.how),
                       python_list(sum.q), of(at.names.q), at.cell.row, python_list(sum.k),
                       of(at.names.k), at.cell.column, python_body(at));
}

InspectorView view_of(const Inspected& at) {
    const std::vector<std::size_t> order = by_size(at.sum);
    std::vector<std::size_t> dimensions(order);
    std::ranges::sort(dimensions);
    const std::vector<ShownStep> steps = steps_of(at, dimensions);
    InspectorView view;
    view.empty = false;
    const bool score = shows_scores(at.look);
    view.title = fmt::format("{}[{}]", name_of_cell(at.look), cell_description(at.cell));
    view.value = number(number_of_cell(at));
    view.role = score ? Role::score : Role::weight;
    view.lines = lines_of(at, steps, order);
    const std::size_t strip = std::min(kStripTerms, order.size());
    view.table = product_table(*dot_of(at, std::span(order).first(strip)).dot);
    if (strip < order.size())
        view.table->title = fmt::format("{}_c · {}_c, the {} largest of {}", at.names.q, at.names.k,
                                        strip, order.size());
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
            fmt::format("Computing {}[{}].", name_of_cell(look), cell_description(*look.selected));
        return view;
    }
    const large::WeightSource& source = look.input->source;
    return view_of({.look = look,
                    .cell = *look.selected,
                    .sum = answer->arithmetic,
                    .spec = source.spec,
                    .factor = score_factor(source.spec, source.size.d_k)});
}

}  // namespace attn::view
