#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/action.h"
#include "app/workspaces/heads/state.h"

namespace attn::view {

// What of the heads of all layers is looked at.

/// By the key of a measure, largest first; "": by layer and head.
struct SortHeads {
    std::string measure;
    static constexpr Meta kMeta{"sort_heads", Kind::plain, fields<&SortHeads::measure>};
    friend void carry_out(AppState& state, const SortHeads& action);
};
struct SetHeadsRange {
    bool own;
    static constexpr Meta kMeta{"set_heads_range", Kind::plain, fields<&SetHeadsRange::own>};
    friend void carry_out(AppState& state, const SetHeadsRange& action);
};
/// The first pinned is A, the second B; a third takes the place of B.
struct PinHead {
    Index layer;
    Index head;
    bool on;
    static constexpr Meta kMeta{"pin_head", Kind::plain,
                                fields<&PinHead::layer, &PinHead::head, &PinHead::on>};
    friend void carry_out(AppState& state, const PinHead& action);
};
struct UnpinHeads {
    static constexpr Meta kMeta{"unpin_heads", Kind::plain};
    friend void carry_out(AppState& state, const UnpinHeads& action);
};
struct SwapPins {
    static constexpr Meta kMeta{"swap_pins", Kind::plain};
    friend void carry_out(AppState& state, const SwapPins& action);
};
struct SelectHeadsPair {
    Index row;
    Index column;
    static constexpr Meta kMeta{"select_heads_pair", Kind::plain,
                                fields<&SelectHeadsPair::row, &SelectHeadsPair::column>};
    friend void carry_out(AppState& state, const SelectHeadsPair& action);
};
/// Under the pointer.
struct HoverHead {
    std::optional<HeadPlace> place;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const HoverHead& action);
};
struct HoverHeadsPair {
    std::optional<large::Cell> pair;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const HoverHeadsPair& action);
};
/// In place of the weights, by its key in the table of core/head_views.h.
struct ShowHeadsAs {
    std::string show;
    static constexpr Meta kMeta{"show_heads_as", Kind::plain, fields<&ShowHeadsAs::show>};
    friend void carry_out(AppState& state, const ShowHeadsAs& action);
};
/// Colours by "linear", "root" or "log".
struct SetHeadsCurve {
    std::string curve;
    static constexpr Meta kMeta{"set_heads_curve", Kind::plain, fields<&SetHeadsCurve::curve>};
    friend void carry_out(AppState& state, const SetHeadsCurve& action);
};
/// "none", "first", or "limit" with the least mean weight of a key that is clipped.
struct ClipSinks {
    std::string by;
    double limit;
    static constexpr Meta kMeta{"clip_sinks", Kind::plain,
                                fields<&ClipSinks::by, &ClipSinks::limit>};
    friend void carry_out(AppState& state, const ClipSinks& action);
};
/// "matrix", "lines", "text" or "dimensions".
struct SetHeadForm {
    std::string form;
    static constexpr Meta kMeta{"set_head_form", Kind::plain, fields<&SetHeadForm::form>};
    friend void carry_out(AppState& state, const SetHeadForm& action);
};
/// "pictures", "scatter" or "table".
struct SetHeadsList {
    std::string list;
    static constexpr Meta kMeta{"set_heads_list", Kind::plain, fields<&SetHeadsList::list>};
    friend void carry_out(AppState& state, const SetHeadsList& action);
};
/// Heads that a measure names; "none": those without a label; "": all.
struct FilterHeadsByLabel {
    std::string label;
    static constexpr Meta kMeta{"filter_heads_by_label", Kind::plain,
                                fields<&FilterHeadsByLabel::label>};
    friend void carry_out(AppState& state, const FilterHeadsByLabel& action);
};
/// Heads of which a measure is at least `least`; "": all.
struct FilterHeadsByMeasure {
    std::string measure;
    double least;
    static constexpr Meta kMeta{
        "filter_heads_by_measure", Kind::plain,
        fields<&FilterHeadsByMeasure::measure, &FilterHeadsByMeasure::least>};
    friend void carry_out(AppState& state, const FilterHeadsByMeasure& action);
};
/// Keys of two measures.
struct ScatterHeads {
    std::string x;
    std::string y;
    static constexpr Meta kMeta{"scatter_heads", Kind::plain,
                                fields<&ScatterHeads::x, &ScatterHeads::y>};
    friend void carry_out(AppState& state, const ScatterHeads& action);
};
struct HeadsReady {
    std::shared_ptr<const Document> document{};
    std::string backend{};  // as asked for
    std::shared_ptr<const HeadsResult> result{};
    static constexpr Meta kMeta{"", Kind::answer};
    friend void carry_out(AppState& state, const HeadsReady& action);
};
/// Of every head, as CSV, to the clipboard.
struct CopyHeadMeasures {
    static constexpr Meta kMeta{"copy_head_measures", Kind::plain};
    friend void carry_out(AppState& state, const CopyHeadMeasures& action);
};

using HeadsActions =
    ActionList<SortHeads, SetHeadsRange, PinHead, UnpinHeads, SwapPins, SelectHeadsPair, HoverHead,
               HoverHeadsPair, ShowHeadsAs, SetHeadsCurve, ClipSinks, SetHeadForm, SetHeadsList,
               FilterHeadsByLabel, FilterHeadsByMeasure, ScatterHeads, HeadsReady,
               CopyHeadMeasures>;

}  // namespace attn::view
