#pragma once

#include <cmath>

#include "tests/view/large_sample.h"

namespace attn::view {

inline Tensor waves(Index tokens, double pace) {
    Tensor tensor(Shape{1, 1, tokens, 8});
    for (const auto [i, c] : each_cell(tokens, 8))
        tensor(0, 0, i, c) =
            static_cast<float>(2.0 * std::sin(pace * static_cast<double>(i * 8 + c)));
    return tensor;
}

/// Queries, keys and values of so many tokens; the state of a first launch otherwise.
inline AppState state_with(Index tokens, const AttentionSpec& spec = {}) {
    Inputs inputs;
    inputs.q = waves(tokens, 0.37);
    inputs.k = waves(tokens, 0.53);
    inputs.v = waves(tokens, 0.71);
    Document document = document_of({std::make_shared<const Inputs>(std::move(inputs))});
    document.name = document.title = "waves";
    document.spec = spec;
    return state_of(std::move(document)).value();
}

/// The map of what is shown, all of it there; the selected cell explained.
inline AppState mapped(AppState state, const Actions& actions = {}) {
    state = after(std::move(state), actions);
    while (const auto request = requested_map_input(state))
        state = after(std::move(state), {run(*request, {})});
    state = idle_state(after(std::move(state), {Tick{1.0}}));  // at rest
    if (const auto request = requested_map_cell(state))
        state = after(std::move(state), {run(*request, {})});
    return state;
}

}  // namespace attn::view
