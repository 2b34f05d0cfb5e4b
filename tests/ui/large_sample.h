#pragma once

#include "app/workspaces/large/view.h"

namespace attn::test {

/// Hand-made states of the Map workspace: nothing is computed.

/// What looks at a square matrix of `tokens`, all of it in a canvas of 1000 × 700.
view::MapLook sample_look(Index tokens);
/// Moves it there.
void look_at(view::MapLook& look, const view::MapCamera& camera);

view::LargeView sample_empty_map();
view::LargeView sample_loading_map();
view::LargeView sample_faulty_map();
/// All of it, sampled, the exact pass offered, lists, profiles, roofline.
view::LargeView sample_overview(const view::MapLook& look);
/// Single cells with figures, one selected, the needle in view.
view::LargeView sample_close_up(const view::MapLook& look);
/// `view` with every text as long as it may get.
view::LargeView with_long_words(view::LargeView view);

}  // namespace attn::test
