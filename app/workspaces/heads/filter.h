#pragma once

#include <string>

#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/state.h"

namespace attn::view {

// Which of all heads are shown.

/// A head whose measure is not defined does not pass a filter on it.
bool passes(const HeadsFilter& filter, const HeadFacts& facts);
/// "12 of 144 shown"; "" where nothing is filtered.
std::string shown_count(const HeadsLook& look);
/// "12 of 144 heads: label previous token, sink ≥ 0.50."
std::string filter_words(const AppState& state);

}  // namespace attn::view
