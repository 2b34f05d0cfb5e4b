#pragma once

#include <string>
#include <vector>

#include "app/common/inspector.h"
#include "app/workspaces/step/state.h"

namespace attn::view {

/// "a, b and c": " and " is what stands before the last.
std::string joined(const std::vector<std::string>& items, const char* last);

/// The inputs that a computed number is made from, by the operands of the stage table and the mask: rows of X (or of
/// Q, K and V where they are given), a W or one column of it. Empty for an input, and for a weight that the mask alone
/// decides. `cell` must exist.
std::vector<SourceLink> sources_of(const AppState& state, const CellRef& cell);

/// "scores[cat, sat] is computed: change X[cat], X[sat], W_Q or W_K." Of an input: that it can be changed there.
std::string source_text(const AppState& state, const CellRef& cell);

}  // namespace attn::view
