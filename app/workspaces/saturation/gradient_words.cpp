#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/workspaces/saturation/gradients.h"
#include "app/workspaces/saturation/words.h"

namespace attn::view {
namespace {

constexpr double kAlike = 1.33;  // factors below it are none
constexpr double kOpen = 2.0;    // what may be that far apart is not called alike
constexpr double kManyDead = 0.1;
constexpr double kWritten = 1e4;  // a larger factor is told as a power of ten

std::string typical_words(const Spread& with, const Spread& without) {
    const Way way = way_of({with.sure_low, with.sure_high}, {without.sure_low, without.sure_high});
    if (way == Way::open) return "a gradient that the draws leave open";
    if (way == Way::alike) return "about the same gradient";
    if (without.median() == 0.0) return "no gradient";
    const std::string times = times_words(with.median(), without.median());
    return times + (way == Way::less ? " of the gradient" : " the gradient");
}

std::string mean_words(double with, double without) {
    const Way way = way_of({with, with}, {without, without});
    if (way == Way::alike) return "about as long";
    return without == 0.0 ? "0" : times_words(with, without) + " as long";
}

/// Whether the median and the mean go different ways.
bool is_opposite(const Spread& with, const Spread& without) {
    return way_of({with.sure_low, with.sure_high}, {without.sure_low, without.sure_high}) !=
           way_of({with.mean, with.mean}, {without.mean, without.mean});
}

}  // namespace

Way way_of(const Interval& from, const Interval& to) {
    if (to.high < from.low && from.low >= kAlike * to.high) return Way::less;
    if (to.low > from.high && to.low >= kAlike * from.high) return Way::more;
    const bool close = from.high <= kOpen * to.low && to.high <= kOpen * from.low;
    return close || from == to ? Way::alike : Way::open;
}

std::string times_words(double from, double to) {
    if (to >= from) return ratio_number(to / from) + " times";
    const double less = from / to;
    if (less < kWritten) return "1/" + ratio_number(less);
    return "under 1/" + power_of_ten(static_cast<int>(std::floor(std::log10(less))));
}

const Spread& spread_in(const GradientSide& side, GradientOf of) {
    const Spread* spreads[] = {&side.z, &side.s, &side.q, &side.w_q};
    return *spreads[static_cast<std::size_t>(of)];
}

std::string gradient_sentence(GradientOf of, const GradientPoint& point) {
    const Spread& with = spread_in(point.scaled, of);
    const Spread& without = spread_in(point.unscaled, of);
    if (with.percentiles[100] == 0.0 && without.percentiles[100] == 0.0)
        return "With one key its weight is 1 whatever the score: softmax passes no gradient, "
               "scaled or not.";
    if (point.d_k == 1) return "At d_k = 1, ÷√d_k divides by √1 = 1 and changes nothing.";
    return fmt::format("Without ÷√{}, a typical {} passes {}, {} the mean is {}.", point.d_k,
                       of == GradientOf::w_q ? "batch" : "row", typical_words(with, without),
                       is_opposite(with, without) ? "yet" : "and",
                       mean_words(with.mean, without.mean));
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
