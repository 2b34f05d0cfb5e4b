#pragma once

#include <optional>
#include <string>
#include <vector>

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
/// In place of the weights, by its key in the table of core/head_views.h.
struct ShowHeadsAs {
    std::string show;
    static constexpr auto kMeta =
        meta("show_heads_as", Kind::plain, field("show", &ShowHeadsAs::show));
    friend void carry_out(AppState& state, const ShowHeadsAs& action);
};
/// Colours by "linear", "root" or "log".
struct SetHeadsCurve {
    std::string curve;
    static constexpr auto kMeta =
        meta("set_heads_curve", Kind::plain, field("curve", &SetHeadsCurve::curve));
    friend void carry_out(AppState& state, const SetHeadsCurve& action);
};
/// "none", "first", or "limit" with the least mean weight of a key that is clipped.
struct ClipSinks {
    std::string by;
    double limit;
    static constexpr auto kMeta = meta("clip_sinks", Kind::plain, field("by", &ClipSinks::by),
                                       field("limit", &ClipSinks::limit));
    friend void carry_out(AppState& state, const ClipSinks& action);
};
/// "matrix", "lines", "text" or "dimensions".
struct SetHeadForm {
    std::string form;
    static constexpr auto kMeta =
        meta("set_head_form", Kind::plain, field("form", &SetHeadForm::form));
    friend void carry_out(AppState& state, const SetHeadForm& action);
};
/// "pictures", "scatter" or "table".
struct SetHeadsList {
    std::string list;
    static constexpr auto kMeta =
        meta("set_heads_list", Kind::plain, field("list", &SetHeadsList::list));
    friend void carry_out(AppState& state, const SetHeadsList& action);
};
/// Heads that a measure names; "none": those without a label; "": all.
struct FilterHeadsByLabel {
    std::string label;
    static constexpr auto kMeta =
        meta("filter_heads_by_label", Kind::plain, field("label", &FilterHeadsByLabel::label));
    friend void carry_out(AppState& state, const FilterHeadsByLabel& action);
};
/// Heads of which a measure is at least `least`; "": all.
struct FilterHeadsByMeasure {
    std::string measure;
    double least;
    static constexpr auto kMeta = meta("filter_heads_by_measure", Kind::plain,
                                       field("measure", &FilterHeadsByMeasure::measure),
                                       field("least", &FilterHeadsByMeasure::least));
    friend void carry_out(AppState& state, const FilterHeadsByMeasure& action);
};
/// Keys of two measures.
struct ScatterHeads {
    std::string x;
    std::string y;
    static constexpr auto kMeta = meta("scatter_heads", Kind::plain, field("x", &ScatterHeads::x),
                                       field("y", &ScatterHeads::y));
    friend void carry_out(AppState& state, const ScatterHeads& action);
};
struct HeadsReady {
    std::shared_ptr<const HeadsResult> result{};
    static constexpr auto kMeta = unwritten(Kind::answer);
    friend void carry_out(AppState& state, const HeadsReady& action);
};
/// Of every head, as CSV, to the clipboard.
struct CopyHeadMeasures {
    static constexpr auto kMeta = meta("copy_head_measures", Kind::plain);
    friend void carry_out(AppState& state, const CopyHeadMeasures& action);
};

/// Of the model that is open, which runs again; DocumentReady follows.
struct SwitchHead {
    Index layer;
    Index head;
    bool on;
    static constexpr auto kMeta =
        meta("switch_head", Kind::plain, field("layer", &SwitchHead::layer),
             field("head", &SwitchHead::head), field("on", &SwitchHead::on));
    friend void carry_out(AppState& state, const SwitchHead& action);
};
struct SwitchAllHeadsOn {
    static constexpr auto kMeta = meta("switch_all_heads_on", Kind::plain);
    friend void carry_out(AppState& state, const SwitchAllHeadsOn& action);
};

/// A weight for each key in place of softmax's, for one query of a head of the model, which runs again.
struct ReplaceRow {
    Index layer;
    Index head;
    Index query;
    std::vector<double> weights;
    static constexpr auto kMeta =
        meta("replace_row", Kind::plain, field("layer", &ReplaceRow::layer),
             field("head", &ReplaceRow::head), field("query", &ReplaceRow::query),
             field("weights", &ReplaceRow::weights));
    friend void carry_out(AppState& state, const ReplaceRow& action);
};
struct RestoreRow {
    Index layer;
    Index head;
    Index query;
    static constexpr auto kMeta =
        meta("restore_row", Kind::plain, field("layer", &RestoreRow::layer),
             field("head", &RestoreRow::head), field("query", &RestoreRow::query));
    friend void carry_out(AppState& state, const RestoreRow& action);
};
/// Asks for the text; of k and v `head` is a key head.
struct AskPatch {
    Index layer;
    Index head;
    Stage part;  // q, k or v
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const AskPatch& action);
};
/// q, k or v of a head of the model from a text of as many tokens, position by position; the model runs again.
struct PatchHead {
    Index layer;
    Index head;
    Stage part;
    std::string text;
    static constexpr auto kMeta =
        meta("patch_head", Kind::plain, field("layer", &PatchHead::layer),
             field("head", &PatchHead::head), field("part", &PatchHead::part),
             field("text", &PatchHead::text));
    friend void carry_out(AppState& state, const PatchHead& action);
};
struct RemovePatch {
    Index layer;
    Index head;
    Stage part;
    static constexpr auto kMeta =
        meta("remove_patch", Kind::plain, field("layer", &RemovePatch::layer),
             field("head", &RemovePatch::head), field("part", &RemovePatch::part));
    friend void carry_out(AppState& state, const RemovePatch& action);
};
/// Every intervention.
struct RemoveInterventions {
    static constexpr auto kMeta = meta("remove_interventions", Kind::plain);
    friend void carry_out(AppState& state, const RemoveInterventions& action);
};

using HeadsActions =
    ActionList<ChooseHead, SortHeads, SetHeadsRange, PinHead, UnpinHeads, SwapPins, SelectHeadsPair,
               HoverHead, HoverHeadsPair, ShowHeadsAs, SetHeadsCurve, ClipSinks, SetHeadForm,
               SetHeadsList, FilterHeadsByLabel, FilterHeadsByMeasure, ScatterHeads, HeadsReady,
               CopyHeadMeasures, SwitchHead, SwitchAllHeadsOn, ReplaceRow, RestoreRow, AskPatch,
               PatchHead, RemovePatch, RemoveInterventions>;

}  // namespace attn::view
