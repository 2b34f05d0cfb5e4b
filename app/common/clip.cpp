#include "app/common/clip.h"

#include <algorithm>

#include "app/common/state.h"

namespace attn::view {

void carry_out(AppState& state, const RecordClip& action) {
    clip_look(state).records = action.on;
    clip_look(state).seconds.reset();
}

void carry_out(AppState& state, const ExportClip& action) {
    clip_look(state).records = true;
    clip_look(state).seconds = std::clamp(action.seconds, 0.1, 60.0);
}

void carry_out(AppState& state, const RecordClipAs& action) {
    clip_look(state) = {true, action.format};
}

}  // namespace attn::view
