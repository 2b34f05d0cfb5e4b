#pragma once

#include <string>

#include "app/view/common/action.h"
#include "app/view/kinds/controls.h"
#include "app/view/state.h"

namespace attn::view {

// Settings of the Kinds workspace, undone; the pair that is looked at; the steps of the online softmax.

/// One setting of one side as text: kind_settings() has them.
struct SetKind {
    KindsSide side;
    std::string setting;
    std::string value;
    static constexpr auto kMeta =
        meta("set_kind", Kind::drag, field("side", &SetKind::side),
             field("setting", &SetKind::setting), field("value", &SetKind::value));
    friend void carry_out(AppState& state, const SetKind& action);
};
/// Both sides, of kinds_presets().
struct ChooseKinds {
    std::string pair;
    static constexpr auto kMeta =
        meta("choose_kinds", Kind::edit, field("pair", &ChooseKinds::pair));
    friend void carry_out(AppState& state, const ChooseKinds& action);
};
struct SwapKinds {
    static constexpr auto kMeta = meta("swap_kinds", Kind::edit);
    friend void carry_out(AppState& state, const SwapKinds& action);
};
/// Side `from` onto the other.
struct CopyKind {
    KindsSide from;
    static constexpr auto kMeta = meta("copy_kind", Kind::edit, field("from", &CopyKind::from));
    friend void carry_out(AppState& state, const CopyKind& action);
};
/// Of the parameters that a score needs.
struct SetKindsSeed {
    std::uint64_t seed;
    static constexpr auto kMeta =
        meta("set_kinds_seed", Kind::drag, field("seed", &SetKindsSeed::seed));
    friend void carry_out(AppState& state, const SetKindsSeed& action);
};

struct SelectKindsPair {
    Index row;
    Index column;
    static constexpr auto kMeta =
        meta("select_kinds_pair", Kind::plain, field("row", &SelectKindsPair::row),
             field("column", &SelectKindsPair::column));
    friend void carry_out(AppState& state, const SelectKindsPair& action);
};
struct MovePair {
    int rows;
    int columns;
    static constexpr auto kMeta = meta("move_pair", Kind::plain, field("rows", &MovePair::rows),
                                       field("columns", &MovePair::columns));
    friend void carry_out(AppState& state, const MovePair& action);
};

/// The online softmax in place of the comparison.
struct ShowOnline {
    bool on;
    static constexpr auto kMeta = meta("show_online", Kind::plain, field("on", &ShowOnline::on));
    friend void carry_out(AppState& state, const ShowOnline& action);
};
/// Whose scores it goes through.
struct SetOnlineSide {
    KindsSide side;
    static constexpr auto kMeta =
        meta("set_online_side", Kind::edit, field("side", &SetOnlineSide::side));
    friend void carry_out(AppState& state, const SetOnlineSide& action);
};
/// Keys that it takes at a time.
struct SetOnlineChunk {
    Index keys;
    static constexpr auto kMeta =
        meta("set_online_chunk", Kind::drag, field("keys", &SetOnlineChunk::keys));
    friend void carry_out(AppState& state, const SetOnlineChunk& action);
};
struct StepOnline {
    int steps;
    static constexpr auto kMeta =
        meta("step_online", Kind::plain, field("steps", &StepOnline::steps));
    friend void carry_out(AppState& state, const StepOnline& action);
};
struct GoToOnlineEnd {
    bool last;
    static constexpr auto kMeta =
        meta("go_to_online_end", Kind::plain, field("last", &GoToOnlineEnd::last));
    friend void carry_out(AppState& state, const GoToOnlineEnd& action);
};
struct PlayOnline {
    static constexpr auto kMeta = meta("play_online", Kind::plain);
    friend void carry_out(AppState& state, const PlayOnline& action);
};

using KindsActions =
    ActionList<SetKind, ChooseKinds, SwapKinds, CopyKind, SetKindsSeed, SelectKindsPair, MovePair,
               ShowOnline, SetOnlineSide, SetOnlineChunk, StepOnline, GoToOnlineEnd, PlayOnline>;

}  // namespace attn::view
