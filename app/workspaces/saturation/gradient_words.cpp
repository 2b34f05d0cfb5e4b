#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/workspaces/saturation/gradients.h"

namespace attn::view {
namespace {

/// Bounds that a sentence may name, of each power of ten: none lies where a factor of 16 keys at the stops falls, so that no
/// seed takes it over one.
constexpr std::array<double, 4> kRungs{1.0, 2.3, 3.0, 5.5};
constexpr double kAlike = 1.33;  // factors below it are none
constexpr double kOpen = 2.0;    // what may be that far apart is not called alike
constexpr double kManyDead = 0.1;

}  // namespace

std::string bound_below(double factor) {
    const double power = std::pow(10.0, std::floor(std::log10(factor)));
    double bound = kAlike;
    for (const double scale : {power, power * 10.0})
        for (const double rung : kRungs)
            if (rung * scale <= factor && rung * scale > bound) bound = rung * scale;
    if (bound < 1e4) return bound < 10.0 ? significant(bound, 3) : grouped(std::llround(bound));
    return power_of_ten(static_cast<int>(std::floor(std::log10(bound))));
}

Change change_of(const Interval& from, const Interval& to) {
    const double less = to.high > 0.0 ? from.low / to.high : HUGE_VAL;
    const double more = from.high > 0.0 ? to.low / from.high : HUGE_VAL;
    if (to.high < from.low && less >= kAlike) return {Way::less, less};
    if (to.low > from.high && more >= kAlike) return {Way::more, more};
    const bool close = from.high <= kOpen * to.low && to.high <= kOpen * from.low;
    return {close || from == to ? Way::alike : Way::open, 1.0};
}

namespace {

std::string typical_words(const Change& change) {
    if (change.way == Way::open) return "a gradient that the draws leave open";
    if (change.way == Way::alike) return "about the same gradient";
    if (!std::isfinite(change.factor)) return "no gradient";
    if (change.way == Way::less)
        return fmt::format("under 1/{} of the gradient", bound_below(change.factor));
    return fmt::format("over {} times the gradient", bound_below(change.factor));
}

std::string mean_words(const Change& change) {
    if (change.way == Way::alike) return "about as long";
    if (!std::isfinite(change.factor)) return "0";
    if (change.way == Way::less)
        return fmt::format("under 1/{} as long", bound_below(change.factor));
    return fmt::format("over {} times as long", bound_below(change.factor));
}

}  // namespace

const Spread& spread_in(const GradientSide& side, GradientOf of) {
    const Spread* spreads[] = {&side.z, &side.s, &side.q, &side.w_q};
    return *spreads[static_cast<std::size_t>(of)];
}

std::string gradient_sentence(GradientOf of, const GradientPoint& point) {
    const Spread& with = spread_in(point.scaled, of);
    const Spread& without = spread_in(point.unscaled, of);
    if (with.percentiles[100] == 0.0 && without.percentiles[100] == 0.0)
        return "With one key its weight is 1 whatever the score: softmax passes no gradient, "
               "scaled "
               "or not.";
    if (point.d_k == 1) return "At d_k = 1, ÷√d_k divides by √1 = 1 and changes nothing.";
    const Change typical =
        change_of({with.sure_low, with.sure_high}, {without.sure_low, without.sure_high});
    const Change mean = change_of({with.mean, with.mean}, {without.mean, without.mean});
    const bool opposite = typical.way != mean.way;
    return fmt::format("Without ÷√{}, a typical {} passes {}, {} the mean is {}.", point.d_k,
                       of == GradientOf::w_q ? "batch" : "row", typical_words(typical),
                       opposite ? "yet" : "and", mean_words(mean));
}

std::string gradient_closing(const GradientPoint& point) {
    const bool longer = point.unscaled.q.mean > kAlike * point.scaled.q.mean;
    const double dead = point.unscaled.z.dead;
    if (!longer || dead <= std::max(kManyDead, point.scaled.z.dead)) return {};
    return fmt::format(
        "Without ÷√d_k the signal is rare and violent, not small. {} rows pass nothing, few pass "
        "far too much.",
        dead > 0.5 ? "Most" : "Many");
}

}  // namespace attn::view
