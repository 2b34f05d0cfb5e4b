#pragma once

#include <optional>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/workspaces/gradients/actions.h"
#include "app/workspaces/gradients/loss_gradients.h"

namespace attn::view {

/// nullopt while Gradients is not shown, or what it shows is up to date.
std::optional<LossGradientsRequest> requested_loss_gradients(const AppState& state);
/// LossGradientsReady.
Action run(const LossGradientsRequest& request, const RunControl& control);

}  // namespace attn::view
