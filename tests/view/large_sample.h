#pragma once

#include "app/view/large/view.h"
#include "tests/view/sample_states.h"

namespace attn::view {

/// A state that looks at a planted matrix; nothing of it is computed but Q and K.
inline AppState planted_state(large::PlantedSpec spec = {.tokens = 1024}) {
    AppState state = after(initial_state(), {OpenPlanted{spec}, SetMapCanvas{{1000.0, 800.0}}});
    const auto input = std::make_shared<const large::MapInput>(large::plant(spec).value());
    return after(std::move(state), {MapInputReady{state.large.origin, input, ""}});
}

/// The same with what a map answers, once all of the view is there.
inline AppState settled_state(AppState state, const Actions& actions = {}) {
    state = after(std::move(state), actions);
    large::WeightMap map(state.large.input, {}, [] {});
    map.want(wanted_map(state)->wish);
    map.settle();
    return after(std::move(state), {MapReady{state.large.origin, map.snapshot()}});
}

}  // namespace attn::view
