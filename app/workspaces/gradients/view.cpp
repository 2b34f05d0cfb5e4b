#include "app/workspaces/gradients/view.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "app/common/document/chain_rule.h"
#include "app/common/document/loss.h"
#include "app/common/document/requests.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/workspaces/gradients/requests.h"
#include "app/workspaces/gradients/workspace.h"
#include "core/call.h"
#include "core/jacobian.h"
#include "core/masks.h"
#include "core/metrics.h"

namespace attn::view {
namespace {

constexpr double kRounding = 1e-9;
constexpr double kRoundedNorm = 1e-13;  // beside the largest, in double
constexpr double kFlat = 0.01;          // of what an even row passes
constexpr double kSaturatedRow = 0.99;

double norm_of(const TensorD& tensor) {
    const auto values = tensor.values();
    return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

const TensorD& gradient_in(const LossSide& side, const OperandId& id) {
    if (const Stage* stage = std::get_if<Stage>(&id)) return side.gradients[*stage];
    return side.gradients.params[std::get<Param>(id)];
}

/// The chain from the inputs to the output: each stage after the parameters that make it.
std::vector<OperandId> chain_of(const AppState& state, const LossSide& side) {
    std::vector<OperandId> chain;
    const auto add = [&](const OperandId& id) {
        if (!gradient_in(side, id).empty()) chain.push_back(id);
    };
    for (const Stage stage : ribbon_stages(state.document())) {
        if (stage == Stage::q) add(Param::w_q);
        if (stage == Stage::k) add(Param::w_k);
        if (stage == Stage::v) add(Param::w_v);
        if (stage == Stage::output) add(Param::w_o);
        add(stage);
    }
    return chain;
}

/// Powers of ten around all norms that are not 0.
std::array<int, 2> log_ends(const std::vector<GradientRow>& rows) {
    double low = std::numeric_limits<double>::infinity(), high = 0.0;
    for (const GradientRow& row : rows)
        for (const double norm : row.norms)
            if (norm > 0.0 && std::isfinite(norm))
                low = std::min(low, norm), high = std::max(high, norm);
    if (!(high > 0.0)) return {-1, 1};
    const int first = static_cast<int>(std::floor(std::log10(low))) - 1;
    return {first, std::max(static_cast<int>(std::ceil(std::log10(high))), first + 2)};
}

/// What is as small as rounding beside the largest norm is 0 as far as anybody can tell.
void leave_rounding_out(std::vector<GradientRow>& rows) {
    for (std::size_t n = 0; n < 2; ++n) {
        double largest = 0.0;
        for (const GradientRow& row : rows)
            if (std::isfinite(row.norms[n])) largest = std::max(largest, row.norms[n]);
        for (GradientRow& row : rows) {
            if (row.norms[n] == 0.0 || !(row.norms[n] < kRoundedNorm * largest)) continue;
            row.norms[n] = 0.0;
            row.texts[n] = "≈ 0";
        }
    }
}

void add_gradient_rows(const AppState& state, const LossGradients& result, GradientsView& view) {
    for (const OperandId& id : chain_of(state, result.sides[0])) {
        GradientRow row;
        row.key = key_of(id);
        row.symbol = name_of(id);
        row.parameter = std::holds_alternative<Param>(id);
        row.role = std::visit([](auto key) { return info(key).role; }, id);
        row.shown = id == gradients_look(state).tensor;
        for (std::size_t n = 0; n < 2; ++n) {
            row.norms[n] = norm_of(gradient_in(result.sides[n], id));
            row.texts[n] = significant(row.norms[n], 3);
        }
        view.rows.push_back(std::move(row));
    }
    leave_rounding_out(view.rows);
    const auto [first, last] = log_ends(view.rows);
    for (GradientRow& row : view.rows)
        for (std::size_t n = 0; n < 2; ++n)
            if (row.norms[n] > 0.0 && std::isfinite(row.norms[n]))
                row.bars[n] =
                    std::clamp((std::log10(row.norms[n]) - first) / (last - first), 0.0, 1.0);
    for (int power = first; power <= last; ++power) view.ticks.push_back(power_of_ten(power));
}

/// What the raw scores are multiplied by before softmax. A soft-cap is not shown here (stages_lack).
double slope_factor(const Document& document) {
    return score_factor(document.spec, document.size.d_k);
}

GridView jacobian_grid(const AppState& state, const std::vector<double>& p) {
    const Document& document = state.document();
    const double factor = slope_factor(document);
    const std::vector<double> jacobian = softmax_jacobian(p);
    const auto n = static_cast<Index>(p.size());
    std::vector<float> values;
    IsMasked masked;
    for (Index r = 0; r < n; ++r)
        for (Index c = 0; c < n; ++c) {
            values.push_back(
                static_cast<float>(factor * jacobian[static_cast<std::size_t>(r * n + c)]));
            masked.push_back(!may_attend_in_row(state, r) || !may_attend_in_row(state, c));
        }
    Sheet sheet = sheet_of(state, Stage::weights);
    sheet.values = {values.data(), n, n, n};
    sheet.row_labels = sheet.column_labels;
    sheet.row_role = Role::key;
    GridView grid = make_grid(state, sheet, {ColorScale::diverging, false, std::move(masked)});
    grid.title = fmt::format("∂a_{}/∂s", gradients_look(state).row);
    grid.tooltip =
        "J = factor · (diag(a) − a aᵀ): what each weight of this row does when one raw score "
        "is raised. Every row and column sums to 0";
    grid.editable = false;
    const Index raised = std::min(gradients_look(state).raised, n - 1);
    grid.selected = std::pair(raised, raised);
    grid.focus_row = grid.focus_column = raised;
    return grid;
}

void add_gradient_grids(const AppState& state, GradientsView& view) {
    Sheet sheet = gradient_sheet_of(state, gradients_look(state).tensor);
    if (sheet.values.rows > 0) {
        GridView grid = make_grid(state, sheet, {});
        grid.title = fmt::format("∂L/∂{}", name_of(gradients_look(state).tensor));
        grid.editable = false;
        if (grid.selected &&
            (grid.selected->first >= grid.rows || grid.selected->second >= grid.columns))
            grid.selected.reset();
        view.grids.push_back(std::move(grid));
    }
    const std::vector<double> p = jacobian_weights(state);
    if (!p.empty() && static_cast<Index>(p.size()) <= kMostJacobian)
        view.grids.push_back(jacobian_grid(state, p));
}

/// "‖∂L/∂W_Q‖ 0.12 ÷√d_k, 0.0004 not divided; …": of the weight matrices that are there.
std::string parameters_words(const GradientsView& view) {
    std::string words;
    for (const std::string_view key : {"w_q", "w_k", "w_v", "w_o"}) {
        const auto row = std::ranges::find(view.rows, key, &GradientRow::key);
        if (row == view.rows.end()) continue;
        words += fmt::format("{}‖∂L/∂{}‖ {} {}, {} {}", words.empty() ? "" : "; ", row->symbol,
                             row->texts[0], view.sides[0], row->texts[1], view.sides[1]);
    }
    return words.empty() ? words : words + ".";
}

/// What the row passes to its scores, and what goes around softmax.
std::string row_sentence(const AppState& state, const JacobianNumbers& row) {
    if (row.keys == 0) return {};
    const std::string token = axis_label(state.document(), Axis::query, gradients_look(state).row);
    if (row.keys == 1)
        return fmt::format(
            "Row {} may attend to one key alone: its weight is 1 whatever the score, so no "
            "gradient reaches that score.",
            token);
    std::string words = fmt::format(
        "Row {}: p_max = {}, ‖J‖₂ = {}, {} times the {} of an even row over its {} keys.", token,
        number(row.p_max), significant(row.spectral, 3), significant(row.spectral / row.even, 3),
        significant(row.even, 3), row.keys);
    if (row.p_max > kSaturatedRow)
        words += fmt::format(
            " Saturated: its scores, and through them W_Q and W_K, are sent at most {} of what "
            "reaches its weights; V is sent {} of what reaches its context, at the largest key.",
            significant(row.spectral, 2), number(row.p_max));
    return words;
}

std::string flat_sentence(const JacobianNumbers& row) {
    if (row.keys < 2 || !row.keeps_shift)
        return {};  // a sink takes part: the weights do not sum to 1
    if (row.flat == 0)
        return "J kills one direction exactly: all scores raised alike change nothing.";
    return fmt::format(
        "J kills one direction exactly, all scores raised alike, and {} of the other {} nearly: "
        "they "
        "pass under 1 % of what an even row passes.",
        row.flat, row.keys - 1);
}

void add_badge(const LossGradients& result, GradientsView& view) {
    const DifferenceCheck& check = result.check;
    if (check.entries == 0) return;
    view.badge = fmt::format("finite differences: {} apart at most", significant(check.worst, 2));
    view.badge_tip = fmt::format(
        "(L(x + h) − L(x − h)) / 2h in double precision, h = {} · max(1, |x|), at {} entries of "
        "the inputs and "
        "parameters; apart: beside the largest gradient of that tensor. Worst at {}.",
        significant(check.h, 2), check.entries, check.where.empty() ? "none" : check.where);
}

constexpr double kSumRounding = 1e-9;
constexpr double kSeen = 0.01;  // of p_j (1 − p_j): beneath it nothing is drawn, and why is said
constexpr double kOneTakesAll = 0.99;

std::string signed_slope(double slope) { return (slope > 0.0 ? "+" : "") + significant(slope, 3); }

std::string slope_arithmetic(const CompetitionToken& token, const CompetitionToken& raised) {
    if (&token == &raised)
        return fmt::format("∂p/∂s = p_j (1 − p_j) = {} · (1 − {}) = {}", number(token.p),
                           number(raised.p), token.slope_text);
    return fmt::format("∂p/∂s = −p_k p_j = −{} · {} = {}", number(token.p), number(raised.p),
                       token.slope_text);
}

void fill_token(const CompetitionToken& raised, CompetitionToken& token) {
    if (token.look == CellLook::masked) {
        token.p_text = "0", token.slope_text = "masked";
        token.tip = "masked: its score is −∞, its weight 0 whatever the other scores are";
        return;
    }
    token.p_text = number(token.p);
    if (token.look == CellLook::not_a_number || raised.look == CellLook::not_a_number) {
        token.slope_text = "NaN";
        token.tip = "NaN: the weight is no number, so no slope is known";
        return;
    }
    const bool takes_part = raised.look == CellLook::number;
    token.slope = takes_part ? token.p * ((&token == &raised ? 1.0 : 0.0) - raised.p) : 0.0;
    token.bar = std::clamp(token.p, 0.0, 1.0);
    token.width = std::min(std::abs(token.slope) / kMostSlope, 1.0);
    token.slope_text = signed_slope(token.slope);
    token.tip = takes_part ? slope_arithmetic(token, raised)
                           : "0: the raised score is masked and changes nothing";
}

std::string slope_sum_words(const CompetitionView& view) {
    const CompetitionToken& raised = view.at(view.raised);
    double others = 0.0, all = 0.0;
    for (const CompetitionToken& token : view.tokens) {
        all += token.p;
        if (&token != &raised) others += token.slope;
    }
    const double rest = raised.p * (1.0 - all);
    if (std::abs(rest) < kSumRounding)
        return fmt::format("Σ_k ∂p_k/∂s_j = 0: {} gains {}, the others together lose {}.",
                           raised.label, significant(raised.slope, 3),
                           significant(std::abs(others), 3));
    return fmt::format(
        "Σ_k ∂p_k/∂s_j = p_j (1 − Σ_k p_k) = {}: {} gains {}, the other keys together lose {}, the "
        "sink {}.",
        significant(rest, 3), raised.label, significant(raised.slope, 3),
        significant(std::abs(others), 3), significant(rest, 3));
}

std::string no_arrow_words(const CompetitionView& view, Index open) {
    const CompetitionToken& raised = view.at(view.raised);
    if (open == 0) return "Every key of this row is masked: there is nothing to compete for.";
    if (raised.look == CellLook::masked)
        return fmt::format("{} is masked: its score is −∞, so raising it changes no weight.",
                           raised.label);
    if (raised.slope >= kSeen) return {};
    if (open == 1 && raised.p > kOneTakesAll)
        return "This row may attend to one key alone: its weight is 1 whatever the score, "
               "p (1 − p) = 0.";
    if (raised.p > kOneTakesAll)
        return fmt::format(
            "Saturated: {} has p_j = {} already, so p_j (1 − p_j) = {}: under {} arrows have width "
            "0.",
            raised.label, significant(raised.p, 6), significant(raised.slope, 3), kSeen);
    return fmt::format(
        "{} has p_j = {}, and no slope is larger than p_j (1 − p_j) = {}: under {} arrows have "
        "width 0.",
        raised.label, significant(raised.p, 3), significant(raised.slope, 3), kSeen);
}

struct OpenKeys {
    Index count = 0;
    bool unknown = false;  // one has the weight NaN
};
OpenKeys add_tokens(const AppState& state, const std::vector<double>& p, CompetitionView& view) {
    const auto labels = axis_labels(state.document(), Axis::key, std::ssize(p));
    OpenKeys open;
    for (std::size_t k = 0; k < p.size(); ++k) {
        const bool may = may_attend_in_row(state, static_cast<Index>(k));
        const bool finite = std::isfinite(p[k]);
        const CellLook look = !may     ? CellLook::masked
                              : finite ? CellLook::number
                                       : CellLook::not_a_number;
        open.count += may;
        open.unknown |= may && !finite;
        view.tokens.push_back({labels[k], look, may ? p[k] : 0.0});
    }
    return open;
}

CompetitionView build_competition(const AppState& state) {
    CompetitionView view;
    const std::vector<double> p = jacobian_weights(state);
    if (p.empty()) {
        view.lacks = "This row has no weights.";
        return view;
    }
    const auto count = static_cast<Index>(p.size());
    if (count > kMostJacobian) {
        view.lacks = fmt::format("{} keys: how they compete is drawn for up to {}.", grouped(count),
                                 kMostJacobian);
        return view;
    }
    const Document& document = state.document();
    view.row = gradients_look(state).row;
    view.raised = std::clamp<Index>(gradients_look(state).raised, 0, count - 1);
    const auto [open, unknown] = add_tokens(state, p, view);
    const CompetitionToken& raised = view.at(view.raised);
    for (CompetitionToken& token : view.tokens) fill_token(raised, token);
    view.title = fmt::format("Row {}: what raising the score of {} does to the others",
                             axis_label(document, Axis::query, view.row), raised.label);
    view.formula = fmt::format(
        "∂p_k/∂s_j = p_k (δ_kj − p_j), j = {}; s: the score as softmax sees it, scaled and masked",
        raised.label);
    if (unknown) {
        view.why = "The row has NaN among its weights: where a weight is NaN no slope is known.";
        return view;
    }
    view.why = no_arrow_words(view, open);
    if (raised.look == CellLook::number) view.sum = slope_sum_words(view);
    return view;
}

/// What each weight of the selected row does while the score of `raised` grows by 1.
InspectorTable table_of_raise(const AppState& state, const std::vector<double>& p,
                              const std::vector<double>& after, const JacobianNumbers& row,
                              std::size_t raised, const std::vector<std::string>& labels) {
    const auto figure = [](double value, Role role) {
        return TableCell{cell_number(value, 4), role, {}};
    };
    InspectorTable table{"what each weight does", "key", {}, {}, {}};
    table.columns = {{"a", Role::weight},
                     {"∂a/∂s", Role::score},
                     {"a after", Role::weight},
                     {"change", Role::score}};
    double most = 1e-300;
    for (std::size_t k = 0; k < p.size(); ++k) most = std::max(most, std::abs(after[k] - p[k]));
    for (std::size_t k = 0; k < p.size(); ++k) {
        const double slope = row.factor * p[k] * ((k == raised ? 1.0 : 0.0) - p[raised]);
        const double change = after[k] - p[k];
        const char* const way = after[k] > p[k] ? "↑ " : after[k] < p[k] ? "↓ " : "· ";
        TableRow line{labels[k], {}};
        line.cells = {figure(p[k], Role::weight), figure(slope, Role::score),
                      figure(after[k], Role::weight), figure(change, Role::score)};
        line.cells.back().text.insert(0, way);
        line.chosen = k == raised;
        line.muted = !may_attend_in_row(state, static_cast<Index>(k));
        line.bar = change / most;
        table.rows.push_back(std::move(line));
    }
    return table;
}

}  // namespace

std::vector<double> jacobian_weights(const AppState& state) {
    const GradientsLook& look = gradients_look(state);
    if (!look.result || !look.result->fault.empty()) return {};
    const TensorD& weights = look.result->sides[0].trace[Stage::weights];
    if (weights.empty() || look.row >= weights.shape().t || state.head >= weights.shape().h)
        return {};
    const auto row = weights.matrix(state.batch, state.head).row(look.row);
    return {row.begin(), row.end()};
}

bool may_attend_in_row(const AppState& state, Index key) {
    const Document& document = state.document();
    return may_attend(document.spec.mask, document.size, state.batch, state.head,
                      gradients_look(state).row, key);
}

JacobianNumbers jacobian_numbers(const AppState& state) {
    JacobianNumbers row;
    std::vector<double> p;
    Index key = 0;
    for (const double weight : jacobian_weights(state))
        if (may_attend_in_row(state, key++) && std::isfinite(weight)) p.push_back(weight);
    if (p.empty() || static_cast<Index>(p.size()) > kMostJacobian) return row;
    row.keys = static_cast<Index>(p.size());
    row.p_max = std::ranges::max(p);
    row.factor = slope_factor(state.document());
    row.even = std::abs(row.factor) / static_cast<double>(row.keys);
    const double size = std::abs(row.factor);
    const JacobianSpectrum spectrum = softmax_spectrum(p);
    row.spectral = size * std::max(spectrum.values.back(), 0.0);
    for (std::size_t n = 1; n < spectrum.values.size(); ++n)  // the first is the 0 of (1, …, 1)
        if (size * spectrum.values[n] < kFlat * row.even) ++row.flat;
    row.keeps_shift = common_shift_slope(p) < kRounding;
    return row;
}

GradientsView build_gradients_view(const AppState& state) {
    GradientsView view;
    const GradientsLook& look = gradients_look(state);
    view.lacks = gradients_lacks(state);
    if (!view.lacks.empty()) return view;
    view.losses = {"Σ output", "one output", "½ Σ (output − target)²", "cross-entropy of a row",
                   "Σ dY ∘ output"};
    view.losses.resize(static_cast<std::size_t>(loss_count(state)));
    view.loss = static_cast<int>(loss_of(state).kind);
    view.row_names = axis_labels(state.document(), Axis::query, state.document().size.tq);
    view.row = static_cast<int>(look.row);
    view.status = computed_words(state);
    view.stale = requested_loss_gradients(state).has_value();
    if (!look.result || look.result->document != state.shared_document()) {
        view.point = "The gradients are being computed…";
        return view;
    }
    const LossGradients& result = *look.result;
    if (!result.fault.empty()) {
        view.point = result.fault;
        return view;
    }
    view.ready = true;
    view.sides = {result.sides[0].words, result.sides[1].words};
    add_gradient_rows(state, result, view);
    view.competition = build_competition(state);
    add_gradient_grids(state, view);
    add_badge(result, view);
    view.point =
        fmt::format("L = {} = {} {}, {} {}.", loss_words(state), number(result.sides[0].loss),
                    view.sides[0], number(result.sides[1].loss), view.sides[1]);
    const JacobianNumbers row = jacobian_numbers(state);
    view.notes = {chain_rule_words(state, gradients_look(state).tensor), parameters_words(view),
                  row_sentence(state, row), flat_sentence(row)};
    std::erase(view.notes, std::string());
    return view;
}

InspectorView gradients_inspector(const AppState& state) {
    InspectorView view;
    const std::vector<double> p = jacobian_weights(state);
    const JacobianNumbers row = jacobian_numbers(state);
    if (row.keys == 0) {
        view.hint = "Click a cell of the Jacobian: what raising that score does to the others.";
        return view;
    }
    const GradientsLook& look = gradients_look(state);
    const Document& document = state.document();
    const auto labels = axis_labels(document, Axis::key, static_cast<Index>(p.size()));
    const auto raised = static_cast<std::size_t>(std::min<Index>(look.raised, std::ssize(p) - 1));
    view.empty = false;
    view.role = Role::weight;
    view.title = fmt::format("row {}: the score of {} is raised by 1",
                             axis_label(document, Axis::query, look.row), labels[raised]);
    view.formula =
        fmt::format("∂a_k/∂s_j = factor · a_k (δ_kj − a_j), factor {}", significant(row.factor, 4));
    const bool open = may_attend_in_row(state, static_cast<Index>(raised));
    if (!open)
        view.lines.push_back(
            {"masked", {{"This key is masked: its score changes nothing.", {}, false, {}}}});
    const auto after = raise_score(p, static_cast<Index>(raised), open ? row.factor : 0.0).exact;
    view.value = fmt::format("{} → {}", cell_number(p[raised], 4), cell_number(after[raised], 4));
    view.table = table_of_raise(state, p, after, row, raised, labels);
    view.as_text = view.as_latex = view.as_python = text_of(view);
    return view;
}

}  // namespace attn::view
