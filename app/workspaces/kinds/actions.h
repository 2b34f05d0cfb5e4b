#pragma once

#include <optional>
#include <string>

#include "app/common/action.h"
#include "app/workspaces/kinds/compute.h"
#include "app/workspaces/kinds/controls.h"

namespace attn::view {

struct KindsTimes;

// Settings of the Kinds workspace, undone; the pair that is looked at; the steps of the online softmax.

/// One setting of one side as text: kind_settings() has them.
struct SetKind {
    KindsSide side;
    std::string setting, value;
    static constexpr auto kJournalNames = journal_names("set_kind", "side", "setting", "value");
};
/// Both sides, of kinds_presets().
struct ChooseKinds {
    std::string pair;
    static constexpr auto kJournalNames = journal_names("choose_kinds", "pair");
};
struct SwapKinds {
    static constexpr auto kJournalNames = journal_names("swap_kinds");
};
/// Side `from` onto the other.
struct CopyKind {
    KindsSide from;
    static constexpr auto kJournalNames = journal_names("copy_kind", "from");
};
/// Of the parameters that a score needs.
struct SetKindsSeed {
    std::uint64_t seed;
    static constexpr auto kJournalNames = journal_names("set_kinds_seed", "seed");
};

struct SelectKindsPair {
    Index row, column;
    static constexpr auto kJournalNames = journal_names("select_kinds_pair", "row", "column");
};
struct MovePair {
    int rows, columns;
    static constexpr auto kJournalNames = journal_names("move_pair", "rows", "columns");
};

/// The online softmax in place of the comparison.
struct ShowOnline {
    bool on;
    static constexpr auto kJournalNames = journal_names("show_online", "on");
};
/// Whose scores it goes through.
struct SetOnlineSide {
    KindsSide side;
    static constexpr auto kJournalNames = journal_names("set_online_side", "side");
};
/// Keys that it takes at a time.
struct SetOnlineChunk {
    Index keys;
    static constexpr auto kJournalNames = journal_names("set_online_chunk", "keys");
};
struct StepOnline {
    int steps;
    static constexpr auto kJournalNames = journal_names("step_online", "steps");
};
struct GoToOnlineEnd {
    bool last;
    static constexpr auto kJournalNames = journal_names("go_to_online_end", "last");
};
struct PlayOnline {
    static constexpr auto kJournalNames = journal_names("play_online");
};

/// How long each side takes here. Not undone.
struct MeasureKinds {
    static constexpr auto kJournalNames = journal_names("measure_kinds");
};
/// Both sides, where a job computed them.
struct KindsReady {
    std::shared_ptr<const KindsResult> result{};
};
struct KindsMeasured {
    std::shared_ptr<const KindsTimes> measured{};
};

using KindsActions = ActionList<ViewActions<SelectKindsPair, MovePair, ShowOnline, StepOnline,
                                            GoToOnlineEnd, PlayOnline, MeasureKinds>,
                                EditActions<ChooseKinds, SwapKinds, CopyKind, SetOnlineSide>,
                                DragActions<SetKind, SetKindsSeed, SetOnlineChunk>,
                                Answers<KindsReady, KindsMeasured>>;
template <ListedIn<KindsActions> A>
inline constexpr Meta kMetaOf<A> = KindsActions::kMeta<A>;

/// Both sides computed again for their times alone.
struct KindsTimeRequest {
    std::shared_ptr<const KindsResult> of;
    bool operator==(const KindsTimeRequest&) const = default;
};
/// nullopt unless it was asked for: nothing is measured at rest.
std::optional<KindsTimeRequest> requested_kinds_time(const AppState& state);
/// KindsMeasured.
Action run(const KindsTimeRequest& request, const RunControl& control);

}  // namespace attn::view
