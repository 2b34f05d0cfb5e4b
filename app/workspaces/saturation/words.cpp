#include "app/workspaces/saturation/words.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/format.h"
#include "app/workspaces/saturation/gradients.h"

namespace attn::view {
namespace {

/// Of a largest weight: "94 %", "99.9 %" where a whole number would say all of it.
std::string share_words(double p) {
    if (p == 1.0) return "100 %";
    if (p >= 0.9995) return "more than 99.9 %";
    if (p >= 0.985 || p < 0.095) return percent(p);
    return fmt::format("{:.0f} %", 100.0 * p);
}

std::string largest_words(double p) {
    return (p >= 0.5 ? "one key takes " : "the largest weight is ") + share_words(p);
}

/// ", and the gradient …": unscaled against scaled, neither of them NaN; told apart where the draws are enough.
std::string gradient_words(const Band& scaled, const Band& unscaled) {
    if (unscaled.median == 0.0 && scaled.median == 0.0)
        return ", and softmax passes no gradient, scaled or not.";
    if (unscaled.median == 0.0) return ", and the gradient that softmax passes is 0.";
    if (scaled.median == 0.0) return ", and only the unscaled softmax passes a gradient.";
    const Way way =
        way_of({scaled.sure_low, scaled.sure_high}, {unscaled.sure_low, unscaled.sure_high});
    if (way == Way::open) return ", and so few draws leave open what gradient softmax passes.";
    if (way == Way::alike) return ", and the gradient that softmax passes is about the scaled one.";
    const std::string times = times_words(scaled.median, unscaled.median);
    if (way == Way::less)
        return fmt::format(", and the gradient that softmax passes is {} of the scaled one.",
                           times);
    return fmt::format(
        "; the gradient that softmax passes is {} the scaled one: none is lost here.", times);
}

std::string nan_words(const SaturationPoint& point) {
    const double scaled = point.scaled.max_probability.median;
    const std::string side =
        std::isnan(scaled) ? "Scaled, they are NaN too."
                           : fmt::format("Scaled, the largest weight is {}.", share_words(scaled));
    return fmt::format(
        "Without ÷√d_k the scores overflow at d_k = {}: the weights are NaN, and so is every "
        "gradient. {}",
        point.d_k, side);
}

/// Of ‖∂a/∂s‖_F, scaled over unscaled, in logs; NaN where either is no positive number.
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

/// "190": no more digits than straight lines between powers of two can give.
std::string two_digits(double value) {
    const double step = std::pow(10.0, std::max(std::floor(std::log10(value)) - 1.0, 0.0));
    return grouped(std::llround(std::round(value / step) * step));
}

std::string crossing_words(const std::vector<double>& crossings) {
    std::vector<std::string> places;
    for (const double d_k : crossings) places.push_back(two_digits(d_k));
    return fmt::format("{}", fmt::join(places, " and "));
}

double change(double from, double to) { return std::max(from, to) / std::min(from, to); }

}  // namespace

std::string ratio_number(double ratio) {
    if (ratio < 9.95) return fmt::format("{:.1f}", ratio);
    if (ratio < 99999.5) return grouped(std::llround(ratio));
    return significant(ratio, 2);
}

std::string change_words(double from, double to) {
    if (std::isnan(from) || std::isnan(to)) return "NaN";
    if (from == 0.0 && to == 0.0) return "stays 0";
    if (from == to) return "the same";
    if (to == 0.0) return "÷ ∞";
    if (from == 0.0) return "× ∞";
    const std::string ratio = ratio_number(change(from, to));
    return ratio == "1.0" ? "about the same" : (to < from ? "÷ " : "× ") + ratio;
}

std::string change_tick(double from, double to) {
    if (from == 0.0 && to == 0.0) return "0";
    if (!(from > 0.0) || !(to > 0.0)) return change_words(from, to);
    const double ratio = change(from, to);
    const std::string text = ratio < 9999.5 ? ratio_number(ratio) : significant(ratio, 1);
    return text == "1.0" ? "≈" : (to < from ? "÷" : "×") + text;
}

std::string root_words(Index d_k) {
    const double root = std::sqrt(static_cast<double>(d_k));
    const bool whole = root == std::floor(root);
    return whole ? fmt::format("√{} = {}", d_k, root) : fmt::format("√{} ≈ {:.1f}", d_k, root);
}

std::string saturation_sentence(const SaturationSettings& settings, const SaturationPoint& point) {
    const bool drawn = settings.model == SaturationModel::sampled;
    const double p = point.unscaled.max_probability.median;
    if (std::isnan(p)) return nan_words(point);
    if (!drawn && settings.logits.size() == 1)
        return "There is one key: softmax gives it 100 % whatever its score, and passes no "
               "gradient, scaled or not.";
    if (point.d_k == 1)
        return fmt::format(
            "At d_k = 1, ÷√d_k divides by √1 = 1 and changes nothing: {} either way.",
            largest_words(p));
    return fmt::format("Without ÷√d_k, {} {}: {}{}",
                       drawn ? "scores spread like" : "the logits stay multiplied by",
                       root_words(point.d_k), largest_words(p),
                       gradient_words(point.scaled.jacobian, point.unscaled.jacobian));
}

std::string sentence_note(const SaturationSettings& settings) {
    const std::string gradient = "Gradient: ‖∂a/∂z‖_F, where z is what softmax is given.";
    if (settings.model == SaturationModel::fixed_logits)
        return fmt::format(
            "s = √d_k × [{}]: the growth is put in by hand, and ÷√d_k takes it out exactly. {}",
            listed(settings.logits), gradient);
    return fmt::format("Medians of {} draws of q and {} keys from N(0, 1), seed {}. {}",
                       grouped(settings.trials), settings.keys, settings.seed, gradient);
}

std::vector<double> raw_crossings(const std::vector<SaturationPoint>& sweep) {
    std::vector<double> places;
    const SaturationPoint* last = nullptr;  // the last point at which one of them was larger
    for (const SaturationPoint& point : sweep) {
        const double gap = log_gap(point);
        if (std::isnan(gap) || gap == 0.0) continue;
        if (last != nullptr && log_gap(*last) * gap < 0.0) {
            const double before = log_gap(*last);
            const double from = std::log(static_cast<double>(last->d_k));
            const double to = std::log(static_cast<double>(point.d_k));
            places.push_back(std::exp(std::lerp(from, to, before / (before - gap))));
        }
        last = &point;
    }
    return places;
}

std::string raw_sentence(const std::vector<SaturationPoint>& sweep) {
    const std::string what =
        "By the raw score s the chain rule adds a factor, ∂a/∂s = J/√d_k when scaled";
    if (sweep.empty()) return what + ".";  // nothing is computed yet
    const std::string start =
        starts_lower(sweep) ? ": scaled starts lower because it contains 1/√d_k" : "";
    const std::vector<double> crossings = raw_crossings(sweep);
    if (crossings.empty()) return fmt::format("{}{}; the curves do not cross.", what, start);
    return fmt::format("{}{}; the curves cross near d_k ≈ {}.", what, start,
                       crossing_words(crossings));
}

}  // namespace attn::view
