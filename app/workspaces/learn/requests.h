#pragma once

#include <optional>

#include "app/workspaces/learn/actions.h"

namespace attn::view {

/// What is to be trained, or shown of what was. nullopt: all of it is there. app/jobs answers it again and again as the
/// training goes on.
std::optional<LearnRequest> requested_learning(const AppState& state);
/// LearnProgress, when all of it is done; of one that was stopped, what there is. For whoever has no window.
Action run(const LearnRequest& request, const RunControl& control);

}  // namespace attn::view
