#include <fmt/format.h>

#include <cmath>

#include "app/common/format.h"
#include "app/common/keys.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/parts.h"
#include "app/workspaces/saturation/text.h"
#include "core/shape.h"

namespace attn::view {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// What a plot says besides its curves.
struct PlotText {
    std::string title;
    const char* tooltip;
    std::string (*text)(double value);
};

PlotView empty_plot(const PlotText& text, const Medians& medians) {
    PlotView plot;
    plot.title = text.title;
    plot.tooltip = text.tooltip;
    plot.x_low = 1.0;
    plot.x_high = 4096.0;
    plot.x_ticks = {1, 8, 64, 512, 4096};
    plot.x_tick_labels = {"1", "8", "64", "512", "4096"};
    plot.marker_x = static_cast<double>(medians.d_k);
    return plot;
}

void set_y_axis(PlotView& plot, std::vector<double> ticks, std::vector<std::string> labels) {
    plot.y_low = ticks.front();
    plot.y_high = ticks.back();
    plot.y_ticks = std::move(ticks);
    plot.y_tick_labels = std::move(labels);
}

CurveView named(std::string label, Role role, bool dashed) {
    return {std::move(label), role, dashed, {}, {}, {}, {}};
}

/// One curve: `value` of each point.
template <class Value>
void add_curve(PlotView& plot, CurveView curve, const Medians& medians, const PlotText& text,
               Value value) {
    for (const SaturationPoint& point : medians.points) {
        curve.x.push_back(static_cast<double>(point.d_k));
        curve.y.push_back(value(point));
    }
    const SaturationPoint* here = medians.here();
    plot.curves.push_back(std::move(curve));
    plot.marker_ys.push_back(here ? value(*here) : kNone);
    plot.marker_texts.push_back(here ? text.text(value(*here)) : "…");
}

enum class Bands { drawn, left_out };

/// Scaled and unscaled medians of one number.
void add_sides(PlotView& plot, Band SaturationSide::*number, const Medians& medians,
               const PlotText& text, Bands bands) {
    for (const auto side : {&SaturationPoint::scaled, &SaturationPoint::unscaled}) {
        const bool is_scaled = side == &SaturationPoint::scaled;
        CurveView curve = is_scaled ? named("with scaling", Role::weight, false)
                                    : named("without", Role::score, true);
        if (bands == Bands::drawn && medians.settings.model == SaturationModel::sampled)
            for (const SaturationPoint& point : medians.points) {
                curve.low.push_back((point.*side.*number).low);
                curve.high.push_back((point.*side.*number).high);
            }
        add_curve(plot, std::move(curve), medians, text,
                  [&](const SaturationPoint& point) { return (point.*side.*number).median; });
    }
}

PlotView share_plot(const PlotText& text, Band SaturationSide::*number, const Medians& medians) {
    PlotView plot = empty_plot(text, medians);
    add_sides(plot, number, medians, text, Bands::drawn);
    set_y_axis(plot, {0.0, 0.5, 1.0}, {"0", "50 %", "100 %"});
    return plot;
}

std::string four_digits(double value) { return significant(value, 4); }

PlotView variance_plot(const Medians& medians) {
    const bool drawn = medians.settings.model == SaturationModel::sampled;
    const std::string z = drawn ? "q·k" : "s";
    const PlotText text{fmt::format("Var({}): the variance of the scores", z),
                        drawn ? "Sample variance (n − 1) of all raw scores, without and with "
                                "scaling, and the line d_k; log axes"
                              : "Sample variance (n − 1) of all raw scores, without and with "
                                "scaling; log axes",
                        four_digits};
    PlotView plot = empty_plot(text, medians);
    plot.log_y = true;
    const auto width = [](const SaturationPoint& p) { return static_cast<double>(p.d_k); };
    const auto raw = [](const SaturationPoint& p) { return p.score_variance; };
    const auto scaled = [=](const SaturationPoint& p) { return p.score_variance / width(p); };
    if (drawn) add_curve(plot, named("d_k", Role::input, false), medians, text, width);
    add_curve(plot, named("without", Role::score, true), medians, text, raw);
    add_curve(plot, named("with scaling", Role::weight, false), medians, text, scaled);
    set_y_axis(plot, {0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0},
               {"0.1", "1", "10", "100", "10³", "10⁴"});
    return plot;
}

/// The end of an axis from 0 that includes `most`: 1, 2, 4 or 5 times a power of ten, at most 1/2.
double axis_end(double most) {
    if (!(most > 0.0)) return 0.5;
    const double decade = std::pow(10.0, std::floor(std::log10(most)));
    for (const double step : {1.0, 2.0, 4.0, 5.0, 10.0})
        if (step * decade >= 1.05 * most) return std::min(step * decade, 0.5);
    return std::min(20.0 * decade, 0.5);
}

/// Parts of 0 … end that are round: 5 of 0.5 and 0.1, 4 of 0.2 and 0.4.
int tick_count(double end) {
    const double digit = end / std::pow(10.0, std::floor(std::log10(end) + 1e-9));
    return digit < 1.5 || digit > 4.5 ? 5 : 4;
}

double highest(const PlotView& plot) {
    double most = 0.0;
    for (const CurveView& curve : plot.curves)
        for (const double y : curve.y) most = std::isnan(y) ? most : std::max(most, y);
    return most;
}

/// ‖∂a/∂z‖_F, scaled against unscaled; the first curve is the scaled one. No bands.
PlotView gradient_plot(const Medians& medians) {
    const PlotText text{"‖∂a/∂z‖_F: the gradient through softmax, over d_k",
                        "Frobenius norm of the softmax Jacobian J with respect to its input z: "
                        "at most 1/2. Drag the handle, or press ← and →: d_k = 1, 2, 4, … 4096",
                        measure};
    PlotView plot = empty_plot(text, medians);
    add_sides(plot, &SaturationSide::jacobian, medians, text, Bands::left_out);
    const double end = axis_end(highest(plot));
    const int parts = tick_count(end);
    std::vector<double> ticks;
    std::vector<std::string> labels;
    for (int n = 0; n <= parts; ++n) {
        ticks.push_back(end * n / parts);
        labels.push_back(significant(ticks.back(), 3));
    }
    set_y_axis(plot, std::move(ticks), std::move(labels));
    return plot;
}

// --- the large plot

/// The pieces of the area under `upper` and above `lower`, which share their x: straight lines on a log x axis.
std::vector<GapView> gaps_between(const CurveView& upper, const CurveView& lower) {
    std::vector<GapView> pieces;
    GapView piece;
    const auto push = [&](double x, double high, double low) {
        piece.x.push_back(x);
        piece.high.push_back(high);
        piece.low.push_back(low);
    };
    const auto finish = [&] {
        if (piece.high != piece.low) pieces.push_back(piece);  // it has an area
        piece = {};
    };
    double before = 0.0;
    for (std::size_t n = 0; n < upper.x.size(); ++n) {
        const double gap = upper.y[n] - lower.y[n];
        if (n > 0 && before * gap < 0.0) {  // they cross on the way here
            const double t = before / (before - gap);
            const double y = std::lerp(upper.y[n - 1], upper.y[n], t);
            push(std::exp(std::lerp(std::log(upper.x[n - 1]), std::log(upper.x[n]), t)), y, y);
        }
        if (gap >= 0.0)
            push(upper.x[n], upper.y[n], lower.y[n]);
        else
            finish();  // also where it is NaN
        before = gap;
    }
    finish();
    return pieces;
}

/// Where the gap is highest; of several such places the middle one.
void set_gap_label(HeroView& hero) {
    double most = 0.0;
    for (const GapView& gap : hero.gaps)
        for (std::size_t n = 0; n < gap.x.size(); ++n)
            most = std::max(most, gap.high[n] - gap.low[n]);
    if (!(most > 0.0)) return;
    std::vector<std::pair<double, double>> places;
    for (const GapView& gap : hero.gaps)
        for (std::size_t n = 0; n < gap.x.size(); ++n)
            if (gap.high[n] - gap.low[n] >= 0.9 * most)
                places.emplace_back(gap.x[n], (gap.high[n] + gap.low[n]) / 2);
    hero.gap_label = "gradient lost";
    std::tie(hero.gap_x, hero.gap_y) = places[places.size() / 2];
}

double unscaled_gradient(const SaturationPoint* point) {
    return point ? point->unscaled.jacobian.median : kNone;
}

/// "9.1 times smaller without scaling, about the same with scaling".
std::string changes_of(const SaturationPoint& from, const SaturationPoint& to) {
    return fmt::format("{} without scaling, {} with scaling",
                       change_text(from.unscaled.jacobian.median, to.unscaled.jacobian.median),
                       change_text(from.scaled.jacobian.median, to.scaled.jacobian.median));
}

StopView stop_view(Index d_k, const Medians& medians) {
    StopView stop{d_k, d_k == medians.pin ? "pin" : "", ""};
    const SaturationPoint* from = medians.at(medians.pin);
    const SaturationPoint* to = medians.at(d_k);
    if (from == nullptr || to == nullptr) return stop;
    if (d_k != medians.pin)
        stop.change = change_tick(unscaled_gradient(from), unscaled_gradient(to));
    stop.tooltip = fmt::format(
        "‖∂a/∂z‖_F: {} without scaling, {} with scaling.\nCompared with d_k = {}: {}.\n",
        measure(unscaled_gradient(to)), measure(to->scaled.jacobian.median), from->d_k,
        changes_of(*from, *to));
    return stop;
}

std::string headline_of(const Medians& medians) {
    if (medians.pin == medians.d_k)
        return fmt::format("d_k {} is pinned: move the handle to compare", medians.pin);
    const SaturationPoint* from = medians.at(medians.pin);
    const SaturationPoint* to = medians.here();
    return fmt::format("d_k {} → {}: gradient {}", medians.pin, medians.d_k,
                       from && to ? changes_of(*from, *to) : "…");
}

/// How far the unscaled factor may be off for so few draws: the median at d_k alone, since that of
/// narrower scores varies much less. "" where nothing is drawn or there is nothing to compare.
std::string headline_range(const Medians& medians) {
    const SaturationPoint* from = medians.at(medians.pin);
    const SaturationPoint* to = medians.here();
    const bool drawn = medians.settings.model == SaturationModel::sampled;
    if (!drawn || from == nullptr || to == nullptr || from == to || medians.settings.trials < 2)
        return {};
    const double before = unscaled_gradient(from);
    double nearer = to->unscaled.jacobian.sure_high, farther = to->unscaled.jacobian.sure_low;
    if (farther > before) std::swap(nearer, farther);
    return fmt::format("{} draws, 95 % confidence interval: {} to {}", medians.settings.trials,
                       change_text(before, nearer), change_text(before, farther));
}

}  // namespace

std::string measure(double value) {
    if (std::isnan(value)) return "NaN";
    if (value == 0.0) return "0";
    if (std::abs(value) >= 0.00005) return fmt::format("{:.4f}", value);
    return significant(value, 2);
}

PlotView raw_plot(const Medians& medians) {
    const PlotText text{
        "‖∂a/∂s‖_F: s is the raw score",
        "Norm of the Jacobian with respect to the raw score s, log axis: ‖J‖_F / √d_k "
        "with scaling, ‖J‖_F without",
        measure};
    PlotView plot = empty_plot(text, medians);
    add_sides(plot, &SaturationSide::jacobian_raw, medians, text, Bands::drawn);
    plot.log_y = true;
    set_y_axis(plot, {1e-4, 1e-3, 1e-2, 1e-1, 1.0}, {"10⁻⁴", "10⁻³", "0.01", "0.1", "1"});
    return plot;
}

std::vector<PlotView> small_plots(const Medians& medians) {
    const PlotText probability{"p_max: the largest weight", "p_max = max_j a_j, over d_k", percent};
    const PlotText evenness{"evenness: H / ln n",
                            "H / ln n, H = −Σ a ln a: 100 % is uniform, 0 % one-hot", percent};
    return {share_plot(probability, &SaturationSide::max_probability, medians),
            share_plot(evenness, &SaturationSide::evenness, medians), variance_plot(medians)};
}

HeroView hero_view(const Medians& medians) {
    HeroView hero;
    hero.plot = gradient_plot(medians);
    hero.gaps = gaps_between(hero.plot.curves[0], hero.plot.curves[1]);
    set_gap_label(hero);
    hero.pin = medians.pin;
    hero.pin_y = unscaled_gradient(medians.at(medians.pin));
    hero.headline = headline_of(medians);
    hero.headline_range = headline_range(medians);
    hero.plot.x_ticks.clear();
    hero.plot.x_tick_labels.clear();
    for (const Index d_k : sweep_widths()) {
        hero.plot.x_ticks.push_back(static_cast<double>(d_k));
        hero.plot.x_tick_labels.push_back(std::to_string(d_k));
        hero.stops.push_back(stop_view(d_k, medians));
    }
    hero.stops_caption = fmt::format(
        "gradient without scaling, compared with d_k = {}: ÷ smaller, × larger, ≈ equal. Click a "
        "width to pin "
        "it.",
        medians.pin);
    return hero;
}

}  // namespace attn::view
