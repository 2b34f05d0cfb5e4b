#include "app/view/saturation/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/view/common/format.h"
#include "app/view/saturation/plots.h"

namespace attn::view {
namespace {

Readout readout(const char* label, std::string formula, std::string text, const char* tooltip) {
    return {label, std::move(formula), std::move(text), tooltip};
}

std::vector<Readout> readouts_of(const SaturationRow& row, Index d_k, bool is_scaled) {
    const RowMetrics& m = row.metrics;
    const std::string divided = is_scaled ? fmt::format(" / √{}", d_k) : "";
    return {
        readout("max probability", "p_max = max_j a_j", percent(m.max_probability),
                "The largest weight. 100 % is one-hot."),
        readout("evenness", "H / ln n,  H = −Σ a ln a", percent(m.evenness),
                "Entropy over its largest value: 100 % is uniform, 0 % one-hot."),
        readout("∂p_max/∂s_max", "p_max(1 − p_max)", measure(m.max_slope),
                "With respect to softmax's own input s. Not a sign of health: it is small for "
                "uniform rows too, and largest at p_max = 1/2."),
        readout("∂p_max/∂z_max", "p_max(1 − p_max)" + divided,
                measure(m.max_slope * row.raw_factor),
                "With respect to the raw score z: scaling divides it by √d_k once more."),
        readout(
            "‖J‖_F", "J = ∂a/∂s = diag(a) − a aᵀ", measure(m.jacobian_frobenius),
            "Root of the sum of squares of the softmax Jacobian with respect to its input s: at "
            "most 1/2."),
        readout("‖J‖_F, raw", "∂a/∂z = J" + divided, measure(m.jacobian_frobenius * row.raw_factor),
                "The same norm with respect to the raw score z."),
        readout("‖J‖₂", "largest eigenvalue of J", measure(m.jacobian_spectral),
                "The most that J stretches any change of s."),
        readout("exp H", "keys in play, of " + std::to_string(row.weights.size()),
                cell_number(m.effective_keys, 2),
                "How many equal weights would have the same entropy."),
    };
}

std::string words_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::healthy:
            return "healthy";
        case Verdict::saturating:
            return "saturating";
        case Verdict::saturated:
            return "saturated";
    }
    return "";
}

BarView bar_of(const SaturationRow& row, std::size_t j) {
    BarView bar;
    bar.label = std::to_string(j);
    bar.value = row.weights[j];
    bar.text = percent(bar.value);
    bar.bare = bar.text.substr(0, bar.text.find(' '));
    const std::string raw = number(row.scores[j] / row.raw_factor);
    bar.tooltip = fmt::format("a_{} = {}\ns_{} = {}, z_{} = {}", j, number(bar.value), j,
                              number(row.scores[j]), j, raw);
    return bar;
}

std::vector<BarView> bars_of(const SaturationRow& row) {
    std::vector<BarView> bars;
    for (std::size_t j = 0; j < row.weights.size(); ++j) bars.push_back(bar_of(row, j));
    return bars;
}

/// Percentages as shown have one decimal: their sum counts tenths.
std::string rounding_note(const std::vector<double>& weights) {
    long tenths = 0;
    for (const double weight : weights) {
        if (std::isnan(weight)) return "";
        tenths += std::lround(1000.0 * weight);
    }
    if (tenths == 1000) return "";
    return fmt::format("rounded: adds to {}.{} %", tenths / 10, tenths % 10);
}

SaturationSideView side_view(const SaturationRow& row, Index d_k, bool is_scaled, bool focused) {
    SaturationSideView side;
    side.title = is_scaled ? "scaled" : "unscaled";
    side.formula =
        is_scaled ? fmt::format("a = softmax(s),  s = z / √{}", d_k) : "a = softmax(s),  s = z";
    side.role = is_scaled ? Role::weight : Role::score;
    side.focused = focused;
    side.bars = bars_of(row);
    side.rounding_note = rounding_note(row.weights);
    side.readouts = readouts_of(row, d_k, is_scaled);
    side.verdict = verdict_of(row.metrics.evenness);
    side.verdict_words = words_of(side.verdict);
    side.verdict_rule = fmt::format("evenness ≥ {:.0f} % is healthy, < {:.0f} % saturated",
                                    100.0 * kHealthyEvenness, 100.0 * kSaturatedEvenness);
    return side;
}

// --- the Jacobian

/// Entries lie within ±1/4; a fixed range, so that a dying gradient fades from the picture.
constexpr ColorRange kJacobianRange{ColorScale::diverging, -0.25, 0.25};
constexpr Index kMostWrittenKeys = 32;

/// Fills and their inks, looked up: working out each of 65,536 cells takes 50 ms.
class Paints {
  public:
    struct Paint {
        Color fill, ink;
    };
    explicit Paints(ThemeName theme) {
        for (std::size_t n = 0; n < paints_.size(); ++n) {
            const double share = static_cast<double>(n) / static_cast<double>(paints_.size() - 1);
            const double value = std::lerp(kJacobianRange.low, kJacobianRange.high, share);
            const Color fill = color_of(kJacobianRange, value, theme);
            paints_[n] = {fill, ink_on(fill, theme)};
        }
    }
    const Paint& of(double value) const {
        const double share =
            (value - kJacobianRange.low) / (kJacobianRange.high - kJacobianRange.low);
        const double last = static_cast<double>(paints_.size() - 1);
        return paints_[static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * last + 0.5)];
    }

  private:
    std::array<Paint, 257> paints_;
};

CellView jacobian_cell(double value, const Paints& paints, bool written, ThemeName theme) {
    CellView cell;
    cell.value = value;
    if (std::isnan(value)) {
        cell.look = CellLook::not_a_number;
        cell.fill = view::theme(theme).nan;
        cell.ink = ink_on(cell.fill, theme);
    } else {
        cell.fill = paints.of(value).fill;
        cell.ink = paints.of(value).ink;
    }
    if (written) cell.text = cell_number(value, 2);
    return cell;
}

GridView jacobian_view(const SaturationRow& row, const std::string& side, ThemeName theme) {
    GridView grid;
    grid.id = Stage::weights;
    grid.title = "J = ∂a/∂s, " + side;
    grid.rows = grid.columns = std::ssize(row.weights);
    grid.shape = size(grid.rows, grid.columns);
    grid.tooltip = fmt::format(
        "Jacobian of the {} softmax: J[i,j] = ∂a_i/∂s_j = a_i (δ_ij − a_j), {}. The colours span "
        "−1/4 to 1/4, the most that an entry can be.",
        side, grid.shape);
    grid.role = grid.row_role = Role::weight;
    grid.column_role = Role::score;
    for (Index j = 0; j < grid.rows; ++j) grid.row_labels.push_back(std::to_string(j));
    grid.column_labels = grid.row_labels;
    const Paints paints(theme);
    const bool written = grid.rows <= kMostWrittenKeys;
    grid.cells.reserve(row.jacobian.size());
    for (const double value : row.jacobian)
        grid.cells.push_back(jacobian_cell(value, paints, written, theme));
    grid.range = kJacobianRange;
    grid.low_label = "−0.25";
    grid.high_label = "0.25";
    grid.ticks = {{0.5, "0"}};
    return grid;
}

// --- words

std::string model_words(const SaturationSettings& settings) {
    if (settings.model == SaturationModel::fixed_logits)
        return fmt::format(
            "z = √d_k × [{}]. Nothing is drawn: the growth with √d_k is put in by hand, and ÷ √d_k "
            "takes it out exactly. The sampled model shows where it comes from.",
            fmt::join(settings.logits, ", "));
    return fmt::format(
        "z_j = q·k_j, every component of q and of {} keys drawn from N(0, 1). Nobody put √d_k in: "
        "d_k products add up, so Var(z) = d_k. Curves: median and 10–90 % of {} draws.",
        settings.keys, settings.trials);
}

std::string status_words(const AppState& state, bool stale) {
    if (!state.curves.sweep) return "computing the curves…";
    if (stale) return "computing… (the curves are of the settings before)";
    std::string words = fmt::format("{} widths", state.curves.sweep->size());
    if (state.curves.settings.model == SaturationModel::sampled)
        words = fmt::format("{} draws × {} keys × {}", state.curves.settings.trials,
                            state.curves.settings.keys, words);
    return state.curves.elapsed_ms > 0.0
               ? fmt::format("{} in {:.1f} ms", words, state.curves.elapsed_ms)
               : words;
}

}  // namespace

Verdict verdict_of(double evenness) {
    if (evenness >= kHealthyEvenness) return Verdict::healthy;
    return evenness >= kSaturatedEvenness ? Verdict::saturating : Verdict::saturated;
}

SaturationView build_saturation_view(const AppState& state) {
    const SaturationControls& controls = state.saturation();
    const SaturationSettings& settings = controls.settings;
    const SaturationPair pair = saturation_at(settings, controls.d_k, controls.draw);
    const SaturationRow& focused = controls.scaling ? pair.scaled : pair.unscaled;
    SaturationView view;
    view.model = settings.model;
    view.model_names = {"fixed logits × √d_k", "sampled q, k ~ N(0, 1)"};
    view.drawn = settings.model == SaturationModel::sampled;
    view.model_words = model_words(settings);
    view.d_k = controls.d_k;
    view.keys = std::ssize(pair.scaled.weights);
    view.seed = settings.seed;
    view.draw = controls.draw;
    view.scaling = controls.scaling;
    view.scaled = side_view(pair.scaled, controls.d_k, true, controls.scaling);
    view.unscaled = side_view(pair.unscaled, controls.d_k, false, !controls.scaling);
    view.jacobian = jacobian_view(focused, controls.scaling ? "scaled" : "unscaled", state.theme);
    view.plots = saturation_plots(state.curves.sweep.get(), pair, controls.d_k);
    view.stale = !(state.curves.settings == controls.settings);
    view.status = status_words(state, view.stale);
    return view;
}

}  // namespace attn::view
