#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/workspaces/step/view.h"

namespace attn::view {

/// The weights that the story speaks of at this stage: after dropout from there on, where there is dropout.
Stage described_weights(const AppState& state);
/// [Tk]: 1 where the query may attend to the key, of the batch entry and head shown.
std::vector<std::uint8_t> allowed_keys(const AppState& state, Index query);

/// How the weights of one query spread, in words: "golden looks at golden 56 %, my 10 %, and 34 % on 17 others."
/// Empty rows, NaN, masks and dropout are named; percentages that do not add up say that they are rounded.
/// `query` must be a row of the weights, which the trace holds.
std::string attention_text(const AppState& state, Index query);

/// The same in parts, of the keys that have a percentage of their own: the headline.
std::vector<HeadlinePart> attention_headline(const AppState& state, Index query);

}  // namespace attn::view
