#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/sheet.h"
#include "app/workspaces/step/explain.h"
#include "core/tex.h"

namespace attn::view {
namespace {

std::string python_list(const std::vector<double>& values) {
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(write_number(value, Dialect::python));
    return fmt::format("np.array([{}])", fmt::join(texts, ", "));
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
        "m = {}  # the row of masked scores\n"
        "a = np.exp(m - m.max())\n"
        "a /= a.sum()\n"
        "print(a[{}])",
        python_list(explanation.softmax_row), explanation.cell.column);
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
    const bool only_words = explanation.tex.empty() || explanation.tex.starts_with("\\text{");
    if (only_words || explanation.steps.empty()) return {};
    return fmt::format("  {} &= {}", explanation.latex, explanation.tex);
}

}  // namespace

std::string latex_name(const AppState& state, const CellRef& cell) {
    const std::string name = cell_name(state, cell);
    const std::string symbol = name_of(cell.tensor);
    const std::string inside = name.substr(symbol.size() + 1, name.size() - symbol.size() - 2);
    return fmt::format("{}[{}]", tex_symbol(cell.tensor), tex::text_of(inside));
}

std::string copy_as_text(const Explanation& explanation) {
    const std::string& name = explanation.name;
    std::string text = fmt::format("{}: {}\n", name, explanation.formula);
    for (const Step& step : explanation.steps)
        text += fmt::format("{} = {} = {}\n", step.label, write_text(step.expr, Dialect::text),
                            write_number(step.result, Dialect::text));
    for (const Step& aside : explanation.asides)
        text += fmt::format("{} = {} = {}\n", aside.label, write_text(aside.expr, Dialect::text),
                            write_number(aside.result, Dialect::text));
    if (explanation.steps.empty())
        text += fmt::format("{} = {}\n", name, write_number(explanation.value, Dialect::text));
    for (const std::string& note : explanation.notes) text += note + "\n";
    return text;
}

std::string copy_as_latex(const Explanation& explanation) {
    std::string rows = latex_formula(explanation);
    const std::string named = rows.empty() ? "" : explanation.latex;
    for (const Step& step : explanation.steps)
        rows += fmt::format("{}  {} &= {} \\\\\n  &= {}", rows.empty() ? "" : " \\\\\n",
                            step.latex == named && explanation.steps.size() == 1 ? "" : step.latex,
                            write_text(step.expr, Dialect::latex),
                            write_number(step.result, Dialect::latex));
    if (rows.empty())
        rows = fmt::format("  {} &= {}", explanation.latex,
                           write_number(explanation.value, Dialect::latex));
    return fmt::format("% needs \\usepackage{{amsmath}}\n\\begin{{align*}}\n{}\n\\end{{align*}}\n",
                       rows);
}

std::string copy_as_python(const Explanation& explanation) {
    return fmt::format("import numpy as np\n\n# {}\n{}\n", comment(explanation.name),
                       python_body(explanation));
}

}  // namespace attn::view
