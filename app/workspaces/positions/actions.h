#pragma once

#include "app/common/action.h"
#include "app/workspaces/positions/state.h"

namespace attn::view {

/// With an even d_k, seen from the present one, a head and a distance that there are.
inline PositionsControls inside(PositionsControls controls, Index d_k) {
    PositionSettings& of = controls.settings;
    if (of.d_k % 2 == 1 && of.d_k < d_k) --of.d_k;
    if (of.d_k % 2 == 1 && of.d_k > d_k && of.d_k < 256) ++of.d_k;
    if (of.heads > 0) of.head = std::min(of.head, of.heads - 1);
    if (of.farthest > 0) controls.distance = std::min(controls.distance, of.farthest);
    return controls;
}

/// Other settings. An odd d_k goes on to the next even one; head and distance come back inside what there is.
struct SetPositions {
    PositionsControls to;
    friend void describe(Visitor& visit, SetPositions& action) { describe(visit, action.to); }
    static constexpr auto kJournalNames = journal_names("set_positions");
};

using PositionsActions = ActionList<DragActions<SetPositions>>;
template <ListedIn<PositionsActions> A>
inline constexpr Meta kMetaOf<A> = PositionsActions::kMeta<A>;

}  // namespace attn::view
