#include "app/common/map/commands.h"

#include <fmt/format.h>

#include "app/common/map/actions.h"
#include "app/common/map/camera.h"
#include "app/common/map/words.h"

namespace attn::view {

void add_zoom_commands(const CommandAdder& add, const MapLook& look) {
    constexpr double kZoomStep = 2.0;
    const bool there = look.size != MapSize{};
    add("Zoom in", Key::plus, moved_map(look, zoomed(look, kZoomStep)), there);
    add("Zoom out", Key::minus, moved_map(look, zoomed(look, 1.0 / kZoomStep)), there);
    add("The whole matrix", Key::f, FitMap{}, there);
}

void add_color_commands(const CommandAdder& add, const MapLook& look, Key pooling, Key scale) {
    constexpr int kPoolings = 3;
    MapColors next = look.colors;
    next.pooling = static_cast<large::Pooling>((static_cast<int>(next.pooling) + 1) % kPoolings);
    add(fmt::format("Show {} of a texel", pooling_words(next.pooling)), pooling,
        SetMapColors{next});
    MapColors other = look.colors;
    other.log_scale = !other.log_scale;
    add(look.colors.log_scale ? "Linear colours" : "Logarithmic colours", scale,
        SetMapColors{other});
}

void add_map_commands(const CommandAdder& add, const AppState& state) {
    const MapLook& look = map_look(state);
    add_zoom_commands(add, look);
    if (no_needle_words(state.document()).empty()) add("Go to the needle", Key::n, GoToNeedle{});
    if (!shows_scores(look)) add_color_commands(add, look, Key::none, Key::none);
}

}  // namespace attn::view
