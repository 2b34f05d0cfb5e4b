#pragma once

#include "app/common/state.h"

namespace attn::view {

/// Copies the theme, scale and other settings of the window from `state`.
inline void keep_room(AppState& session, const AppState& state) {
    const auto keep = [&](auto... members) { ((session.*members = state.*members), ...); };
    keep(&AppState::theme, &AppState::ui_scale, &AppState::reduced_motion, &AppState::inspector,
         &AppState::presenter, &AppState::backend);
}

}  // namespace attn::view
