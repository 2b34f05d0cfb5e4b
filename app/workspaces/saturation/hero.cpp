#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "app/workspaces/saturation/parts.h"
#include "app/workspaces/saturation/requests.h"
#include "app/workspaces/saturation/words.h"

namespace attn::view {
namespace {

bool has_area(const GapView& gap) {
    for (std::size_t n = 0; n < gap.x.size(); ++n)
        if (gap.high[n] > gap.low[n]) return true;
    return false;
}

/// Collects the pieces of the area under `upper` and above `lower`, which share their x.
class Gaps {
  public:
    Gaps(const CurveView& upper, const CurveView& lower) {
        for (std::size_t n = 0; n < upper.x.size(); ++n) {
            const double gap = upper.y[n] - lower.y[n];
            if (n > 0 && before_ * gap < 0.0) cross(upper, n, gap);
            if (gap >= 0.0)
                push(upper.x[n], upper.y[n], lower.y[n]);
            else
                finish();  // also where it is NaN
            before_ = gap;
        }
        finish();
    }
    std::vector<GapView> take() { return std::move(pieces_); }

  private:
    void push(double x, double high, double low) {
        piece_.x.push_back(x);
        piece_.high.push_back(high);
        piece_.low.push_back(low);
    }
    /// Between n − 1 and n, on the straight lines of a log x axis.
    void cross(const CurveView& upper, std::size_t n, double gap) {
        const double t = before_ / (before_ - gap);
        const double y = std::lerp(upper.y[n - 1], upper.y[n], t);
        push(std::exp(std::lerp(std::log(upper.x[n - 1]), std::log(upper.x[n]), t)), y, y);
    }
    void finish() {
        if (has_area(piece_)) pieces_.push_back(piece_);
        piece_ = {};
    }

    GapView piece_;
    std::vector<GapView> pieces_;
    double before_ = 0.0;
};

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
    return point ? point->unscaled.jacobian.median : std::numeric_limits<double>::quiet_NaN();
}

/// Both gradients at `to`, and how they changed from the pin.
std::string stop_tooltip(const SaturationPoint& from, const SaturationPoint& to) {
    const double scaled = to.scaled.jacobian.median;
    const double unscaled = to.unscaled.jacobian.median;
    return fmt::format(
        "‖∂a/∂s‖_F: unscaled {}, scaled {}.\nAgainst d_k = {}: unscaled {}, scaled {}.\nClick to "
        "compare with this one.",
        measure(unscaled), measure(scaled), from.d_k,
        change_words(from.unscaled.jacobian.median, unscaled),
        change_words(from.scaled.jacobian.median, scaled));
}

StopView stop_view(Index d_k, const Medians& medians) {
    StopView stop;
    stop.d_k = d_k;
    if (d_k == medians.pin) stop.change = "pin";
    const SaturationPoint* from = medians.at(medians.pin);
    const SaturationPoint* to = medians.at(d_k);
    if (from == nullptr || to == nullptr) return stop;
    if (d_k != medians.pin)
        stop.change = change_tick(unscaled_gradient(from), unscaled_gradient(to));
    stop.tooltip = stop_tooltip(*from, *to);
    return stop;
}

std::string headline_of(const Medians& medians) {
    if (medians.pin == medians.d_k)
        return fmt::format("d_k {} is pinned: move the handle to compare", medians.pin);
    const std::string way = fmt::format("d_k {} → {}", medians.pin, medians.d_k);
    const SaturationPoint* from = medians.at(medians.pin);
    const SaturationPoint* to = medians.here();
    if (from == nullptr || to == nullptr) return way + ": …";
    return fmt::format("{}: unscaled {}, scaled {}", way,
                       change_words(unscaled_gradient(from), unscaled_gradient(to)),
                       change_words(from->scaled.jacobian.median, to->scaled.jacobian.median));
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
    return fmt::format("{} draws: {} to {} with 95 % confidence", medians.settings.trials,
                       change_words(before, to->unscaled.jacobian.sure_high),
                       change_words(before, to->unscaled.jacobian.sure_low));
}

}  // namespace

HeroView hero_view(const Medians& medians) {
    HeroView hero;
    hero.plot = gradient_plot(medians);
    hero.gaps = Gaps(hero.plot.curves[0], hero.plot.curves[1]).take();
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
    hero.stops_caption =
        fmt::format("unscaled gradient against d_k = {}: ÷ smaller, × larger; click one to pin it",
                    medians.pin);
    return hero;
}

}  // namespace attn::view
