#pragma once

#include "app/common/map/view.h"

namespace attn::view {

/// Where the tokens are, along the canvas: round numbers while cells are small, each token's word (or
/// number) once it fits; the starts of documents are strong marks.
std::vector<RulerMark> row_ruler(const MapLook& look);
std::vector<RulerMark> column_ruler(const MapLook& look);

/// The smallest of 1, 2, 5 · 10^n that is at least `least`; never below 1.
Index round_step(double least);

/// Sums along the edges; nullopt while there are none.
std::optional<MapProfile> row_profile(const MapLook& look);
std::optional<MapProfile> column_profile(const MapLook& look);

}  // namespace attn::view
