#pragma once

#include "app/common/command.h"
#include "app/common/map/state.h"

namespace attn::view {

/// Closer, farther, the whole matrix; `whole`: the key of the last.
void add_zoom_commands(const CommandAdder& add, const MapLook& look, Key whole = Key::f);
/// How pooled weights become colours; Key::none: in the palette only.
void add_color_commands(const CommandAdder& add, const MapLook& look, Key pooling, Key scale);
/// What can be done with the map where it stands for a stage.
void add_map_commands(const CommandAdder& add, const AppState& state);

}  // namespace attn::view
