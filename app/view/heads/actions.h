#pragma once

#include <optional>
#include <string>

#include "app/view/common/action.h"
#include "app/view/state.h"

namespace attn::view {

// What of the heads of all layers is looked at.

/// Here and in every other workspace. While two are pinned it becomes B.
struct ChooseHead {
    Index layer;
    Index head;
    static constexpr auto kMeta =
        meta("choose_head", Kind::plain, field("layer", &ChooseHead::layer),
             field("head", &ChooseHead::head));
    friend void carry_out(AppState& state, const ChooseHead& action);
};
/// By the key of a measure, largest first; "": by layer and head.
struct SortHeads {
    std::string measure;
    static constexpr auto kMeta =
        meta("sort_heads", Kind::plain, field("measure", &SortHeads::measure));
    friend void carry_out(AppState& state, const SortHeads& action);
};
struct SetHeadsRange {
    bool own;
    static constexpr auto kMeta =
        meta("set_heads_range", Kind::plain, field("own", &SetHeadsRange::own));
    friend void carry_out(AppState& state, const SetHeadsRange& action);
};
/// The first pinned is A, the second B; a third takes the place of B.
struct PinHead {
    Index layer;
    Index head;
    bool on;
    static constexpr auto kMeta = meta("pin_head", Kind::plain, field("layer", &PinHead::layer),
                                       field("head", &PinHead::head), field("on", &PinHead::on));
    friend void carry_out(AppState& state, const PinHead& action);
};
struct UnpinHeads {
    static constexpr auto kMeta = meta("unpin_heads", Kind::plain);
    friend void carry_out(AppState& state, const UnpinHeads& action);
};
struct SwapPins {
    static constexpr auto kMeta = meta("swap_pins", Kind::plain);
    friend void carry_out(AppState& state, const SwapPins& action);
};
struct SelectHeadsPair {
    Index row;
    Index column;
    static constexpr auto kMeta =
        meta("select_heads_pair", Kind::plain, field("row", &SelectHeadsPair::row),
             field("column", &SelectHeadsPair::column));
    friend void carry_out(AppState& state, const SelectHeadsPair& action);
};
/// Under the pointer.
struct HoverHead {
    std::optional<HeadPlace> place;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const HoverHead& action);
};
struct HoverHeadsPair {
    std::optional<large::Cell> pair;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const HoverHeadsPair& action);
};
/// Of every head, as CSV, to the clipboard.
struct CopyHeadMeasures {
    static constexpr auto kMeta = meta("copy_head_measures", Kind::plain);
    friend void carry_out(AppState& state, const CopyHeadMeasures& action);
};

using HeadsActions = ActionList<ChooseHead, SortHeads, SetHeadsRange, PinHead, UnpinHeads, SwapPins,
                                SelectHeadsPair, HoverHead, HoverHeadsPair, CopyHeadMeasures>;

}  // namespace attn::view
