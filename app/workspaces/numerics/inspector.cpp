#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/explain/expr.h"
#include "app/common/format.h"
#include "app/common/set_field.h"
#include "app/common/state.h"
#include "app/workspaces/numerics/row.h"
#include "app/workspaces/numerics/text.h"
#include "app/workspaces/numerics/view.h"
#include "core/note.h"
#include "core/tex.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr Index kRowsAbout = 24;  // of the table, above and below the key of a long row

/// The softmax and the key that are explained.
struct Explained {
    const NumericsRuns& runs;
    const CheckedRun& checked;
    Index key;

    const SoftmaxRun& run() const { return checked.run; }
    std::string text(double value) const { return value_in(run().format, value); }
    double at(SoftmaxStep step, Index j) const {
        const std::vector<double>& values = *run().find(step);
        return values[std::min(static_cast<std::size_t>(j), values.size() - 1)];
    }
    double at(SoftmaxStep step) const { return at(step, key); }
    bool has(SoftmaxStep step) const { return run().find(step) != nullptr; }
    SoftmaxStep below() const {
        return has(SoftmaxStep::shifted) ? SoftmaxStep::shifted : SoftmaxStep::logits;
    }
    double sum() const { return run().find(SoftmaxStep::sum)->back(); }
};

std::string_view symbol_of(SoftmaxStep step) {
    constexpr std::string_view kSymbols[] = {"s = gain · x", "m = max s", "s − m",   "e", "l",
                                             "ln l",         "lse",       "s − lse", "a"};
    return kSymbols[static_cast<std::size_t>(step)];
}

std::string_view tex_of(SoftmaxAlgorithm algorithm) {
    constexpr std::string_view kTex[] = {
        R"(a_j = \frac{e^{s_j}}{l}, \quad l = \sum_k e^{s_k})",
        R"(a_j = \frac{e^{s_j - m}}{l}, \quad l = \sum_k e^{s_k - m})",
        R"(a_j = e^{s_j - \mathrm{lse}}, \quad \mathrm{lse} = m + \ln l)",
    };
    return kTex[static_cast<std::size_t>(algorithm)];
}

std::string fault_text(const Explained& cell, const FaultPlace& place) {
    const std::string most = largest_description(cell.run().format);
    switch (place.fault) {
        case NumericFault::nan_input:
            return "the logit is NaN";
        case NumericFault::overflow:
            return fmt::format("beyond {}, so rounded to ∞", most);
        case NumericFault::inf_minus_inf:
            return "∞ − ∞ is undefined: NaN";
        case NumericFault::inf_over_inf:
            return "∞/∞ is undefined: NaN";
        case NumericFault::zero_over_zero:
            return "0/0 is undefined: NaN";
        case NumericFault::underflow:
            return fmt::format("below {}, so rounded to 0",
                               significant(info(cell.run().format).smallest() / 2, 2));
    }
    return {};
}

/// What happened first at this step of this key: "; beyond 65504, rounds to ∞".
std::string fault_at(const Explained& cell, SoftmaxStep step) {
    const bool one = cell.run().find(step)->size() == 1 && cell.runs.logits.size() > 1;
    for (const FaultPlace& place : cell.run().faults)
        if (place.step == step && (one || place.key == cell.key))
            return "; " + fault_text(cell, place);
    return {};
}

/// "exp 48 = 7.0167·10²⁰ → ∞ ← beyond 65504: ∞": the operation, its result before and after rounding.
Line step_line(const Explained& cell, SoftmaxStep step, const std::string& operation,
               long double before) {
    const double after = cell.at(step);
    std::string text = operation + " = ";
    const bool tells = std::isfinite(before) && before != static_cast<long double>(after);
    if (tells) text += significant(static_cast<double>(before), 11) + " → ";
    text += cell.text(after);
    Line line = text_line(std::string(symbol_of(step)), std::move(text));
    if (const std::string fault = fault_at(cell, step); !fault.empty())
        line.pieces.push_back({fault, Role::score, false, {}});
    return line;
}

void add_logit(const Explained& cell, std::vector<Line>& lines) {
    const double x = cell.runs.logits[cell.key];
    const auto exact = static_cast<long double>(x) * static_cast<long double>(cell.runs.gain);
    lines.push_back(step_line(cell, SoftmaxStep::logits,
                              fmt::format("{} · {}", cell.runs.gain, factor(significant(x, 8))),
                              exact));
}

void add_shift(const Explained& cell, SoftmaxStep step, SoftmaxStep by, std::vector<Line>& lines) {
    const double s = cell.at(SoftmaxStep::logits);
    const double m = cell.at(by);
    lines.push_back(step_line(cell, step,
                              fmt::format("{} − {}", cell.text(s), factor(cell.text(m))),
                              static_cast<long double>(s) - m));
}

void add_exp(const Explained& cell, std::vector<Line>& lines) {
    const double s = cell.at(cell.below());
    lines.push_back(step_line(cell, SoftmaxStep::exps, "exp " + factor(cell.text(s)),
                              std::exp(static_cast<long double>(s))));
}

/// The running sum as it passes this key, and what it is in the end.
void add_sum(const Explained& cell, std::vector<Line>& lines) {
    const double before = cell.key == 0 ? 0.0 : cell.at(SoftmaxStep::sum, cell.key - 1);
    const double e = cell.at(SoftmaxStep::exps);
    Line line =
        step_line(cell, SoftmaxStep::sum, fmt::format("{} + {}", cell.text(before), cell.text(e)),
                  static_cast<long double>(before) + e);
    line.label = fmt::format("l, up to key {}", cell.key);
    if (e > 0.0 && before > 0.0 && cell.at(SoftmaxStep::sum) == before && std::isfinite(before))
        line.pieces.push_back({" ← the sum does not change", Role::score, false, {}});
    lines.push_back(line);
    Line end = text_line("l", cell.text(cell.sum()));
    if (cell.run().absorbed > 0 && std::isfinite(cell.sum()))
        end.pieces.push_back(
            {fmt::format("; {} of {} terms did not change l", grouped(cell.run().absorbed),
                         grouped(std::ssize(cell.runs.logits))),
             {},
             true,
             {}});
    lines.push_back(end);
}

void add_lse(const Explained& cell, std::vector<Line>& lines) {
    const double l = cell.sum();
    const double log = cell.at(SoftmaxStep::log_sum);
    const double m = cell.at(SoftmaxStep::max);
    lines.push_back(step_line(cell, SoftmaxStep::log_sum, "ln " + cell.text(l),
                              std::log(static_cast<long double>(l))));
    lines.push_back(step_line(cell, SoftmaxStep::lse,
                              fmt::format("{} + {}", cell.text(m), factor(cell.text(log))),
                              static_cast<long double>(m) + log));
    add_shift(cell, SoftmaxStep::below_lse, SoftmaxStep::lse, lines);
}

void add_weight(const Explained& cell, std::vector<Line>& lines) {
    if (cell.has(SoftmaxStep::below_lse)) {
        const double s = cell.at(SoftmaxStep::below_lse);
        return lines.push_back(step_line(cell, SoftmaxStep::weights, "exp " + factor(cell.text(s)),
                                         std::exp(static_cast<long double>(s))));
    }
    const double e = cell.at(SoftmaxStep::exps);
    lines.push_back(
        step_line(cell, SoftmaxStep::weights,
                  fmt::format("{} / {}", factor(cell.text(e)), factor(cell.text(cell.sum()))),
                  static_cast<long double>(e) / cell.sum()));
}

std::vector<Line> steps_of(const Explained& cell) {
    std::vector<Line> lines;
    add_logit(cell, lines);
    if (cell.has(SoftmaxStep::max)) {
        lines.push_back(text_line(std::string(symbol_of(SoftmaxStep::max)),
                                  cell.text(cell.at(SoftmaxStep::max))));
        add_shift(cell, SoftmaxStep::shifted, SoftmaxStep::max, lines);
    }
    add_exp(cell, lines);
    add_sum(cell, lines);
    if (cell.has(SoftmaxStep::lse)) add_lse(cell, lines);
    add_weight(cell, lines);
    return lines;
}

// --- how far it is off

/// Of this key alone, against `exact`.
double ulp_of(const Explained& cell, const std::vector<long double>& exact) {
    const auto j = static_cast<std::size_t>(cell.key);
    const double a = cell.run().weights()[j];
    return error_of(cell.run().format, std::span(&a, 1), std::span(&exact[j], 1)).ulp;
}

std::vector<Line> errors_of(const Explained& cell) {
    const long double exact = cell.runs.exact[cell.key];
    if (std::isnan(exact)) return {text_line("exact", "softmax is undefined here")};
    std::vector<Line> lines{text_line("exact", significant(static_cast<double>(exact), 10))};
    const double a = cell.at(SoftmaxStep::weights);
    if (std::isnan(a)) return lines;
    const long double ulp = ulp_at(cell.run().format, exact);
    lines.push_back(
        text_line("error", fmt::format("{}, {}", ulp_text(ulp_of(cell, cell.runs.exact)),
                                       significant(std::abs(static_cast<double>(a - exact)), 2))));
    lines.push_back(text_line("1 ulp", significant(static_cast<double>(ulp), 3)));
    const double own = ulp_of(cell, exact_softmax(*cell.run().find(SoftmaxStep::logits), 1.0));
    if (!std::isnan(own)) lines.push_back(text_line("error of the steps after s", ulp_text(own)));
    return lines;
}

// --- the table of all keys

struct Column {
    SoftmaxStep step;
    const char* title;
    bool spare = false;
};

std::vector<Column> columns_of(SoftmaxAlgorithm algorithm) {
    using enum SoftmaxStep;
    if (algorithm == SoftmaxAlgorithm::log_sum_exp)
        return {{logits, "s"}, {exps, "e", true}, {below_lse, "s − lse"}, {weights, "a"}};
    const bool naive = algorithm == SoftmaxAlgorithm::naive;
    const Column first = naive ? Column{logits, "s"} : Column{shifted, "s − m"};
    return {first, {exps, "e"}, {sum, "Σ so far", true}, {weights, "a"}};
}

TableRow row_of(const Explained& cell, const std::vector<Column>& columns, Index j) {
    TableRow row;
    row.label = std::to_string(j);
    row.chosen = j == cell.key;
    for (const Column& column : columns)
        row.cells.push_back({significant(cell.at(column.step, j), 4), {}, {}});
    const double a = cell.at(SoftmaxStep::weights, j);
    row.bar = std::isfinite(a) ? std::clamp(a, 0.0, 1.0) : 0.0;
    return row;
}

InspectorTable table_of(const Explained& cell) {
    const auto columns = columns_of(cell.run().algorithm);
    const Index keys = std::ssize(cell.runs.logits);
    const Index from = std::max<Index>(0, cell.key - kRowsAbout);
    const Index to = std::min(keys, cell.key + kRowsAbout + 1);
    InspectorTable table;
    table.label = "key";
    if (to - from < keys)
        table.title = fmt::format("keys {} to {} of {}", from, to - 1, grouped(keys));
    for (const Column& column : columns) table.columns.push_back({column.title, {}, column.spare});
    for (Index j = from; j < to; ++j) table.rows.push_back(row_of(cell, columns, j));
    return table;
}

// --- copies

std::string latex_of(const InspectorView& view) {
    std::string rows = fmt::format("  {}", view.tex);
    for (const Line& line : view.lines) {
        std::string text;
        for (const Piece& piece : line.pieces) text += piece.text;
        rows += fmt::format(" \\\\\n  {} &: {}", tex::text_of(line.label), tex::text_of(text));
    }
    return latex_align(rows);
}

std::string python_number(double value) {
    if (std::isnan(value)) return "np.nan";
    if (std::isinf(value)) return value > 0 ? "np.inf" : "-np.inf";
    return exact(value);
}

/// The same operations in numpy: its sum may add in another order.
std::string python_of(const Explained& cell) {
    constexpr std::string_view kTypes[] = {"np.float16", "ml_dtypes.bfloat16", "np.float32",
                                           "np.float64"};
    constexpr std::string_view kBodies[] = {
        "e = np.exp(s)\na = e / add(e)\n", "e = np.exp(s - s.max())\na = e / add(e)\n",
        "m = s.max()\nlse = m + np.log(add(np.exp(s - m)))\na = np.exp(s - lse)\n"};
    const auto format = static_cast<std::size_t>(cell.run().format);
    std::vector<std::string> x;
    for (const double value : cell.runs.logits) x.push_back(python_number(value));
    return fmt::format(
        "{}import numpy as np\n\n# {} softmax in {}\n"
        "x = np.array([{}])\ns = ({} * x).astype({})\n"
        "def add(e):  # one after the other\n    l = e[0]\n    for term in e[1:]:\n        l = l + "
        "term\n    return l\n{}print(a, a[{}])\n",
        format == 1 ? "import ml_dtypes\n" : "", title_of(cell.run().algorithm),
        info(cell.run().format).name, fmt::join(x, ", "), cell.runs.gain, kTypes[format],
        kBodies[static_cast<std::size_t>(cell.run().algorithm)], cell.key);
}

}  // namespace

InspectorView numerics_inspector(const AppState& state) {
    const NumericsRuns runs = run_all(shown_logits(state), numerics_controls(state).gain);
    const NumericsLook& look = numerics_look(state);
    const Explained cell{runs, runs.of(look.algorithm, look.format),
                         std::min<Index>(look.key, std::ssize(runs.logits) - 1)};
    InspectorView view = titled(fmt::format("{} softmax in {}, key {}", title_of(look.algorithm),
                                            info(look.format).name, cell.key),
                                role_of(look.format));
    view.value = cell.text(cell.at(SoftmaxStep::weights));
    view.tex = tex_of(look.algorithm);
    view.formula = tex::plain_text(view.tex);
    view.lines = steps_of(cell);
    view.geometry = errors_of(cell);
    view.table = table_of(cell);
    view.as_text = text_of(view);
    view.as_latex = latex_of(view);
    view.as_python = python_of(cell);
    return view;
}

}  // namespace attn::view
