#include "app/workspaces/saturation/view.h"

#include <fmt/format.h>

#include <cmath>

#include "app/common/format.h"
#include "app/common/number_style.h"
#include "app/common/state.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/parts.h"
#include "app/workspaces/saturation/text.h"
#include "core/tex.h"

namespace attn::view {
namespace {

constexpr std::string_view kVerdictText[] = {"healthy", "saturating", "saturated"};

std::string model_text(const SaturationSettings& settings) {
    if (settings.model == SaturationModel::fixed_logits)
        return fmt::format(
            "s = √d_k × [{}]. Nothing is sampled: the factor √d_k is set by hand, and scaling "
            "removes it exactly. The sampled model shows where the factor comes from.",
            listed(settings.logits));
    return fmt::format(
        "s_j = q·k_j, with q and {} keys from N(0, 1). A score is a sum of d_k products, so "
        "Var(s) = d_k. Curves: median and 10th to 90th percentile; draws: {}.",
        settings.keys, settings.trials);
}

std::string status_text(const SaturationCurves& curves, bool stale) {
    if (!curves.sweep) return "computing the curves…";
    if (stale) return "computing… (the medians belong to the previous settings)";
    std::string text = fmt::format("{} widths", curves.sweep->size());
    if (curves.settings.model == SaturationModel::sampled)
        text = fmt::format("{} draws × {} keys × {}", curves.settings.trials, curves.settings.keys,
                           text);
    return curves.elapsed_ms > 0.0 ? fmt::format("{} in {:.1f} ms", text, curves.elapsed_ms) : text;
}

// --- medians

/// The points of the widths that are wanted: a sweep may hold one more from before.
Medians medians_of(const SaturationCurves& curves, const SaturationControls& controls) {
    Medians medians{{}, controls.settings, controls.d_k, controls.pin};
    if (!curves.sweep) return medians;
    medians.settings = curves.settings;
    const std::vector<Index> widths = wanted_widths(controls);
    for (const SaturationPoint& point : *curves.sweep)
        if (std::ranges::binary_search(widths, point.d_k)) medians.points.push_back(point);
    return medians;
}

std::string median_text(const SaturationSettings& settings) {
    if (settings.model == SaturationModel::fixed_logits) return "of the fixed logits";
    return fmt::format("median of {} draw{}", grouped(settings.trials),
                       settings.trials == 1 ? "" : "s");
}

using Text = std::string (*)(double);

ComparedNumber median_row(const char* label, const char* formula, const char* tooltip,
                          Band SaturationSide::*number, const SaturationPoint* here, Text text) {
    ComparedNumber row{label, formula, tooltip, "…", "…"};
    if (here == nullptr) return row;
    row.scaled = text((here->scaled.*number).median);
    row.unscaled = text((here->unscaled.*number).median);
    return row;
}

/// Of the median; where so few draws leave it open, that it is near a threshold.
VerdictView verdict_view(const SaturationSide& side) {
    const Verdict verdict = verdict_of(side.evenness.median);
    for (const double end : {side.evenness.sure_low, side.evenness.sure_high})
        if (verdict_of(end) != verdict) return {verdict, "borderline"};
    return {verdict, std::string(kVerdictText[static_cast<std::size_t>(verdict)])};
}

SaturationTable table_view(const Medians& medians) {
    const SaturationPoint* here = medians.here();
    SaturationTable table;
    table.caption = median_text(medians.settings);
    table.rows = {
        median_row("p_max", "max_j a_j", "The largest weight. 100 % is one-hot.",
                   &SaturationSide::max_probability, here, percent),
        median_row("evenness", "H / ln n",
                   "Entropy H = −Σ a ln a over its largest value: 100 % is uniform, 0 % one-hot.",
                   &SaturationSide::evenness, here, percent),
        median_row("‖J‖_F", "J = ∂a/∂z",
                   "Root of the sum of the squared entries of the softmax Jacobian with respect "
                   "to its input z: at most 1/2.",
                   &SaturationSide::jacobian, here, measure)};
    table.rule = fmt::format("evenness ≥ {:.0f} % is healthy, < {:.0f} % saturated",
                             100.0 * kHealthyEvenness, 100.0 * kSaturatedEvenness);
    if (here == nullptr) return table;
    table.scaled = verdict_view(here->scaled);
    table.unscaled = verdict_view(here->unscaled);
    return table;
}

// --- bars

BarView bar_of(const SaturationRow& row, std::size_t j) {
    BarView bar;
    bar.label = std::to_string(j);
    bar.value = row.weights[j];
    bar.text = percent(bar.value);
    bar.bare = bar.text.substr(0, bar.text.find(" %"));
    const std::string raw = number(row.scores[j] / row.raw_factor);
    bar.tooltip = fmt::format("a_{0} = {1}\nz_{0} = {2}, s_{0} = {3}", j, number(bar.value),
                              number(row.scores[j]), raw);
    return bar;
}

/// Percentages as shown have one decimal: their sum counts tenths, where none of them is a bound.
std::string rounding_note(const std::vector<double>& weights) {
    long tenths = 0;
    for (const double weight : weights) {
        if (std::isnan(weight) || percent(weight).find_first_of("<>") != std::string::npos)
            return "";
        tenths += std::lround(1000.0 * weight);
    }
    if (tenths == 1000) return "";
    return fmt::format("rounded: adds up to {}.{} %", tenths / 10, tenths % 10);
}

SaturationSideView side_view(const SaturationRow& row, Index d_k, bool is_scaled) {
    SaturationSideView side;
    side.title = is_scaled ? "with scaling" : "without";
    side.formula = is_scaled ? fmt::format("a = softmax(s / √{})", d_k) : "a = softmax(s)";
    side.role = is_scaled ? Role::weight : Role::score;
    for (std::size_t j = 0; j < row.weights.size(); ++j) side.bars.push_back(bar_of(row, j));
    side.rounding_note = rounding_note(row.weights);
    side.note = fmt::format("p_max(1 − p_max) = {}", measure(row.metrics.max_slope));
    return side;
}

// --- the Jacobians

constexpr Index kMostWrittenKeys = 32;
constexpr double kMostEntry = 0.25;  // a(1 − a) at a = 1/2: the most that an entry of J can be

/// One range for both, so that a dying gradient fades beside the other: the largest entry, rounded up.
ColorRange shared_range(const SaturationPair& pair) {
    double most = 0.0;
    for (const SaturationRow* row : {&pair.scaled, &pair.unscaled})
        for (const double value : row->jacobian)
            if (!std::isnan(value)) most = std::max(most, std::abs(value));
    const double step = std::pow(10.0, std::floor(std::log10(std::max(most, 1e-300))));
    const double end = std::min(kMostEntry, step * std::ceil(most / step));
    return {ColorScale::diverging, end > 0.0 ? -end : -kMostEntry, end > 0.0 ? end : kMostEntry};
}

/// Fills and their inks, looked up: working out each of 65,536 cells takes 50 ms.
class Paints {
  public:
    struct Paint {
        Color fill, ink;
    };
    Paints(const ColorRange& range, ThemeName theme) : range_(range) {
        for (std::size_t n = 0; n < paints_.size(); ++n) {
            const double share = static_cast<double>(n) / static_cast<double>(paints_.size() - 1);
            const double value = std::lerp(range.low, range.high, share);
            const Color fill = color_of(range, value, theme);
            paints_[n] = {fill, ink_on(fill, theme)};
        }
    }
    const Paint& of(double value) const {
        const double share = (value - range_.low) / (range_.high - range_.low);
        const double last = static_cast<double>(paints_.size() - 1);
        return paints_[static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * last + 0.5)];
    }

  private:
    ColorRange range_;
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

GridView jacobian_view(const SaturationRow& row, const char* side, const ColorRange& range,
                       ThemeName theme) {
    GridView grid;
    grid.id = Stage::weights;
    grid.title = fmt::format("J {}", side);
    grid.rows = grid.columns = std::ssize(row.weights);
    grid.shape = size(grid.rows, grid.columns);
    grid.tooltip = fmt::format(
        "Jacobian of softmax {}: J[i,j] = ∂a_i/∂z_j = a_i (δ_ij − a_j), {}. Both Jacobians share "
        "one colour scale.",
        side, grid.shape);
    grid.role = grid.row_role = Role::weight;
    grid.column_role = Role::score;
    for (Index j = 0; j < grid.rows; ++j) grid.row_labels.push_back(std::to_string(j));
    grid.column_labels = grid.row_labels;
    const Paints paints(range, theme);
    const bool written = grid.rows <= kMostWrittenKeys;
    grid.cells.reserve(row.jacobian.size());
    for (const double value : row.jacobian)
        grid.cells.push_back(jacobian_cell(value, paints, written, theme));
    grid.range = range;
    grid.low_label = legend_tick(range.low);
    grid.high_label = legend_tick(range.high);
    grid.ticks = {{0.5, "0"}};
    return grid;
}

/// Both sides of the row that is drawn, bars and Jacobians.
void set_sides(SaturationView& view, const SaturationPair& pair, ThemeName theme) {
    const ColorRange range = shared_range(pair);
    view.scaled = side_view(pair.scaled, view.controls.d_k, true);
    view.unscaled = side_view(pair.unscaled, view.controls.d_k, false);
    view.scaled.jacobian = jacobian_view(pair.scaled, "with scaling", range, theme);
    view.unscaled.jacobian = jacobian_view(pair.unscaled, "without scaling", range, theme);
}

std::vector<ComparedNumber> row_numbers(const SaturationPair& pair, Index d_k) {
    const RowMetrics& s = pair.scaled.metrics;
    const RowMetrics& u = pair.unscaled.metrics;
    const double raw = pair.scaled.raw_factor;
    return {
        {"∂p_max/∂z_max", "p_max(1 − p_max)",
         "With respect to the input z of softmax. Largest, 1/4, at p_max = 1/2; small for "
         "saturated rows and for uniform rows of many keys.",
         measure(s.max_slope), measure(u.max_slope)},
        {"∂p_max/∂s_max", fmt::format("with scaling: p_max(1 − p_max) / √{}", d_k),
         "With respect to the raw score s: scaling divides this slope by √d_k.",
         measure(s.max_slope * raw), measure(u.max_slope)},
        {"‖J‖_F", "J = diag(a) − a aᵀ",
         "Frobenius norm of the softmax Jacobian with respect to its input z: the root of the sum "
         "of its squared entries.",
         measure(s.jacobian_frobenius), measure(u.jacobian_frobenius)},
        {"‖∂a/∂s‖_F", fmt::format("with scaling: J / √{}", d_k),
         "Frobenius norm of the Jacobian with respect to the raw score s.",
         measure(s.jacobian_frobenius * raw), measure(u.jacobian_frobenius)},
        {"‖J‖₂", "largest eigenvalue of J",
         "The largest factor by which J stretches a change of z.", measure(s.jacobian_spectral),
         measure(u.jacobian_spectral)},
        {"exp H", fmt::format("effective number of keys, of {}", pair.scaled.weights.size()),
         "The number of equal weights that have the same entropy.",
         cell_number(s.effective_keys, 2), cell_number(u.effective_keys, 2)},
    };
}

/// The four gradients, and their sentences in place of softmax's.
void fill_gradients(const AppState& state, SaturationView& view) {
    view.gradients = build_gradients_over_width(state);
    view.sentence = view.gradients->sentence;
    view.note = view.gradients->note;
    view.status = view.gradients->status;
    view.stale = view.gradients->stale;
}

void fill_softmax_alone(const AppState& state, SaturationView& view) {
    const SaturationControls& controls = view.controls;
    const SaturationSettings& settings = controls.settings;
    const SaturationCurves& curves = saturation_curves(state);
    const Medians medians = medians_of(curves, controls);
    const SaturationPoint* const here = medians.here();
    view.sentence = here ? saturation_sentence(medians.settings, *here)
                         : fmt::format("Computing at d_k = {}: {}…", medians.d_k,
                                       median_text(medians.settings));
    view.note = sentence_note(medians.settings);
    view.hero = hero_view(medians);
    view.plots = small_plots(medians);
    view.table = table_view(medians);
    view.stale = !(curves.settings == settings) || !curves.sweep;
    view.row_caption = view.drawn
                           ? fmt::format("sample {} of {}", controls.draw + 1, settings.trials)
                           : "The weights, key by key";
    const SaturationPair pair = saturation_at(settings, controls.d_k, controls.draw);
    set_sides(view, pair, state.theme);
    view.status = job_status_text(state, "curves", status_text(curves, view.stale));
    if (view.look.raw)
        view.details = {
            raw_sentence(medians.settings, medians.points), raw_plot(medians),
            view.drawn ? fmt::format("sample {}", controls.draw + 1) : "the weights on the right",
            row_numbers(pair, medians.d_k)};
}

}  // namespace

Verdict verdict_of(double evenness) {
    if (evenness >= kHealthyEvenness) return Verdict::healthy;
    return evenness >= kSaturatedEvenness ? Verdict::saturating : Verdict::saturated;
}

const SaturationPoint* Medians::at(Index width) const {
    const auto found = std::ranges::find(points, width, &SaturationPoint::d_k);
    return found == points.end() ? nullptr : &*found;
}

Index nearest_stop(double d_k) {
    const double last = std::log2(static_cast<double>(sweep_widths().back()));
    const double power = std::round(std::log2(std::max(d_k, 1.0)));
    return Index{1} << static_cast<int>(std::clamp(power, 0.0, last));
}

Index next_stop(Index d_k, int steps) {
    const double power = std::log2(static_cast<double>(std::max<Index>(d_k, 1)));
    const double next = steps > 0 ? std::floor(power) + 1.0 : std::ceil(power) - 1.0;
    return nearest_stop(std::exp2(next));
}

SaturationView build_saturation_view(const AppState& state) {
    SaturationView view;
    view.controls = shown_saturation(state);
    view.look = saturation_look(state);
    const SaturationSettings& settings = view.controls.settings;
    view.drawn = settings.model == SaturationModel::sampled;
    view.model_text = model_text(settings);
    view.logits = written_logits(settings.logits);
    view.tex = fmt::format(R"(a = \mathrm{{softmax}}(\frac{{{}}}{{\sqrt{{d_k}}}}))",
                           view.drawn ? R"(q \cdot k)" : "s");
    view.formula = tex::plain_text(view.tex);
    if (shows_softmax_alone(state))
        fill_softmax_alone(state, view);
    else
        fill_gradients(state, view);
    return view;
}

}  // namespace attn::view
