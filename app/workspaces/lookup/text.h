#pragma once

#include <string>

#include "app/workspaces/lookup/state.h"

namespace attn::view {

// What the Lookup workspace says.

/// "(1.60, 0.30)"
std::string point_text(const PlanePoint& at);
std::string page_title(LookupPage page);
/// What can be done there.
std::string page_hint(LookupPage page);
/// Of the pair that is looked at.
std::string pair_sentence(const AppState& state);
/// A difference in a few digits; none at all is "exactly 0".
std::string difference_text(double by, int digits = 3);
/// "sinusoidal waves, added to X"
std::string position_text(PermutationPosition position);
/// The pair of tokens that is looked at.
std::string cell_sentence(const AppState& state);

}  // namespace attn::view
