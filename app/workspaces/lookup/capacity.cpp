#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/state.h"
#include "app/workspaces/lookup/view.h"

namespace attn::view {
namespace {

using Points = std::vector<CapacityPoint>;

const CapacityPoint* point_at(const Points& points, Index d_k) {
    const auto found = std::ranges::find(points, d_k, &CapacityPoint::d_k);
    return found == points.end() ? nullptr : &*found;
}

/// A number of each draw over d_k.
struct DrawnCurve {
    std::string label;
    Role role;
    DrawnNumber CapacityPoint::*number;
    bool dashed = false;
};

void add_drawn(PlotView& plot, const Points& points, const DrawnCurve& of) {
    CurveView curve;
    curve.label = of.label;
    curve.role = of.role;
    curve.dashed = of.dashed;
    for (const CapacityPoint& point : points) {
        const DrawnNumber& drawn = point.*of.number;
        curve.x.push_back(static_cast<double>(point.d_k));
        curve.y.push_back(drawn.median);
        curve.low.push_back(drawn.low);
        curve.high.push_back(drawn.high);
    }
    const CapacityPoint* const here = point_at(points, static_cast<Index>(plot.marker_x));
    const double value =
        here == nullptr ? std::numeric_limits<double>::quiet_NaN() : (here->*of.number).median;
    plot.marker_ys.push_back(value);
    plot.marker_texts.push_back(here == nullptr ? "…" : significant(value, 3));
    plot.curves.push_back(std::move(curve));
}

/// From the first of `ticks` to the last.
PlotView plot_of(const Points& points, const LookupControls& controls, std::string title,
                 const std::string& tip, const std::vector<DrawnCurve>& curves,
                 std::vector<double> ticks) {
    PlotView plot;
    plot.title = std::move(title);
    plot.tooltip = tip + " Drag to set d_k.";
    plot.x_low = static_cast<double>(kFewestCapacityWidth);
    plot.x_high = static_cast<double>(kMostCapacityWidth);
    for (const Index d_k : capacity_widths()) {
        plot.x_ticks.push_back(static_cast<double>(d_k));
        plot.x_tick_labels.push_back(std::to_string(d_k));
    }
    plot.marker_x = static_cast<double>(controls.width);
    for (const DrawnCurve& curve : curves) add_drawn(plot, points, curve);
    plot.y_low = ticks.front();
    plot.y_high = ticks.back();
    for (const double each : ticks) plot.y_tick_labels.push_back(fmt::format("{:g}", each));
    plot.y_ticks = std::move(ticks);
    return plot;
}

std::string capacity_point(const LookupControls& controls, const CapacityPoint& here) {
    return fmt::format(
        "{} random keys of width d_k = {}, each used as its own query at τ = {}: other pairs "
        "take {} of the weight, at worst {} (medians of {}).",
        controls.capacity.pairs, here.d_k, number(controls.capacity.temperature),
        percent_text(here.interference.median), percent_text(here.worst.median),
        counted(controls.capacity.draws, "draw"));
}

/// What the nearest key takes, of the two alone.
std::string near_text(const LookupControls& controls, const CapacityPoint& here) {
    const double cosine = here.near_cosine.median;
    const double ratio = std::exp((cosine - 1.0) / controls.capacity.temperature);
    return fmt::format(
        "The two nearest keys have cosine c = {} (median of {}). When one is looked up, the other "
        "gets "
        "exp((c − 1) / τ) = {} times its weight.",
        number(cosine), counted(controls.capacity.draws, "draw"), number(ratio));
}

/// From which width on the interference stays under one percent in the median draw.
std::string enough_text(const Points& points) {
    const CapacityPoint* first = nullptr;
    for (auto point = points.rbegin(); point != points.rend(); ++point) {
        if (point->interference.median >= 0.01) break;
        first = &*point;
    }
    if (first == nullptr)
        return fmt::format(
            "Even at d_k = {}, the mean interference over keys is at least 1 % in the median draw.",
            points.back().d_k);
    double worst = 0.0;
    for (const CapacityPoint& point : points)
        if (point.d_k >= first->d_k) worst = std::max(worst, point.interference.high);
    return fmt::format(
        "From d_k = {} on, among the tested widths, the mean interference over keys is under 1 % "
        "in the median draw; the worst draw has {}.",
        first->d_k, percent_text(worst));
}

}  // namespace

CapacityView build_capacity_view(const AppState& state) {
    const LookupControls& controls = lookup_controls(state);
    const CapacityCurves& curves = capacity_curves(state);
    static const Points kNone;
    const Points& points = curves.points ? *curves.points : kNone;
    CapacityView view;
    view.stale = !curves.points || curves.of != controls.capacity;
    view.ready = !points.empty();
    view.width = controls.width;
    view.pairs = controls.capacity.pairs;
    view.temperature = controls.capacity.temperature;
    view.tau = significant(view.temperature, 3);
    view.seed = controls.capacity.seed;
    view.interference =
        plot_of(points, controls, "interference 1 − a_ii: the weight on other pairs",
                "Each pair is looked up by its own key: 1 − a_ii. Medians over draws, with the "
                "range shaded.",
                {{"mean over pairs", Role::weight, &CapacityPoint::interference},
                 {"worst pair", Role::score, &CapacityPoint::worst, true}},
                {0.0, 0.25, 0.5, 0.75, 1.0});
    view.error = plot_of(points, controls, "recall error ‖o_i − v_i‖, ‖v_i‖ = 1",
                         "Distance of the output from the stored value, mean over pairs. Values "
                         "are random unit vectors.",
                         {{"mean", Role::output, &CapacityPoint::error}}, {0.0, 0.5, 1.0, 1.5});
    view.near_cosine =
        plot_of(points, controls, "cosine of the two nearest keys", "max over i ≠ j of k_i·k_j.",
                {{"nearest", Role::key, &CapacityPoint::near_cosine}}, {0.0, 0.5, 1.0});
    const CapacityPoint* const here = point_at(points, controls.width);
    if (view.stale || here == nullptr) {
        view.point = "Computing the draws…";
        return view;
    }
    view.point = capacity_point(controls, *here);
    const std::string square = fmt::format(
        "k_i·k_j of random unit keys has mean square 1/d_k = {}; here {}. Wider keys are nearer to "
        "orthogonal, so more of them fit.",
        number(1.0 / static_cast<double>(here->d_k)), number(here->mean_square));
    view.notes = {near_text(controls, *here), square, enough_text(points)};
    return view;
}

}  // namespace attn::view
