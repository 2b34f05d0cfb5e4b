#pragma once

#include <string>
#include <vector>

#include "app/workspaces/saturation/view.h"

namespace attn::view {

// The parts of the view. s raw score, z softmax's input, a weights, J = ∂a/∂z.

/// What all medians on screen are of.
struct Medians {
    std::vector<SaturationPoint>
        points;                   // of the curves, d_k rising; empty until they are computed
    SaturationSettings settings;  // that they were computed for
    Index d_k = 1, pin = 1;

    /// nullptr where d_k is not among the points.
    const SaturationPoint* at(Index width) const;
    const SaturationPoint* here() const { return at(d_k); }
};

HeroView hero_view(const Medians& medians);
/// p_max, evenness and the variance of the raw scores.
std::vector<PlotView> small_plots(const Medians& medians);
PlotView raw_plot(const Medians& medians);

/// A slope or a norm: four decimals, scientific when that would show nothing: "0.0845", "2.1·10⁻⁸".
std::string measure(double value);

}  // namespace attn::view
