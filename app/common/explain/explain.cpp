#include "app/common/explain/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "app/common/document/document.h"
#include "app/common/explain/parts.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "core/note.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/tex.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

Factor factor_of(const Side& side) {
    Factor factor{side.letter, side.name, Role::input, {}, {}, side.heading};
    for (const Expr& number : side.numbers) {
        if (number.role) factor.role = *number.role;
        factor.values.push_back(number.value);
        factor.links.push_back(number.link);
    }
    return factor;
}

/// The float range ends where double's does not.
void note_overflow(Explanation& explanation, const Expr& expr) {
    if (std::isfinite(evaluate(expr)) && !std::isfinite(explanation.value))
        explanation.notes.emplace_back("Beyond the range of a float, 3.4e38: it becomes ∞.");
}

void explain_param(const AppState& state, Explanation& explanation, Param param) {
    const ParamInfo& row = info(param);
    set_formula(explanation, tex::text_of("a weight of ") + tex_symbol(param));
    if (param == Param::w_o) {
        explanation.notes.push_back(fmt::format(
            "Row {} multiplies column {} of the concatenated contexts; column {} adds to "
            "column {} of the output.",
            explanation.cell.row, explanation.cell.row, explanation.cell.column,
            explanation.cell.column));
        const Document& document = state.document();
        const Index head = explanation.cell.row / std::max<Index>(document.size.d_v, 1);
        const ModelOrigin* const model = model_of(document);
        const bool own = document.own_heads == 0 || document.own_heads == document.size.heads;
        if (explanation.value == 0.0 && own && model != nullptr &&
            std::ranges::binary_search(model->changes.off, HeadPlace{document.layer, head}))
            explanation.notes.push_back(fmt::format(
                "Head {} is switched off: its rows are 0 here, not in the model's file.", head));
        return;
    }
    if (row.use == ParamUse::sink)
        return explanation.notes.push_back(fmt::format(
            "It is one more logit in every row of head {}: it takes weight but has no value.",
            explanation.cell.column));
    if (param == Param::b_score)
        return explanation.notes.push_back(fmt::format(
            "It is added to the score of every pair of head {} at distance j − i = {}.",
            explanation.cell.row, explanation.cell.column - (state.document().size.tq - 1)));
    if (row.use == ParamUse::score)
        return explanation.notes.push_back(
            fmt::format("It is part of the score of every pair, in every head: {}.",
                        tex::plain_text(info(state.document().spec.score).tex)));
    if (row.use == ParamUse::norm)
        return explanation.notes.push_back(
            fmt::format("It multiplies column {} of every {} after its RMSNorm, in every head.",
                        explanation.cell.column, param == Param::q_norm_weight ? "query" : "key"));
    const char letter = std::string_view(row.symbol).back();
    if (row.bias) {
        explanation.notes.push_back(fmt::format("It is added to column {} of {}, for every token.",
                                                explanation.cell.column,
                                                letter == 'O' ? 'Y' : letter));
        return;
    }
    explanation.notes.push_back(fmt::format(
        "It multiplies column {} of {} and adds to column {} of {}, for every token.",
        explanation.cell.row, param == Param::w_q ? "X" : name_of(key_stage(state.document())),
        explanation.cell.column, letter));
}

/// Step computes softmax's weights; the model's run had others in some rows.
void note_replaced(const AppState& state, Explanation& explanation, Stage stage) {
    const Document& document = state.document();
    const ModelOrigin* const model = model_of(document);
    const bool of_head =
        stage == Stage::weights || stage == Stage::dropped || stage == Stage::context;
    if (model == nullptr || (!of_head && stage != Stage::output)) return;
    for (const RowIntervention& row : model->changes.rows) {
        if (row.at.layer != document.layer || row.query != explanation.cell.row) continue;
        if (of_head && row.at.head != state.head) continue;
        explanation.notes.push_back(
            fmt::format("In the model's run, row {} of head {} has other weights, which Heads "
                        "shows. These are the weights of softmax.",
                        row.query, row.at.head));
    }
}

/// A token must not end the comment it stands in.
std::string comment(std::string text) {
    for (char& c : text)
        if (c == '\n' || c == '\r') c = ' ';
    return text;
}

std::string python_dot(const DotProduct& pair) {
    return fmt::format("{0} = {1}  # {2}\n{3} = {4}  # {5}\nprint({0} @ {3}{6})", pair.left.letter,
                       python_list(pair.left.values), comment(pair.left.name), pair.right.letter,
                       python_list(pair.right.values), comment(pair.right.name),
                       pair.bias ? " + " + write_number(*pair.bias, Dialect::python) : "");
}

std::string python_softmax(const Explanation& explanation) {
    return fmt::format(
        "m = {}  # the row of masked scores{}\n"
        "a = np.exp(m - m.max())\n"
        "a /= a.sum()\n"
        "print(a[{}])",
        python_list(explanation.softmax_row), explanation.has_sink ? ", then the sink" : "",
        explanation.cell.column);
}

std::string python_body(const Explanation& explanation) {
    if (explanation.steps.empty())
        return fmt::format("print({})", write_number(explanation.value, Dialect::python));
    if (explanation.dot) return python_dot(*explanation.dot);
    if (!explanation.softmax_row.empty()) return python_softmax(explanation);
    return fmt::format("print({})", write_text(explanation.steps.back().expr, Dialect::python));
}

/// The sum itself stands above its numbers; what has no formula but words stands alone.
std::string latex_formula(const Explanation& explanation) {
    const bool only_text = explanation.tex.empty() || explanation.tex.starts_with("\\text{");
    if (only_text || explanation.steps.empty()) return {};
    return fmt::format("  {} &= {}", explanation.latex, explanation.tex);
}

}  // namespace

Expr cell_expr(const AppState& state, const CellRef& cell) {
    const auto value = value_at(state, cell);
    ATTN_CHECK(value, "an operand that the trace does not hold");
    const Role role = std::visit([](auto key) { return info(key).role; }, cell.tensor);
    return {Op::number, *value, false, role, cell, {}};
}

std::string tex_label(const AppState& state, Axis axis, Index n) {
    return tex::text_of(axis_label(state, axis, n));
}

Side side_of(std::string letter, std::string tex, std::string heading) {
    Side side{std::move(letter), tex::plain_text(tex), std::move(heading)};
    side.tex = std::move(tex);
    return side;
}

void set_formula(Explanation& explanation, std::string tex) {
    explanation.formula = tex::plain_text(tex);
    explanation.tex = std::move(tex);
}

Step& end_with(Explanation& explanation, Expr expr) {
    explanation.steps.push_back(
        {explanation.name, explanation.latex, std::move(expr), explanation.value});
    return explanation.steps.back();
}

void Chain::add(Expr l, Expr r, std::string label) {
    left.numbers.push_back(std::move(l));
    right.numbers.push_back(std::move(r));
    labels.push_back(std::move(label));
}

std::string sum_tex(const Chain& chain, std::string_view index) {
    return fmt::format(R"(\sum_{} {} \cdot {})", index, chain.left.tex, chain.right.tex);
}

Expr products_of(const Chain& chain) {
    return sum_of_products(chain.left.numbers, chain.right.numbers);
}

DotProduct dot_of(const Chain& chain) {
    return {factor_of(chain.left), factor_of(chain.right), chain.labels, {}, chain.counts};
}

void add_sum(const AppState& state, Explanation& explanation, Chain chain, std::string_view index,
             std::optional<Param> bias) {
    std::string tex = sum_tex(chain, index);
    Expr sum = products_of(chain);
    const std::string terms = "the sum of " + counted(std::ssize(sum.args), "product");
    explanation.dot = dot_of(chain);
    if (bias && !state.document().inputs->params[*bias].empty()) {
        tex += fmt::format(" + {}[{}]", tex_symbol(*bias), explanation.cell.column);
        sum.args.push_back(cell_expr(state, {*bias, 0, explanation.cell.column}));
        explanation.dot->bias = sum.args.back().value;
    }
    set_formula(explanation, std::move(tex));
    note_overflow(explanation, sum);
    end_with(explanation, std::move(sum)).brief =
        terms + (explanation.dot->bias ? " and the bias" : "");
}

std::string missing_of(const AppState& state, const std::vector<OperandId>& ids) {
    std::vector<std::string_view> missing;
    for (const OperandId& id : ids)
        if (!is_stored_stage(state, id)) missing.push_back(key_of(id));
    return fmt::format("{}", fmt::join(missing, " and "));
}

void explain_without(const AppState& state, Explanation& explanation, const std::string& missing) {
    explanation.notes.push_back(
        fmt::format("{} are not stored by the backend {}: choose another backend, such as "
                    "reference, to see the arithmetic of this number.",
                    missing, state.backend_used));
}

Explanation explain(const AppState& state, const CellRef& cell) {
    Explanation explanation;
    explanation.cell = cell;
    explanation.name = cell_name(state, cell);
    explanation.latex = latex_name(state, cell);
    const auto value = value_at(state, cell);
    ATTN_CHECK(value, "a cell that does not exist");
    explanation.value = *value;
    const Stage* const stage = std::get_if<Stage>(&cell.tensor);
    if (stage == nullptr) {
        explain_param(state, explanation, std::get<Param>(cell.tensor));
        return explanation;
    }
    std::vector<OperandId> operands;
    for (const Operand& operand : operands_of(state.document(), *stage))
        operands.push_back(operand.id);
    const std::string missing = missing_of(state, operands);
    const Index width = state.document().size.d_v;
    if (*stage == Stage::context && (cell.column < 0 || cell.column >= width)) {
        const Index head = (state.head * width + cell.column) / width;  // of the joined heads
        set_formula(explanation, forward_formula(state.document(), *stage));
        explanation.notes.push_back(
            fmt::format("It belongs to head {}: show that head to see its arithmetic.", head));
    } else if (missing.empty()) {
        explain_stage(state, explanation, *stage);
    } else {
        set_formula(explanation, forward_formula(state.document(), *stage));
        explain_without(state, explanation, missing);
    }
    note_replaced(state, explanation, *stage);
    return explanation;
}

std::string latex_name(const AppState& state, const CellRef& cell) {
    const std::string name = cell_name(state, cell);
    const std::string symbol = name_of(cell.tensor);
    const std::string inside = name.substr(symbol.size() + 1, name.size() - symbol.size() - 2);
    return fmt::format("{}[{}]", tex_symbol(cell.tensor), tex::text_of(inside));
}

std::string copy_as_text(const Explanation& explanation) {
    const std::string& name = explanation.name;
    std::string text = fmt::format("{}: {}\n", name, explanation.formula);
    for (const auto* steps : {&explanation.steps, &explanation.asides})
        for (const Step& step : *steps) text += copied_text(step);
    if (explanation.steps.empty())
        text += fmt::format("{} = {}\n", name, write_number(explanation.value, Dialect::text));
    for (const std::string& note : explanation.notes) text += note + "\n";
    return text;
}

std::string copy_as_latex(const Explanation& explanation) {
    std::string rows = latex_formula(explanation);
    const std::string named = rows.empty() ? "" : explanation.latex;
    for (const Step& step : explanation.steps)
        rows += (rows.empty() ? "" : " \\\\\n") +
                copied_latex(step, step.latex == named && explanation.steps.size() == 1
                                       ? std::string_view()
                                       : step.latex);
    if (rows.empty())
        rows = fmt::format("  {} &= {}", explanation.latex,
                           write_number(explanation.value, Dialect::latex));
    return latex_align(rows);
}

std::string copy_as_python(const Explanation& explanation) {
    return fmt::format("import numpy as np\n\n# {}\n{}\n", comment(explanation.name),
                       python_body(explanation));
}

}  // namespace attn::view
