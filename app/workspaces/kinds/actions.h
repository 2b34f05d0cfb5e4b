#pragma once

#include <string>

#include "app/common/action.h"
#include "app/workspaces/kinds/controls.h"
#include "app/workspaces/kinds/state.h"

namespace attn::view {

// Settings of the Kinds workspace, undone; the pair that is looked at; the steps of the online softmax.

/// One setting of one side as text: kind_settings() has them.
struct SetKind {
    KindsSide side;
    std::string setting;
    std::string value;
    static constexpr Meta kMeta{"set_kind", Kind::drag};
    friend void describe(Visitor& visit, SetKind& action) {
        visit("side", action.side, kKindsSideNames);
        visit("setting", action.setting);
        visit("value", action.value);
    }
    friend void carry_out(AppState& state, const SetKind& action);
};
/// Both sides, of kinds_presets().
struct ChooseKinds {
    std::string pair;
    static constexpr Meta kMeta{"choose_kinds", Kind::edit, fields<&ChooseKinds::pair>};
    friend void carry_out(AppState& state, const ChooseKinds& action);
};
struct SwapKinds {
    static constexpr Meta kMeta{"swap_kinds", Kind::edit};
    friend void carry_out(AppState& state, const SwapKinds& action);
};
/// Side `from` onto the other.
struct CopyKind {
    KindsSide from;
    static constexpr Meta kMeta{"copy_kind", Kind::edit};
    friend void describe(Visitor& visit, CopyKind& action) {
        visit("from", action.from, kKindsSideNames);
    }
    friend void carry_out(AppState& state, const CopyKind& action);
};
/// Of the parameters that a score needs.
struct SetKindsSeed {
    std::uint64_t seed;
    static constexpr Meta kMeta{"set_kinds_seed", Kind::drag, fields<&SetKindsSeed::seed>};
    friend void carry_out(AppState& state, const SetKindsSeed& action);
};

struct SelectKindsPair {
    Index row;
    Index column;
    static constexpr Meta kMeta{"select_kinds_pair", Kind::plain,
                                fields<&SelectKindsPair::row, &SelectKindsPair::column>};
    friend void carry_out(AppState& state, const SelectKindsPair& action);
};
struct MovePair {
    int rows;
    int columns;
    static constexpr Meta kMeta{"move_pair", Kind::plain,
                                fields<&MovePair::rows, &MovePair::columns>};
    friend void carry_out(AppState& state, const MovePair& action);
};

/// The online softmax in place of the comparison.
struct ShowOnline {
    bool on;
    static constexpr Meta kMeta{"show_online", Kind::plain, fields<&ShowOnline::on>};
    friend void carry_out(AppState& state, const ShowOnline& action);
};
/// Whose scores it goes through.
struct SetOnlineSide {
    KindsSide side;
    static constexpr Meta kMeta{"set_online_side", Kind::edit};
    friend void describe(Visitor& visit, SetOnlineSide& action) {
        visit("side", action.side, kKindsSideNames);
    }
    friend void carry_out(AppState& state, const SetOnlineSide& action);
};
/// Keys that it takes at a time.
struct SetOnlineChunk {
    Index keys;
    static constexpr Meta kMeta{"set_online_chunk", Kind::drag, fields<&SetOnlineChunk::keys>};
    friend void carry_out(AppState& state, const SetOnlineChunk& action);
};
struct StepOnline {
    int steps;
    static constexpr Meta kMeta{"step_online", Kind::plain, fields<&StepOnline::steps>};
    friend void carry_out(AppState& state, const StepOnline& action);
};
struct GoToOnlineEnd {
    bool last;
    static constexpr Meta kMeta{"go_to_online_end", Kind::plain, fields<&GoToOnlineEnd::last>};
    friend void carry_out(AppState& state, const GoToOnlineEnd& action);
};
struct PlayOnline {
    static constexpr Meta kMeta{"play_online", Kind::plain};
    friend void carry_out(AppState& state, const PlayOnline& action);
};

using KindsActions =
    ActionList<SetKind, ChooseKinds, SwapKinds, CopyKind, SetKindsSeed, SelectKindsPair, MovePair,
               ShowOnline, SetOnlineSide, SetOnlineChunk, StepOnline, GoToOnlineEnd, PlayOnline>;

}  // namespace attn::view
