#pragma once

#include <optional>
#include <string>

#include "app/common/action.h"
#include "app/workspaces/masks/state.h"

namespace attn::view {

// What the Masks workspace looks at; the mask is the document's.

struct ShowMasksTab {
    MasksTab tab;
    static constexpr Meta kMeta{"show_masks_tab", Kind::plain};
    friend void describe(Visitor& visit, ShowMasksTab& action) {
        visit("tab", action.tab, kMasksTabNames);
    }
    friend void carry_out(AppState& state, const ShowMasksTab& action);
};
/// A pair; `extend`: the other corner of the selected rectangle stays where it is.
struct SelectPair {
    Index row, column;
    bool extend;
    static constexpr Meta kMeta{"select_pair", Kind::plain,
                                fields<&SelectPair::row, &SelectPair::column, &SelectPair::extend>};
    friend void carry_out(AppState& state, const SelectPair& action);
};
struct HoverPair {
    std::optional<Pair> pair;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const HoverPair& action);
};
/// One of the two conventions: 0 is what the other is compared with.
struct SetConvention {
    Index side;
    std::string convention;
    static constexpr Meta kMeta{"set_convention", Kind::plain,
                                fields<&SetConvention::side, &SetConvention::convention>};
    friend void carry_out(AppState& state, const SetConvention& action);
};
/// The conventions are computed of the scores · 10^decades.
struct SetConventionGain {
    Index decades;
    static constexpr Meta kMeta{"set_convention_gain", Kind::plain,
                                fields<&SetConventionGain::decades>};
    friend void carry_out(AppState& state, const SetConventionGain& action);
};
/// Code that makes the mask, to the clipboard.
struct CopyMask {
    MaskCode code;
    static constexpr Meta kMeta{"copy_mask", Kind::plain};
    friend void describe(Visitor& visit, CopyMask& action) {
        visit("code", action.code, kMaskCodeNames);
    }
    friend void carry_out(AppState& state, const CopyMask& action);
};

using MasksActions =
    ActionList<ShowMasksTab, SelectPair, HoverPair, SetConvention, SetConventionGain, CopyMask>;

}  // namespace attn::view
