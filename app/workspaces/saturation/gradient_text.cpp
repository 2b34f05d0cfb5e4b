#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/workspaces/saturation/gradients.h"
#include "app/workspaces/saturation/text.h"

namespace attn::view {
namespace {

constexpr double kAlike = 1.33;    // smaller factors count as equal
constexpr double kOpen = 2.0;      // what may be that far apart is not called alike
constexpr double kFewDead = 0.01;  // a smaller fraction of rows is not worth a line
constexpr double kWritten = 1e4;   // a larger factor is written as a power of ten

GradientChange median_change(const Spread& with, const Spread& without) {
    return gradient_change({with.sure_low, with.sure_high}, {without.sure_low, without.sure_high});
}

std::string median_text(const Spread& with, const Spread& without) {
    const GradientChange change = median_change(with, without);
    if (change == GradientChange::open) return "is too uncertain to compare with so few draws";
    if (change == GradientChange::alike) return "is about as large";
    return without.median() == 0.0 ? "is 0" : "is " + times_text(with.median(), without.median());
}

std::string mean_text(double with, double without) {
    const GradientChange change = gradient_change({with, with}, {without, without});
    if (change == GradientChange::alike) return "about as large";
    return without == 0.0 ? "0" : times_text(with, without);
}

/// Whether the median and the mean go different ways.
bool is_opposite(const Spread& with, const Spread& without) {
    return median_change(with, without) !=
           gradient_change({with.mean, with.mean}, {without.mean, without.mean});
}

}  // namespace

GradientChange gradient_change(const Interval& from, const Interval& to) {
    if (to.high < from.low && from.low >= kAlike * to.high) return GradientChange::less;
    if (to.low > from.high && to.low >= kAlike * from.high) return GradientChange::more;
    const bool close = from.high <= kOpen * to.low && to.high <= kOpen * from.low;
    return close || from == to ? GradientChange::alike : GradientChange::open;
}

std::string times_text(double from, double to) {
    if (to >= from) return ratio_number(to / from) + " times as large";
    const double less = from / to;
    if (less < kWritten) return ratio_number(less) + " times smaller";
    return fmt::format("over {} times smaller",
                       power_of_ten(static_cast<int>(std::floor(std::log10(less)))));
}

const Spread& spread_in(const GradientSide& side, GradientOf of) {
    const Spread* spreads[] = {&side.z, &side.s, &side.q, &side.w_q};
    return *spreads[static_cast<std::size_t>(of)];
}

std::string gradient_sentence(GradientOf of, const GradientPoint& point) {
    const Spread& with = spread_in(point.scaled, of);
    const Spread& without = spread_in(point.unscaled, of);
    if (with.percentiles[100] == 0.0 && without.percentiles[100] == 0.0)
        return "With one key, the weight is always 1: softmax passes no gradient, with or without "
               "scaling.";
    if (point.d_k == 1) return "At d_k = 1, ÷√d_k divides by √1 = 1 and changes nothing.";
    return fmt::format(
        "Without scaling at d_k = {}, the median {}'s gradient {}, {} the mean is {}.", point.d_k,
        of == GradientOf::w_q ? "batch" : "row", median_text(with, without),
        is_opposite(with, without) ? "but" : "and", mean_text(with.mean, without.mean));
}

std::string gradient_closing(GradientOf of, const GradientPoint& point) {
    const double dead = point.unscaled.z.dead;
    if (dead < kFewDead || dead <= point.scaled.z.dead) return {};
    const Spread& with = spread_in(point.scaled, of);
    const Spread& without = spread_in(point.unscaled, of);
    const bool sparse =
        with.sure_low > kAlike * without.sure_high && without.mean > kAlike * with.mean;
    return fmt::format(
        "Without scaling, {} of the rows pass almost no gradient{}.",
        dead < 0.0995 || dead >= 0.985 ? percent_text(dead) : fmt::format("{:.0f} %", 100.0 * dead),
        sparse ? ": the gradient is sparse and heavy-tailed" : "");
}

}  // namespace attn::view
