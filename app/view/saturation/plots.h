#pragma once

#include <string>
#include <vector>

#include "app/view/saturation/view.h"

namespace attn::view {

/// The five plots over d_k. The curves are those of `sweep` (none when it is null); the values at
/// the marker are those of `shown`, the row drawn at `d_k`.
std::vector<PlotView> saturation_plots(const std::vector<SaturationPoint>* sweep,
                                       const SaturationPair& shown, Index d_k);

/// A slope or a norm: four decimals, scientific when that would show nothing: "0.0845", "2.1e-08".
std::string measure(double value);

}  // namespace attn::view
