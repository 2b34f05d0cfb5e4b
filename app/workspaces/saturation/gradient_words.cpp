#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/workspaces/saturation/gradients.h"
#include "app/workspaces/saturation/words.h"

namespace attn::view {
namespace {

constexpr double kAlike = 1.33;    // factors below it are none
constexpr double kOpen = 2.0;      // what may be that far apart is not called alike
constexpr double kFewDead = 0.01;  // a smaller fraction of rows is not worth a line
constexpr double kWritten = 1e4;   // a larger factor is written as a power of ten

Way median_change(const Spread& with, const Spread& without) {
    return way_of({with.sure_low, with.sure_high}, {without.sure_low, without.sure_high});
}

std::string median_words(const Spread& with, const Spread& without) {
    const Way way = median_change(with, without);
    if (way == Way::open) return "is left open by so few draws";
    if (way == Way::alike) return "is about as large";
    return without.median() == 0.0 ? "is 0" : "is " + times_words(with.median(), without.median());
}

std::string mean_words(double with, double without) {
    const Way way = way_of({with, with}, {without, without});
    if (way == Way::alike) return "about as large";
    return without == 0.0 ? "0" : times_words(with, without);
}

/// Whether the median and the mean go different ways.
bool is_opposite(const Spread& with, const Spread& without) {
    return median_change(with, without) !=
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
        return "With one key its weight is 1 whatever the score: softmax passes no gradient, with "
               "or without scaling.";
    if (point.d_k == 1) return "At d_k = 1, ÷√d_k divides by √1 = 1 and changes nothing.";
    return fmt::format(
        "Without scaling at d_k = {}, the median {}'s gradient {}, {} the mean is {}.", point.d_k,
        of == GradientOf::w_q ? "batch" : "row", median_words(with, without),
        is_opposite(with, without) ? "but" : "and", mean_words(with.mean, without.mean));
}

std::string gradient_closing(GradientOf of, const GradientPoint& point) {
    const double dead = point.unscaled.z.dead;
    if (dead < kFewDead || dead <= point.scaled.z.dead) return {};
    const Spread& with = spread_in(point.scaled, of);
    const Spread& without = spread_in(point.unscaled, of);
    const bool sparse =
        with.sure_low > kAlike * without.sure_high && without.mean > kAlike * with.mean;
    return fmt::format("Without scaling, {} of the rows pass almost no gradient{}.",
                       dead < 0.0995 || dead >= 0.985 ? percent_words(dead)
                                                      : fmt::format("{:.0f} %", 100.0 * dead),
                       sparse ? ": the gradient is sparse and heavy-tailed" : "");
}

}  // namespace attn::view
