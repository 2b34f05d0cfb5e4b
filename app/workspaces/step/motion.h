#pragma once

#include <vector>

#include "app/common/action.h"
#include "app/common/sheet.h"

namespace attn::view {

struct AppState;

// A switch of head, scaling, mask or temperature morphs the matrix of the stage that is shown: each number, and its colour
// with it, goes to what it is now. Only in a window, whose clock ticks: a picture shows what is. What is dragged or typed, and
// reduced motion, change at once.

inline constexpr double kMotionSeconds = 0.4;

/// Keeps what is shown, before an action.
void keep_shown(AppState& state, const Action& action);
/// After the action: on the way from there, where the same cells have other numbers.
void begin_motion(AppState& state);
/// The clock of the window.
void move_on(AppState& state, double seconds);
/// Row after row, from + (to − from) e with e = t² (3 − 2t), t the part of the time that went; a number that is not finite, or
/// comes from one, is what it is now. Empty: nothing moves there.
std::vector<float> moving_values(const AppState& state, Stage stage);

}  // namespace attn::view
