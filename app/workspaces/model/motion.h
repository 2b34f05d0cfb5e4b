#pragma once

#include "app/common/document/model_read.h"

namespace attn::view {

struct AppState;

// After another text the miniatures, bars and answers go to their new numbers together. Only in a window, whose clock ticks:
// a picture shows the numbers at once. Reduced motion changes at once.

inline constexpr double kModelMotionSeconds = 0.4;
/// Numbers of a read that move; a larger one changes at once.
inline constexpr Index kMostMoving = 400'000;

/// `read` replaces `before`, which was shown; where the two have the same matrices the picture is on its way from there.
void begin_model_motion(AppState& state, const std::shared_ptr<const ModelRead>& before);
/// The clock of the window.
void move_model_on(AppState& state, double seconds);

/// from + (to − from) e with e = t² (3 − 2t): matrices, parts of the sum and probabilities of the answers. A number that is
/// not finite is as in `to`.
ModelRead mixed_read(const ModelRead& from, const ModelRead& to, double t);
/// Both have the same matrices of the same layer.
bool have_same_shapes(const ModelRead& a, const ModelRead& b);

}  // namespace attn::view
