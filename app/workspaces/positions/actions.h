#pragma once

#include "app/common/action.h"
#include "app/workspaces/positions/state.h"

namespace attn::view {

/// Other settings. An odd d_k goes on to the next even one; head and distance come back inside what there is.
struct SetPositions {
    PositionsControls to;
    friend void describe(Visitor& visit, SetPositions& action) {
        describe_settings(visit, action.to);
    }
    static constexpr auto kJournalNames = journal_names("set_positions");
};

using PositionsActions = ActionList<DragActions<SetPositions>>;
template <ListedIn<PositionsActions> A>
inline constexpr Meta kMetaOf<A> = PositionsActions::kMeta<A>;

}  // namespace attn::view
