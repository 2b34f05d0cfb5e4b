#pragma once

#include <optional>
#include <string>

#include "app/common/action.h"
#include "app/workspaces/masks/state.h"

namespace attn::view {

// The document's mask, rule by rule and painted (undone), and what the Masks workspace looks at.

struct SetCausalMask {
    CausalChoice causal;
    static constexpr Meta kMeta{"set_causal_mask", Kind::edit};
    friend void describe(Visitor& visit, SetCausalMask& action) {
        visit("causal", action.causal, kCausalNames);
    }
    friend void carry_out(AppState& state, const SetCausalMask& action);
};
/// Valid keys of the sequence shown; nullopt: no padding mask.
struct SetPadding {
    std::optional<Index> keys;
    static constexpr Meta kMeta{"set_padding", Kind::drag};
    friend void describe(Visitor& visit, SetPadding& action) { visit("keys", action.keys); }
    friend void carry_out(AppState& state, const SetPadding& action);
};
/// nullopt: no block mask.
struct SetBlock {
    std::optional<Index> length;
    static constexpr Meta kMeta{"set_block", Kind::drag};
    friend void describe(Visitor& visit, SetBlock& action) { visit("length", action.length); }
    friend void carry_out(AppState& state, const SetBlock& action);
};
/// Places that a query sees to its left and to its right; both nullopt: no window.
struct SetWindowSides {
    std::optional<Index> left, right;
    static constexpr Meta kMeta{"set_window_sides", Kind::drag};
    friend void describe(Visitor& visit, SetWindowSides& action) {
        visit("left", action.left);
        visit("right", action.right);
    }
    friend void carry_out(AppState& state, const SetWindowSides& action);
};
struct SetGlobalTokens {
    Index tokens;
    static constexpr Meta kMeta{"set_global_tokens", Kind::drag};
    friend void describe(Visitor& visit, SetGlobalTokens& action) {
        visit("tokens", action.tokens);
    }
    friend void carry_out(AppState& state, const SetGlobalTokens& action);
};
/// What softmax gives a row without a key: 0, or NaN.
struct SetEmptyRows {
    bool nan;
    static constexpr Meta kMeta{"set_empty_rows", Kind::edit};
    friend void describe(Visitor& visit, SetEmptyRows& action) { visit("nan", action.nan); }
    friend void carry_out(AppState& state, const SetEmptyRows& action);
};
/// Paints every pair from one to another, of this head alone where the painted mask has heads. Within a gesture a
/// rectangle replaces the one before.
struct PaintMask {
    Index row, column, to_row, to_column;
    PaintShape shape;
    bool allowed;
    static constexpr Meta kMeta{"paint_mask", Kind::drag};
    friend void describe(Visitor& visit, PaintMask& action) {
        visit("row", action.row);
        visit("column", action.column);
        visit("to_row", action.to_row);
        visit("to_column", action.to_column);
        visit("shape", action.shape, kPaintShapeNames);
        visit("allowed", action.allowed);
    }
    friend void carry_out(AppState& state, const PaintMask& action);
};
/// Nothing is painted any more.
struct ClearPaint {
    static constexpr Meta kMeta{"clear_paint", Kind::edit};
    friend void carry_out(AppState& state, const ClearPaint& action);
};
/// The rules become paint and are switched off: the same mask, every pair of which can then be painted.
struct PaintRules {
    static constexpr Meta kMeta{"paint_rules", Kind::edit};
    friend void carry_out(AppState& state, const PaintRules& action);
};

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
    static constexpr Meta kMeta{"select_pair", Kind::plain};
    friend void describe(Visitor& visit, SelectPair& action) {
        visit("row", action.row);
        visit("column", action.column);
        visit("extend", action.extend);
    }
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
    static constexpr Meta kMeta{"set_convention", Kind::plain};
    friend void describe(Visitor& visit, SetConvention& action) {
        visit("side", action.side);
        visit("convention", action.convention);
    }
    friend void carry_out(AppState& state, const SetConvention& action);
};
/// The conventions are computed of the scores · 10^decades.
struct SetConventionGain {
    Index decades;
    static constexpr Meta kMeta{"set_convention_gain", Kind::plain};
    friend void describe(Visitor& visit, SetConventionGain& action) {
        visit("decades", action.decades);
    }
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
    ActionList<SetCausalMask, SetPadding, SetBlock, SetWindowSides, SetGlobalTokens, SetEmptyRows,
               PaintMask, ClearPaint, PaintRules, ShowMasksTab, SelectPair, HoverPair,
               SetConvention, SetConventionGain, CopyMask>;

}  // namespace attn::view
