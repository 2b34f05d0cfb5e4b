#pragma once

#include <optional>
#include <string>

#include "app/view/common/action.h"
#include "app/view/state.h"

namespace attn::view {

// The document's mask, rule by rule and painted (undone), and what the Masks workspace looks at.

struct SetCausalMask {
    CausalChoice causal;
    static constexpr auto kMeta =
        meta("set_causal_mask", Kind::edit, field("causal", &SetCausalMask::causal));
    friend void carry_out(AppState& state, const SetCausalMask& action);
};
/// Valid keys of the sequence shown; nullopt: no padding mask.
struct SetPadding {
    std::optional<Index> keys;
    static constexpr auto kMeta = meta("set_padding", Kind::drag, field("keys", &SetPadding::keys));
    friend void carry_out(AppState& state, const SetPadding& action);
};
/// nullopt: no block mask.
struct SetBlock {
    std::optional<Index> length;
    static constexpr auto kMeta = meta("set_block", Kind::drag, field("length", &SetBlock::length));
    friend void carry_out(AppState& state, const SetBlock& action);
};
/// Places that a query sees to its left and to its right; both nullopt: no window.
struct SetWindowSides {
    std::optional<Index> left, right;
    static constexpr auto kMeta =
        meta("set_window_sides", Kind::drag, field("left", &SetWindowSides::left),
             field("right", &SetWindowSides::right));
    friend void carry_out(AppState& state, const SetWindowSides& action);
};
struct SetGlobalTokens {
    Index tokens;
    static constexpr auto kMeta =
        meta("set_global_tokens", Kind::drag, field("tokens", &SetGlobalTokens::tokens));
    friend void carry_out(AppState& state, const SetGlobalTokens& action);
};
/// What softmax gives a row without a key: 0, or NaN.
struct SetEmptyRows {
    bool nan;
    static constexpr auto kMeta =
        meta("set_empty_rows", Kind::edit, field("nan", &SetEmptyRows::nan));
    friend void carry_out(AppState& state, const SetEmptyRows& action);
};
/// Paints every pair from one to another, of this head alone where the painted mask has heads. Within a gesture a
/// rectangle replaces the one before.
struct PaintMask {
    Index row, column, to_row, to_column;
    PaintShape shape;
    bool allowed;
    static constexpr auto kMeta =
        meta("paint_mask", Kind::drag, field("row", &PaintMask::row),
             field("column", &PaintMask::column), field("to_row", &PaintMask::to_row),
             field("to_column", &PaintMask::to_column), field("shape", &PaintMask::shape),
             field("allowed", &PaintMask::allowed));
    friend void carry_out(AppState& state, const PaintMask& action);
};
/// Nothing is painted any more.
struct ClearPaint {
    static constexpr auto kMeta = meta("clear_paint", Kind::edit);
    friend void carry_out(AppState& state, const ClearPaint& action);
};
/// The rules become paint and are switched off: the same mask, every pair of which can then be painted.
struct PaintRules {
    static constexpr auto kMeta = meta("paint_rules", Kind::edit);
    friend void carry_out(AppState& state, const PaintRules& action);
};

struct ShowMasksTab {
    MasksTab tab;
    static constexpr auto kMeta =
        meta("show_masks_tab", Kind::plain, field("tab", &ShowMasksTab::tab));
    friend void carry_out(AppState& state, const ShowMasksTab& action);
};
/// A pair; `extend`: the other corner of the selected rectangle stays where it is.
struct SelectPair {
    Index row, column;
    bool extend;
    static constexpr auto kMeta =
        meta("select_pair", Kind::plain, field("row", &SelectPair::row),
             field("column", &SelectPair::column), field("extend", &SelectPair::extend));
    friend void carry_out(AppState& state, const SelectPair& action);
};
struct HoverPair {
    std::optional<Pair> pair;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const HoverPair& action);
};
/// One of the two conventions: 0 is what the other is compared with.
struct SetConvention {
    Index side;
    std::string convention;
    static constexpr auto kMeta =
        meta("set_convention", Kind::plain, field("side", &SetConvention::side),
             field("convention", &SetConvention::convention));
    friend void carry_out(AppState& state, const SetConvention& action);
};
/// The conventions are computed of the scores · 10^decades.
struct SetConventionGain {
    Index decades;
    static constexpr auto kMeta =
        meta("set_convention_gain", Kind::plain, field("decades", &SetConventionGain::decades));
    friend void carry_out(AppState& state, const SetConventionGain& action);
};
/// Code that makes the mask, to the clipboard.
struct CopyMask {
    MaskCode code;
    static constexpr auto kMeta = meta("copy_mask", Kind::plain, field("code", &CopyMask::code));
    friend void carry_out(AppState& state, const CopyMask& action);
};

using MasksActions =
    ActionList<SetCausalMask, SetPadding, SetBlock, SetWindowSides, SetGlobalTokens, SetEmptyRows,
               PaintMask, ClearPaint, PaintRules, ShowMasksTab, SelectPair, HoverPair,
               SetConvention, SetConventionGain, CopyMask>;

}  // namespace attn::view
