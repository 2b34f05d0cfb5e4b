#pragma once

#include "app/common/map/view.h"

namespace attn::view {

/// Fills in what the side panel of the Large workspace shows: choices, generator, lists of cells.
void add_side(LargeView& view, const AppState& state);

}  // namespace attn::view
