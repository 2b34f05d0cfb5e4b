#include "app/workspaces/gradients/view.h"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "app/common/document/chain_rule.h"
#include "app/common/document/document.h"
#include "app/common/document/loss.h"
#include "app/common/document/requests.h"
#include "app/common/format.h"
#include "app/common/number_style.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/gradients/actions.h"
#include "core/bias.h"
#include "core/call.h"
#include "core/jacobian.h"
#include "core/masks.h"
#include "core/metrics.h"
#include "core/scores/pair_rule.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

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
        if (stage == Stage::scores)
            for (const Param param : info(state.document().spec.score).params) add(param);
        if (stage == Stage::weights) add(Param::sinks);
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
            row.texts[n] = full_significant(row.norms[n], 3);
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

/// What holds of the sums of J.
std::string jacobian_sums(const Document& document, const std::vector<double>& p) {
    if (std::ranges::any_of(p, [](double each) { return std::isnan(each); }))
        return "The row has NaN, and so do its sums";
    if (has_sinks(document)) return "With the sink, rows and columns need not sum to 0";
    return document.spec.softcap ? "Every column sums to 0" : "Every row and column sums to 0";
}

GridView jacobian_grid(const AppState& state, const std::vector<double>& p) {
    const Document& document = state.document();
    const std::vector<double> slopes = score_slopes(state);
    const std::vector<double> jacobian = softmax_jacobian(p);
    const auto n = static_cast<Index>(p.size());
    std::vector<float> values;
    IsMasked masked;
    for (const auto [r, c] : each_cell(n, n)) {
        values.push_back(static_cast<float>(slopes[c] * jacobian[r * n + c]));
        masked.push_back(!may_attend_in_row(state, r) || !may_attend_in_row(state, c));
    }
    Sheet sheet = sheet_of(state, Stage::weights);
    sheet.values = {values.data(), n, n, n};
    sheet.row_labels = sheet.column_labels;
    sheet.row_role = Role::key;
    GridView grid = make_grid(state, sheet, {ColorScale::diverging, false, std::move(masked)});
    grid.title =
        fmt::format("∂a/∂s of row “{}”", axis_label(state, Axis::query, gradients_look(state).row));
    grid.tooltip =
        fmt::format("J = {}: how each weight of this row changes per unit of each raw score. {}",
                    document.spec.softcap ? "(diag(a) − a aᵀ) · diag(factor · (1 − tanh²(S/cap)))"
                                          : "factor · (diag(a) − a aᵀ)",
                    jacobian_sums(document, p));
    grid.editable = false;
    const Index raised = raised_key(state);
    grid.selected = std::pair(raised, raised);
    grid.focus_row = grid.focus_column = raised;
    return grid;
}

/// Pairs of scores that the mask forbids: nothing reaches them.
IsMasked forbidden_scores(const AppState& state, const OperandId& id) {
    const Stage* const stage = std::get_if<Stage>(&id);
    const Document& document = state.document();
    if (stage == nullptr || *stage < Stage::scores || *stage > Stage::masked ||
        !document.spec.mask.any())
        return {};
    IsMasked masked;
    for (const auto [i, j] : each_cell(document.size.tq, document.size.tk))
        masked.push_back(
            !may_attend(document.spec.mask, document.size, state.batch, state.head, i, j));
    return masked;
}

void add_gradient_grids(const AppState& state, GradientsView& view) {
    Sheet sheet = gradient_sheet_of(state, gradients_look(state).tensor);
    if (sheet.values.rows > 0) {
        GridView grid = make_grid(
            state, sheet,
            {ColorScale::diverging, false, forbidden_scores(state, gradients_look(state).tensor)});
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

/// "‖∂L/∂W_Q‖ 0.12 (with scaling), 0.0004 (without scaling); …": the parameters of the document.
std::string parameters_text(const GradientsView& view) {
    std::string text;
    for (const GradientRow& row : view.rows)
        if (row.parameter)
            text += fmt::format("{}‖∂L/∂{}‖ {} ({}), {} ({})", text.empty() ? "" : "; ", row.symbol,
                                row.texts[0], view.sides[0], row.texts[1], view.sides[1]);
    return text.empty() ? text : text + ".";
}

/// What ‖J‖₂ is compared with: equal weights over the same keys, without a cap and without a sink.
std::string even_row_text(const Document& document, const JacobianNumbers& row) {
    const bool sinks = has_sinks(document);
    return fmt::format("{} for {} keys{}{}", significant(row.even, 3), row.keys,
                       sinks ? " without the sink" : "",
                       document.spec.softcap ? sinks ? " and the cap" : " without the cap" : "");
}

/// What V is sent of the context's gradient at the largest weight: that weight, as dropout leaves it.
double sent_to_value(const AppState& state, const std::vector<double>& p) {
    const TraceD& trace = gradients_look(state).result->sides[0].trace;
    const Index key = std::ranges::max_element(p) - p.begin();
    return trace[stage_or_source(Stage::dropped, state.document().spec)](
        state.batch, state.head, gradients_look(state).row, key);
}

/// Of a row that may attend to one key.
std::string one_key_sentence(const Document& document, const JacobianNumbers& row,
                             const std::string& token) {
    if (has_sinks(document))
        return fmt::format(
            "Row {} may attend to only one key, besides the sink: its weight is {}, ‖J‖₂ = {}.",
            token, number(row.p_max), significant(row.spectral, 3));
    if (row.p_max != 1.0) return {};
    return fmt::format(
        "Row {} may attend to only one key: its weight is always 1, so no gradient reaches its "
        "score.",
        token);
}

/// What the row passes to its scores, and what goes around softmax.
std::string row_sentence(const AppState& state, const JacobianNumbers& row) {
    if (row.keys == 0) return {};
    const std::string token = axis_label(state, Axis::query, gradients_look(state).row);
    if (row.keys == 1) return one_key_sentence(state.document(), row, token);
    if (row.even == 0.0)
        return fmt::format("Row {}: p_max = {}; every score is multiplied by 0, so ‖J‖₂ = 0.",
                           token, number(row.p_max));
    std::string text =
        fmt::format("Row {}: p_max = {}, ‖J‖₂ = {}, {} times as large as for a uniform row ({}).",
                    token, number(row.p_max), significant(row.spectral, 3),
                    significant(row.spectral / row.even, 3), even_row_text(state.document(), row));
    if (row.p_max > kSaturatedRow)
        text += fmt::format(
            " Saturated: softmax passes at most {} of ∂L/∂A to the scores, "
            "and so to Q "
            "and K. At the key with the largest weight, V receives {} of ∂L/∂context.",
            significant(row.spectral, 2), number(sent_to_value(state, jacobian_weights(state))));
    return text;
}

std::string flat_sentence(const Document& document, const JacobianNumbers& row) {
    if (row.keys < 2 || has_sinks(document))
        return {};  // with a sink every direction changes something
    if (row.spectral == 0.0) return "J is 0: to first order no score changes a weight.";
    const char* const capped = document.spec.softcap ? " after the cap" : "";
    if (row.flat == 0)
        return fmt::format(
            "Raising all scores equally{} changes no weight: J maps this direction to 0.", capped);
    return fmt::format(
        "Raising all scores equally{} changes no weight, and in {} of the other {} directions J "
        "passes under 1 % of a uniform row's gradient.",
        capped, row.flat, row.keys - 1);
}

void add_badge(const LossGradients& result, GradientsView& view) {
    const DifferenceCheck& check = result.check;
    if (check.entries == 0) return;
    view.badge_warns = !std::isfinite(check.worst);
    view.badge = view.badge_warns
                     ? fmt::format("gradient check: not possible ({})", significant(check.worst, 2))
                     : fmt::format("gradient check: largest error {}", significant(check.worst, 2));
    view.badge_tip = fmt::format(
        "(L(x + h) − L(x − h)) / 2h in double precision, h = {} · max(1, |x|), at {} entries of "
        "the inputs and parameters. Errors are relative to the largest gradient of the tensor. "
        "Largest error: at {}.",
        significant(check.h, 2), check.entries, check.where.empty() ? "none" : check.where);
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

std::vector<double> score_slopes(const AppState& state) {
    const Document& document = state.document();
    const PairRule rule = pair_rule(document.spec, document.size, state.head);
    std::vector<double> slopes;
    const Index row = gradients_look(state).row;
    const TensorD& all = gradients_look(state).result->sides[0].trace[Stage::scaled];
    for (const double scaled : all.matrix(state.batch, state.head).row(row)) {
        const double bias = bias_at(document.spec.mask, state.batch, state.head, row,
                                    static_cast<Index>(slopes.size()));
        slopes.push_back(score_factor(document.spec, document.size.d_k) *
                         rule.derivative(scaled, bias));
    }
    return slopes;
}

bool may_attend_in_row(const AppState& state, Index key) {
    const Document& document = state.document();
    return may_attend(document.spec.mask, document.size, state.batch, state.head,
                      gradients_look(state).row, key);
}

JacobianNumbers jacobian_numbers(const AppState& state) {
    JacobianNumbers row;
    const std::vector<double> weights = jacobian_weights(state);
    if (weights.empty()) return row;
    const std::vector<double> all_slopes = score_slopes(state);
    std::vector<double> p, slopes;
    for (std::size_t key = 0; key < weights.size(); ++key) {
        if (!may_attend_in_row(state, static_cast<Index>(key)) || !std::isfinite(weights[key]))
            continue;
        p.push_back(weights[key]);
        slopes.push_back(all_slopes[key]);
    }
    if (p.empty() || static_cast<Index>(p.size()) > kMostJacobian) return row;
    const Document& document = state.document();
    row.keys = static_cast<Index>(p.size());
    row.p_max = std::ranges::max(p);
    row.even =
        std::abs(score_factor(document.spec, document.size.d_k)) / static_cast<double>(row.keys);
    const std::vector<double> values = jacobian_singular_values(p, slopes);
    row.spectral = values.back();
    for (std::size_t n = 1; n < values.size(); ++n)  // the first is the 0 of the direction it kills
        if (values[n] < kFlat * row.even) ++row.flat;
    return row;
}

GradientsView build_gradients_view(const AppState& state) {
    GradientsView view;
    const GradientsLook& look = gradients_look(state);
    view.missing_data = gradients_missing_data(state);
    if (!view.missing_data.empty()) return view;
    view.losses = {"Σ output", "one output", "½ Σ (output − target)²", "cross-entropy of a row",
                   "Σ dY ∘ output"};
    view.losses.resize(loss_count(state));
    view.loss = static_cast<int>(loss_of(state).kind);
    view.row_names = axis_labels(state, Axis::query, state.document().size.tq);
    view.row = static_cast<int>(look.row);
    view.status = computed_text(state);
    view.stale = requested_loss_gradients(state).has_value();
    if (!look.result || look.result->document != state.shared_document()) {
        view.point = job_status_text(state, "gradients", "Computing the gradients…");
        return view;
    }
    const LossGradients& result = *look.result;
    if (!result.fault.empty()) {
        view.point = result.fault;
        return view;
    }
    view.ready = true;
    view.sides = {result.sides[0].text, result.sides[1].text};
    add_gradient_rows(state, result, view);
    view.competition = build_competition(state);
    add_gradient_grids(state, view);
    add_badge(result, view);
    const std::string loss =
        fmt::format("L = {} = {} ({}), {} ({}).", loss_text(state), number(result.sides[0].loss),
                    view.sides[0], number(result.sides[1].loss), view.sides[1]);
    const std::string& moved = view.competition.moved;
    view.point = moved.empty() ? loss : moved;
    const JacobianNumbers row = jacobian_numbers(state);
    view.notes = {why_text(result, view),
                  chain_rule_text(state, gradients_look(state).tensor),
                  moved.empty() ? std::string() : loss,
                  parameters_text(view),
                  row_sentence(state, row),
                  flat_sentence(state.document(), row)};
    std::erase(view.notes, std::string());
    return view;
}

}  // namespace attn::view
