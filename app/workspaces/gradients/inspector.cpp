#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/inspector.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/gradients/actions.h"
#include "app/workspaces/gradients/view.h"
#include "core/bias.h"
#include "core/call.h"
#include "core/jacobian.h"
#include "core/note.h"
#include "core/scores/pair_rule.h"
#include "core/scores/score.h"
#include "core/stages.h"

namespace attn::view {
namespace {

/// What each weight of the selected row does while the score of `raised` grows by 1.
InspectorTable table_of_raise(const AppState& state, const std::vector<double>& p,
                              const std::vector<double>& after, double raised_slope,
                              std::size_t raised, const std::vector<std::string>& labels) {
    const auto figure = [](double value, Role role) {
        return TableCell{cell_number(value, 4), role, {}};
    };
    InspectorTable table{"change of each weight", "key", {}, {}, {}};
    table.columns = {{"a", Role::weight},
                     {"∂a/∂s", Role::score},
                     {"a after", Role::weight, true},
                     {"change", Role::score}};
    double most = 1e-300;
    for (std::size_t k = 0; k < p.size(); ++k) most = std::max(most, std::abs(after[k] - p[k]));
    for (std::size_t k = 0; k < p.size(); ++k) {
        const double slope = raised_slope * p[k] * ((k == raised ? 1.0 : 0.0) - p[raised]);
        const double change = after[k] - p[k];
        const char* const direction = after[k] > p[k] ? "↑ " : after[k] < p[k] ? "↓ " : "· ";
        TableRow line{labels[k], {}};
        line.cells = {figure(p[k], Role::weight), figure(slope, Role::score),
                      figure(after[k], Role::weight), figure(change, Role::score)};
        line.cells.back().text.insert(0, direction);
        line.chosen = k == raised;
        line.muted = !may_attend_in_row(state, static_cast<Index>(k));
        line.bar = change / most;
        table.rows.push_back(std::move(line));
    }
    return table;
}

/// "∂a_k/∂s_j = factor · a_k (δ_kj − a_j), factor 0.5", and what a soft cap leaves of it.
std::string slope_formula(const Document& document, double slope) {
    const double factor = score_factor(document.spec, document.size.d_k);
    if (!document.spec.softcap)
        return fmt::format("∂a_k/∂s_j = factor · a_k (δ_kj − a_j), factor {}",
                           significant(factor, 4));
    return fmt::format("∂a_k/∂s_j = factor · (1 − tanh²(S_j/cap)) · a_k (δ_kj − a_j), {} · {} = {}",
                       significant(factor, 4), significant(slope / factor, 4),
                       significant(slope, 4));
}

std::string slope_tex(const Document& document) {
    const char* const cap =
        document.spec.softcap ? R"((1 - \tanh^2(S_j / \mathrm{cap})) \cdot )" : "";
    return fmt::format(
        R"(\frac{{\partial a_k}}{{\partial s_j}} = \mathrm{{factor}} \cdot {}a_k (\delta_{{kj}} - a_j))",
        cap);
}

/// What the logit of a key grows by where its raw score grows by 1.
double logit_step(const AppState& state, std::size_t key) {
    const Document& document = state.document();
    const PairRule rule = pair_rule(document.spec, document.size, state.head);
    const double scaled = gradients_look(state).result->sides[0].trace[Stage::scaled](
        state.batch, state.head, gradients_look(state).row, static_cast<Index>(key));
    const double factor = score_factor(document.spec, document.size.d_k);
    const double bias = bias_at(document.spec.mask, state.batch, state.head,
                                gradients_look(state).row, static_cast<Index>(key));
    if (!std::isfinite(bias)) return 0.0;  // forbidden
    return rule.biased(scaled + factor, 0, 0, bias) - rule.biased(scaled, 0, 0, bias);
}

}  // namespace

InspectorView gradients_inspector(const AppState& state) {
    const std::vector<double> p = jacobian_weights(state);
    const JacobianNumbers row = jacobian_numbers(state);
    if (row.keys == 0)
        return only_hint("Click a cell of the Jacobian to raise that raw score by 1.");
    const GradientsLook& look = gradients_look(state);
    const Document& document = state.document();
    const auto labels = axis_labels(state, Axis::key, static_cast<Index>(p.size()));
    const auto raised = static_cast<std::size_t>(raised_key(state));
    InspectorView view =
        titled(fmt::format("row {}: the raw score of {} is raised by 1",
                           axis_label(state, Axis::query, look.row), labels[raised]),
               Role::weight);
    const double slope = score_slopes(state)[raised];
    view.tex = slope_tex(document);
    view.formula = slope_formula(document, slope);
    view.add("factor", significant(score_factor(document.spec, document.size.d_k), 4));
    const bool open = may_attend_in_row(state, static_cast<Index>(raised));
    if (open && std::isfinite(p[raised])) {
        const double by_z = p[raised] * (1.0 - p[raised]);
        view.add("∂a/∂z", significant(by_z, 3) + ", where z is the input of softmax");
        view.add("∂a/∂s", significant(slope * by_z, 3) + ", where s is the raw score");
    }
    if (!open)
        view.lines.push_back(
            {"masked", {{"This key is masked: its score changes nothing.", {}, false, {}}}});
    const auto after =
        raise_score(p, static_cast<Index>(raised), open ? logit_step(state, raised) : 0.0).exact;
    view.value = fmt::format("{} → {}", cell_number(p[raised], 4), cell_number(after[raised], 4));
    view.table = table_of_raise(state, p, after, slope, raised, labels);
    view.as_text = view.as_latex = view.as_python = text_of(view);
    return view;
}

}  // namespace attn::view
