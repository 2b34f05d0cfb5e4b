#pragma once

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/workspaces/step/actions.h"

namespace attn::view {

/// Whether the action ends the typing into a cell.
bool leaves_cell(const AppState& state, const Action& action);
/// Takes what was typed; text that is no number, or the same one, is dropped.
void leave_cell(AppState& state);

}  // namespace attn::view
