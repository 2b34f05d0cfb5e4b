#pragma once

#include "app/ui/common/frame.h"
#include "app/view/actions.h"
#include "app/view/step/predict.h"

namespace attn::ui {

/// A bar for each entry of the row, which the hand drags or the keys change; once it is revealed the row stands beside the guess.
/// Fills the current window.
void draw_prediction(const view::PredictView& view, const Frame& frame, view::Actions& out);

}  // namespace attn::ui
