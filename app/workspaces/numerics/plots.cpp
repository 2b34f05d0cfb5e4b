#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/format.h"
#include "app/workspaces/numerics/parts.h"

namespace attn::view {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeastUlp = 0.1;  // of the axis: what is closer stands on it
constexpr double kLeastTop = 100.0;

PlotView empty_plot(SoftmaxAlgorithm algorithm, Index gain) {
    PlotView plot;
    plot.title = fmt::format("{}: error over the gain", title_of(algorithm));
    plot.tooltip =
        "The largest |a − exact| of the row, in units of the format's spacing about the exact "
        "weight; both axes log. × : from here on NaN, or every weight 0. Drag, or ← and →.";
    plot.x_low = 1.0;
    plot.x_high = static_cast<double>(kMostGain);
    plot.x_label = "gain";
    for (const int power : {0, 4, 8, 12, 16}) {
        plot.x_ticks.push_back(std::exp2(power));
        plot.x_tick_labels.push_back(std::to_string(1 << power));
    }
    plot.log_y = true;
    plot.marker_x = static_cast<double>(gain);
    return plot;
}

/// Every so many decades, so that there are six ticks at most.
void set_y_axis(PlotView& plot, double most) {
    const int decades = static_cast<int>(std::ceil(std::log10(std::max(kLeastTop, 2.0 * most))));
    plot.y_low = kLeastUlp;
    plot.y_high = std::pow(10.0, decades);
    const int stride = std::max(1, decades / 4);
    for (int decade = 0; decade <= decades; decade += stride) {
        plot.y_ticks.push_back(std::pow(10.0, decade));
        plot.y_tick_labels.push_back(decade == 0   ? "1 ulp"
                                     : decade == 1 ? "10"
                                                   : power_of_ten(decade));
    }
}

bool is_broken(const NumericsPoint& point) { return point.outcome != Outcome::finite; }

/// The first gain from which on every one of the sweep breaks it; nullptr where none does.
const NumericsPoint* break_of(const std::vector<NumericsPoint>& points) {
    const auto last = std::ranges::find_if_not(points.rbegin(), points.rend(), is_broken);
    const auto first = last.base();
    return first == points.end() ? nullptr : &*first;
}

CurveView curve_of(FloatFormat format, const std::vector<NumericsPoint>& points) {
    CurveView curve;
    curve.label = info(format).name;
    curve.role = role_of(format);
    curve.parted = true;
    for (const NumericsPoint& point : points) {
        curve.x.push_back(static_cast<double>(point.gain));
        curve.y.push_back(std::isnan(point.ulp) ? kNone : std::max(point.ulp, kLeastUlp));
    }
    return curve;
}

void add_format(PlotView& plot, FloatFormat format, const CheckedRun& here,
                const std::vector<NumericsPoint>& points) {
    plot.curves.push_back(curve_of(format, points));
    const bool broken = here.run.outcome() != Outcome::finite;
    plot.marker_ys.push_back(broken ? kNone : std::max(here.error.ulp, kLeastUlp));
    std::string text = broken ? "NaN" : ulp_words(here.error.ulp);
    if (here.run.outcome() == Outcome::zeros) text = "all 0";
    plot.marker_texts.push_back(std::move(text));
}

/// On the upper edge, which a curve leaves the area by; lower where another stands there already.
double mark_height(const PlotView& plot, double gain) {
    const auto near = [&](const PlotMark& mark) {
        return std::abs(std::log2(mark.x / gain)) < 0.8;
    };
    const auto others = static_cast<double>(std::ranges::count_if(plot.marks, near));
    return plot.y_high * std::pow(plot.y_high / plot.y_low, -0.09 * others);
}

/// Where each format breaks.
void add_breaks(PlotView& plot, SoftmaxAlgorithm algorithm, const NumericsSweep& sweep) {
    for (std::size_t f = 0; f < kFloatFormatCount; ++f) {
        const auto format = static_cast<FloatFormat>(f);
        const NumericsPoint* const from = break_of(sweep.of(algorithm, format));
        if (from == nullptr) continue;
        const auto gain = static_cast<double>(from->gain);
        plot.marks.push_back({gain, mark_height(plot, gain), role_of(format), "", true});
    }
}

}  // namespace

double largest_error(const NumericsRuns& here, const NumericsSweep* sweep) {
    double most = 0.0;
    const auto take = [&](double ulp) { most = std::isfinite(ulp) ? std::max(most, ulp) : most; };
    for (const CheckedRun& checked : here.runs) take(checked.error.ulp);
    if (sweep == nullptr) return most;
    for (const auto& formats : sweep->curves)
        for (const auto& points : formats)
            for (const NumericsPoint& point : points) take(point.ulp);
    return most;
}

PlotView error_plot(SoftmaxAlgorithm algorithm, const NumericsRuns& here,
                    const NumericsSweep* sweep, double most) {
    PlotView plot = empty_plot(algorithm, here.gain);
    for (std::size_t f = 0; f < kFloatFormatCount; ++f) {
        const auto format = static_cast<FloatFormat>(f);
        const std::vector<NumericsPoint> none;
        add_format(plot, format, here.of(algorithm, format),
                   sweep ? sweep->of(algorithm, format) : none);
    }
    set_y_axis(plot, most);
    if (sweep) add_breaks(plot, algorithm, *sweep);
    return plot;
}

std::string break_words(SoftmaxAlgorithm algorithm, const NumericsSweep* sweep) {
    if (sweep == nullptr) return "computing…";
    std::vector<std::string> found;
    for (std::size_t f = 0; f < kFloatFormatCount; ++f) {
        const auto format = static_cast<FloatFormat>(f);
        if (const NumericsPoint* from = break_of(sweep->of(algorithm, format)))
            found.push_back(fmt::format("{} from {}", info(format).name, grouped(from->gain)));
    }
    if (found.empty()) return fmt::format("× none breaks up to gain {}", grouped(kMostGain));
    return fmt::format("× breaks: {}", fmt::join(found, ", "));
}

}  // namespace attn::view
