#pragma once

#include "app/common/action.h"
#include "app/common/slots.h"
#include "core/large/planted_spec.h"

namespace attn::view {

struct LargeLook {
    large::PlantedSpec draft;  // what "generate" would make
};
inline constexpr Look<LargeLook> large_look;

/// The generator's settings; not made yet.
struct DraftPlanted {
    large::PlantedSpec spec;
    static constexpr auto kJournalNames = journal_names("draft_planted", "spec");
};

using LargeActions = ActionList<ViewActions<DraftPlanted>>;
template <ListedIn<LargeActions> A>
inline constexpr Meta kMetaOf<A> = LargeActions::kMeta<A>;

}  // namespace attn::view
