#pragma once

#include "app/common/action.h"
#include "app/workspaces/positions/state.h"

namespace attn::view {

/// Other settings. An odd d_k goes on to the next even one; head and distance come back inside what there is.
struct SetPositions {
    PositionsControls to;
    static constexpr Meta kMeta{"set_positions", Kind::drag};
    friend void describe(Visitor& visit, SetPositions& action) { describe(visit, action.to); }
    friend void carry_out(AppState& state, const SetPositions& action);
};

using PositionsActions = ActionList<SetPositions>;

}  // namespace attn::view
