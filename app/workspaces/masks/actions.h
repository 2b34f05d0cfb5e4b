#pragma once

#include <optional>
#include <string>

#include "app/common/action.h"
#include "app/workspaces/masks/state.h"

namespace attn::view {

// What the Masks workspace looks at; the mask is the document's.

struct ShowMasksTab {
    MasksTab tab;
    static constexpr auto kJournalNames = journal_names("show_masks_tab", "tab");
};
/// A pair; `extend`: the other corner of the selected rectangle stays where it is.
struct SelectPair {
    Index row, column;
    bool extend;
    static constexpr auto kJournalNames = journal_names("select_pair", "row", "column", "extend");
};
struct HoverPair {
    std::optional<Pair> pair;
};
/// One of the two conventions: 0 is the baseline.
struct SetConvention {
    Index side;
    std::string convention;
    static constexpr auto kJournalNames = journal_names("set_convention", "side", "convention");
};
/// The conventions are computed of the scores · 10^decades.
struct SetConventionGain {
    Index decades;
    static constexpr auto kJournalNames = journal_names("set_convention_gain", "decades");
};
/// The brush of a click or a drag: this number for the bias, or with nullopt the mask.
struct SetBiasBrush {
    std::optional<double> value;
    static constexpr auto kJournalNames = journal_names("set_bias_brush", "value");
};
/// Code that makes the mask, to the clipboard.
struct CopyMask {
    MaskCode code;
    static constexpr auto kJournalNames = journal_names("copy_mask", "code");
};

/// From a job; of another document they change nothing.
struct MaskScoresReady {
    std::shared_ptr<const MaskScores> scores{};
};

using MasksActions = ActionList<
    ViewActions<ShowMasksTab, SelectPair, SetConvention, SetConventionGain, SetBiasBrush, CopyMask>,
    Answers<MaskScoresReady>, TransientActions<HoverPair>>;
template <ListedIn<MasksActions> A>
inline constexpr Meta kMetaOf<A> = MasksActions::kMeta<A>;

}  // namespace attn::view
