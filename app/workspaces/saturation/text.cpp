#include "app/workspaces/saturation/text.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/format.h"
#include "app/workspaces/saturation/gradients.h"
#include "core/softmax.h"

namespace attn::view {
namespace {

/// Of a largest weight: "94 %", "99.9 %" where a whole number would say all of it.
std::string share_description(double p) {
    if (p == 1.0) return "100 %";
    if (p >= 0.9995) return "more than 99.9 %";
    if (p >= 0.985 || p < 0.095) return percent(p);
    return fmt::format("{:.0f} %", 100.0 * p);
}

std::string largest_description(double p) {
    return "the largest weight is " + share_description(p);
}

/// ", and the gradient …": unscaled against scaled, neither of them NaN; told apart where the draws are enough.
std::string gradient_text(const Band& scaled, const Band& unscaled) {
    if (unscaled.median == 0.0 && scaled.median == 0.0)
        return "; softmax passes no gradient, and scaling does not change that.";
    if (unscaled.median == 0.0) return ", and the gradient through softmax is 0.";
    if (scaled.median == 0.0) return ", and softmax passes a gradient only without scaling.";
    const GradientChange change = gradient_change({scaled.sure_low, scaled.sure_high},
                                                  {unscaled.sure_low, unscaled.sure_high});
    if (change == GradientChange::open)
        return ", and more draws are needed to compare the gradient through softmax.";
    if (change == GradientChange::alike)
        return ", and the gradient through softmax is about as large as with scaling.";
    const std::string times = times_text(scaled.median, unscaled.median);
    if (change == GradientChange::less)
        return fmt::format(", and the gradient through softmax is {} than with scaling.", times);
    return fmt::format("; the gradient through softmax is {} as with scaling: none is lost here.",
                       times);
}

std::string nan_text(const SaturationPoint& point) {
    const double scaled = point.scaled.max_probability.median;
    const std::string side =
        std::isnan(scaled)
            ? "With scaling, they are NaN too."
            : fmt::format("With scaling, the largest weight is {}.", share_description(scaled));
    return fmt::format(
        "Without scaling, the scores overflow at d_k = {}: the weights and all gradients are NaN. "
        "{}",
        point.d_k, side);
}

/// Of ‖∂a/∂s‖_F, scaled over unscaled, in logs; NaN unless both are positive.
double log_gap(const SaturationPoint& point) {
    const double scaled = point.scaled.jacobian_raw.median;
    const double unscaled = point.unscaled.jacobian_raw.median;
    return scaled > 0.0 && unscaled > 0.0 ? std::log(scaled / unscaled) : std::nan("");
}

/// Whether the one with 1/√d_k is smaller as soon as that says something.
bool starts_lower(const std::vector<SaturationPoint>& sweep) {
    const auto first = std::ranges::find_if(sweep, [](const auto& p) { return p.d_k > 1; });
    return first != sweep.end() && log_gap(*first) < 0.0;
}

/// ‖∂a/∂s‖_F of a = softmax(β z), z the fixed logits: ∂a/∂s = J · factor.
double raw_norm(const std::vector<double>& logits, double beta, double factor) {
    std::vector<double> a = logits;
    for (double& each : a) each *= beta;
    softmax_row(std::span<const double>(a), a, EmptyRows::zero);
    return factor * row_metrics(std::span<const double>(a), std::ssize(a)).jacobian_frobenius;
}

/// As log_gap(), of fixed logits at any d_k; ∞ where only the scaled softmax passes a gradient.
double fixed_gap(const std::vector<double>& logits, double d_k) {
    const double root = std::sqrt(d_k);
    return std::log(raw_norm(logits, 1.0, 1.0 / root)) - std::log(raw_norm(logits, root, 1.0));
}

/// Where the sign of fixed_gap() changes between two d_k, by bisection to rounding.
double fixed_root(const std::vector<double>& logits, double low, double high) {
    const bool rises = fixed_gap(logits, low) < 0.0;
    for (int step = 0; step < 60; ++step) {
        const double middle = (low + high) / 2;
        ((fixed_gap(logits, middle) < 0.0) == rises ? low : high) = middle;
    }
    return low;
}

/// "cross at d_k ≈ 197"; of draws "cross between d_k = 128 and 256", then by commas.
std::string crossing_text(const std::vector<Crossing>& crossings) {
    const bool exact = crossings.front().low == crossings.front().high;
    const auto place = [](double d_k) {
        return d_k < 99.95 ? significant(d_k, 3) : grouped(std::llround(d_k));
    };
    std::vector<std::string> places;
    for (const Crossing& each : crossings)
        places.push_back(exact ? place(each.low)
                               : fmt::format("{} and {}", place(each.low), place(each.high)));
    return fmt::format("cross {}{}",
                       exact ? "at d_k ≈ " : "between d_k = ", fmt::join(places, ", "));
}

double change(double from, double to) { return std::max(from, to) / std::min(from, to); }

}  // namespace

std::string ratio_number(double ratio) {
    if (ratio < 9.95) return fmt::format("{:.1f}", ratio);
    if (ratio >= 99500.0) return significant(ratio, 2);
    const double unit = std::max(1.0, std::pow(10.0, std::floor(std::log10(ratio)) - 1.0));
    return grouped(std::llround(ratio / unit) * std::llround(unit));
}

std::string change_text(double from, double to) {
    if (std::isnan(from) || std::isnan(to)) return "NaN";
    if (from == 0.0 && to == 0.0) return "stays 0";
    if (from == to) return "the same";
    if (to == 0.0) return "0";
    if (from == 0.0) return "no longer 0";
    const std::string ratio = ratio_number(change(from, to));
    if (ratio == "1.0") return "about the same";
    return ratio + (to < from ? " times smaller" : " times as large");
}

std::string change_tick(double from, double to) {
    if (from == 0.0 && to == 0.0) return "0";
    if (std::isnan(from) || std::isnan(to)) return "NaN";
    if (to == 0.0) return "÷∞";
    if (from == 0.0) return "×∞";
    const double ratio = change(from, to);
    const std::string text = ratio < 9999.5 ? ratio_number(ratio) : significant(ratio, 1);
    return text == "1.0" ? "≈" : (to < from ? "÷" : "×") + text;
}

std::string root_text(Index d_k) {
    const double root = std::sqrt(static_cast<double>(d_k));
    const bool whole = root == std::floor(root);
    return whole ? fmt::format("√{} = {}", d_k, root) : fmt::format("√{} ≈ {:.1f}", d_k, root);
}

std::string saturation_sentence(const SaturationSettings& settings, const SaturationPoint& point) {
    const bool drawn = settings.model == SaturationModel::sampled;
    const double p = point.unscaled.max_probability.median;
    if (std::isnan(p)) return nan_text(point);
    if (!drawn && settings.logits.size() == 1)
        return "There is one key: softmax always gives it 100 % and passes no gradient, with or "
               "without scaling.";
    if (point.d_k == 1)
        return fmt::format(
            "At d_k = 1, ÷√d_k divides by √1 = 1 and changes nothing: {} either way.",
            largest_description(p));
    return fmt::format(
        "Without scaling, {} {}: {}{}",
        drawn ? "the scores have standard deviation" : "the logits stay multiplied by",
        root_text(point.d_k), largest_description(p),
        gradient_text(point.scaled.jacobian, point.unscaled.jacobian));
}

std::string sentence_note(const SaturationSettings& settings) {
    const std::string gradient = "Gradient: ‖∂a/∂z‖_F, where z is the input of softmax.";
    if (settings.model == SaturationModel::fixed_logits)
        return fmt::format(
            "s = √d_k × [{}]: the factor √d_k is set by hand, and scaling removes it exactly. {}",
            listed(settings.logits), gradient);
    return fmt::format("Medians of {} draw{} of q and {} keys from N(0, 1), seed {}. {}",
                       grouped(settings.trials), settings.trials == 1 ? "" : "s", settings.keys,
                       settings.seed, gradient);
}

std::vector<Crossing> raw_crossings(const SaturationSettings& settings,
                                    const std::vector<SaturationPoint>& sweep) {
    std::vector<Crossing> places;
    const SaturationPoint* last = nullptr;  // the last point at which one of them was larger
    for (const SaturationPoint& point : sweep) {
        const double gap = log_gap(point);
        if (std::isnan(gap) || gap == 0.0) continue;
        if (last != nullptr && log_gap(*last) * gap < 0.0) {
            Crossing crossing{static_cast<double>(last->d_k), static_cast<double>(point.d_k)};
            if (settings.model == SaturationModel::fixed_logits)
                crossing.low = crossing.high =
                    fixed_root(settings.logits, crossing.low, crossing.high);
            places.push_back(crossing);
        }
        last = &point;
    }
    return places;
}

std::string raw_sentence(const SaturationSettings& settings,
                         const std::vector<SaturationPoint>& sweep) {
    const std::string what =
        "Scaling multiplies the Jacobian with respect to the raw score s by 1/√d_k: ∂a/∂s = J/√d_k";
    if (sweep.empty()) return what + ".";  // nothing is computed yet
    const std::string start =
        starts_lower(sweep) ? "; the curve with scaling starts lower, and" : ";";
    const std::vector<Crossing> crossings = raw_crossings(settings, sweep);
    return fmt::format("{}{} the curves {}.", what, start,
                       crossings.empty() ? "do not cross" : crossing_text(crossings));
}

}  // namespace attn::view
