#pragma once

#include "app/common/state.h"

namespace attn::view {

/// Step has no numbers of its stage, the map that Large has does: the inspector is the map's.
bool is_map_alone(const AppState& state);

}  // namespace attn::view
