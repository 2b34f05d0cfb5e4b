#pragma once

#include "app/common/action.h"
#include "app/common/state.h"
#include "core/large/weight_map.h"

namespace attn::view {

struct LargeLook {
    large::PlantedSpec draft;  // what "generate" would make
};
inline constexpr Look<LargeLook> large_look;

/// The generator's settings; not made yet.
struct DraftPlanted {
    large::PlantedSpec spec;
    static constexpr Meta kMeta{"draft_planted", Kind::plain, fields<&DraftPlanted::spec>};
    friend void carry_out(AppState& state, const DraftPlanted& action);
};

using LargeActions = ActionList<DraftPlanted>;

}  // namespace attn::view
