#include "app/window/clip.h"

#include "app/common/state.h"

namespace attn::view {

void carry_out(AppState& state, const RecordClipAs& action) {
    clip_look(state) = {true, action.format};
}

}  // namespace attn::view
