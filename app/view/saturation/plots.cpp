#include "app/view/saturation/plots.h"

#include <fmt/format.h>

#include <cmath>

#include "app/view/common/format.h"

namespace attn::view {
namespace {

using Sweep = std::vector<SaturationPoint>;

/// What a plot says besides its curves.
struct PlotWords {
    const char* title;
    const char* tooltip;
    std::string (*text)(double value);
};

PlotView empty_plot(const PlotWords& words, Index d_k) {
    PlotView plot;
    plot.title = words.title;
    plot.tooltip = words.tooltip;
    plot.x_low = 1.0;
    plot.x_high = 4096.0;
    plot.x_ticks = {1, 8, 64, 512, 4096};
    plot.x_tick_labels = {"1", "8", "64", "512", "4096"};
    plot.marker_x = static_cast<double>(d_k);
    return plot;
}

void set_y_axis(PlotView& plot, std::vector<double> ticks, std::vector<std::string> labels) {
    plot.y_low = ticks.front();
    plot.y_high = ticks.back();
    plot.y_ticks = std::move(ticks);
    plot.y_tick_labels = std::move(labels);
}

void add_curve(PlotView& plot, CurveView curve, double at_marker, const PlotWords& words) {
    plot.curves.push_back(std::move(curve));
    plot.marker_ys.push_back(at_marker);
    plot.marker_texts.push_back(words.text(at_marker));
}

/// `band` picks a number's band from one side.
template <class BandOf>
CurveView band_curve(const Sweep* sweep, SaturationSide SaturationPoint::*side, BandOf band) {
    CurveView curve;
    const bool is_scaled = side == &SaturationPoint::scaled;
    curve.label = is_scaled ? "scaled" : "unscaled";
    curve.role = is_scaled ? Role::weight : Role::score;
    curve.dashed = !is_scaled;
    if (!sweep) return curve;
    for (const SaturationPoint& point : *sweep) {
        const Band& values = band(point.*side);
        curve.x.push_back(static_cast<double>(point.d_k));
        curve.y.push_back(values.median);
        curve.low.push_back(values.low);
        curve.high.push_back(values.high);
    }
    if (curve.low == curve.high) curve.low = curve.high = {};
    return curve;
}

/// Scaled against unscaled. `value` gives the same number of the row shown.
template <class BandOf, class ValueOf>
PlotView side_plot(const PlotWords& words, const Sweep* sweep, const SaturationPair& shown,
                   Index d_k, BandOf band, ValueOf value) {
    PlotView plot = empty_plot(words, d_k);
    add_curve(plot, band_curve(sweep, &SaturationPoint::scaled, band), value(shown.scaled), words);
    add_curve(plot, band_curve(sweep, &SaturationPoint::unscaled, band), value(shown.unscaled),
              words);
    return plot;
}

/// `value` of each point of the sweep.
template <class ValueOf>
CurveView plain_curve(const char* label, Role role, const Sweep* sweep, ValueOf value) {
    CurveView curve;
    curve.label = label;
    curve.role = role;
    if (!sweep) return curve;
    for (const SaturationPoint& point : *sweep) {
        curve.x.push_back(static_cast<double>(point.d_k));
        curve.y.push_back(value(point));
    }
    return curve;
}

PlotView probability_plot(const Sweep* sweep, const SaturationPair& shown, Index d_k) {
    PlotView plot = side_plot(
        {"max probability  p_max", "p_max = max_j a_j, over d_k", percent}, sweep, shown, d_k,
        [](const SaturationSide& s) -> const Band& { return s.max_probability; },
        [](const SaturationRow& r) { return r.metrics.max_probability; });
    set_y_axis(plot, {0.0, 0.5, 1.0}, {"0", "50 %", "100 %"});
    return plot;
}

PlotView evenness_plot(const Sweep* sweep, const SaturationPair& shown, Index d_k) {
    PlotView plot = side_plot(
        {"evenness  H / ln n", "H / ln n, H = −Σ a ln a: 100 % is uniform, 0 % one-hot", percent},
        sweep, shown, d_k, [](const SaturationSide& s) -> const Band& { return s.evenness; },
        [](const SaturationRow& r) { return r.metrics.evenness; });
    set_y_axis(plot, {0.0, 0.5, 1.0}, {"0", "50 %", "100 %"});
    return plot;
}

PlotView jacobian_plot(const Sweep* sweep, const SaturationPair& shown, Index d_k) {
    PlotView plot = side_plot(
        {"‖∂a/∂s‖_F  softmax's input s",
         "Frobenius norm of the softmax Jacobian J with respect to its input s", measure},
        sweep, shown, d_k, [](const SaturationSide& s) -> const Band& { return s.jacobian; },
        [](const SaturationRow& r) { return r.metrics.jacobian_frobenius; });
    set_y_axis(plot, {0.0, 0.25, 0.5}, {"0", "0.25", "0.5"});
    return plot;
}

PlotView raw_jacobian_plot(const Sweep* sweep, const SaturationPair& shown, Index d_k) {
    PlotView plot = side_plot(
        {"‖∂a/∂z‖_F  raw score z",
         "The same norm with respect to the raw score z, log axis: scaled it is ‖J‖_F / √d_k and "
         "falls as a straight line; unscaled it is ‖J‖_F and falls off a cliff",
         measure},
        sweep, shown, d_k, [](const SaturationSide& s) -> const Band& { return s.jacobian_raw; },
        [](const SaturationRow& r) { return r.metrics.jacobian_frobenius * r.raw_factor; });
    plot.log_y = true;
    set_y_axis(plot, {1e-4, 1e-3, 1e-2, 1e-1, 1.0}, {"10⁻⁴", "10⁻³", "0.01", "0.1", "1"});
    return plot;
}

std::string four_digits(double value) { return significant(value, 4); }

PlotView variance_plot(const Sweep* sweep, const SaturationPair& shown, Index d_k) {
    const PlotWords words{"Var(z) against d_k",
                          "Sample variance of the raw scores z (n − 1), of z / √d_k, and the line "
                          "d_k; both axes log. The points at the marker are the variance over the "
                          "keys of the one row shown",
                          four_digits};
    PlotView plot = empty_plot(words, d_k);
    plot.log_y = true;
    const auto width = [](const SaturationPoint& p) { return static_cast<double>(p.d_k); };
    const auto raw = [](const SaturationPoint& p) { return p.score_variance; };
    const auto scaled = [=](const SaturationPoint& p) { return p.score_variance / width(p); };
    add_curve(plot, plain_curve("Var(z)", Role::score, sweep, raw),
              sample_variance(shown.unscaled.scores), words);
    add_curve(plot, plain_curve("Var(z/√d_k)", Role::weight, sweep, scaled),
              sample_variance(shown.scaled.scores), words);
    plot.curves[0].dashed = true;
    add_curve(plot, plain_curve("d_k", Role::input, sweep, width), static_cast<double>(d_k), words);
    set_y_axis(plot, {0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0},
               {"0.1", "1", "10", "100", "10³", "10⁴"});
    return plot;
}

}  // namespace

std::string measure(double value) {
    if (std::isnan(value)) return "NaN";
    if (value == 0.0 || std::abs(value) >= 0.00005) return fmt::format("{:.4f}", value);
    return significant(value, 2);
}

std::vector<PlotView> saturation_plots(const std::vector<SaturationPoint>* sweep,
                                       const SaturationPair& shown, Index d_k) {
    return {probability_plot(sweep, shown, d_k), evenness_plot(sweep, shown, d_k),
            jacobian_plot(sweep, shown, d_k), raw_jacobian_plot(sweep, shown, d_k),
            variance_plot(sweep, shown, d_k)};
}

}  // namespace attn::view
