#include "app/common/actions.h"
#include "app/common/document/actions.h"

namespace attn::view {

void carry_out(AppState& state, const FocusControl& action) {
    state.focus.control = action.control;
}
void carry_out(AppState& state, const TypeInto& action) { state.focus.typing = action.typing; }
void carry_out(AppState& state, const MoveInList& action) { state.focus.row = action.row; }

}  // namespace attn::view
