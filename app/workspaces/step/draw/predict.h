#pragma once

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/draw/frame.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/predict.h"

namespace attn::ui {

/// A bar for each entry of the row, which the hand drags or the keys change; once it is revealed the row stands beside the guess.
/// Fills the current window.
void draw_prediction(const view::PredictView& view, const Frame& frame, view::Actions& out);

}  // namespace attn::ui
