#pragma once

#include <string>

#include "app/common/action.h"
#include "app/common/set_field.h"
#include "app/workspaces/heads/image.h"
#include "app/workspaces/heads/state.h"

namespace attn::view {

struct Document;

// What of the heads of all layers is looked at.

/// By the key of a measure, largest first; "": by layer and head.
struct SortHeads {
    std::string measure;
    static constexpr auto kJournalNames = journal_names("sort_heads", "measure");
};
struct SetHeadsRange {
    bool own;
    static constexpr auto kJournalNames = journal_names("set_heads_range", "own");
};
/// The first pinned is A, the second B; a third takes the place of B.
struct PinHead {
    Index layer, head;
    bool on;
    static constexpr auto kJournalNames = journal_names("pin_head", "layer", "head", "on");
};
struct UnpinHeads {
    static constexpr auto kJournalNames = journal_names("unpin_heads");
};
struct SwapPins {
    static constexpr auto kJournalNames = journal_names("swap_pins");
};
struct SelectHeadsPair {
    Index row, column;
    static constexpr auto kJournalNames = journal_names("select_heads_pair", "row", "column");
};
/// Under the pointer.
using HoverHead = Put<heads_look, &HeadsLook::hovered>;
using HoverHeadsPair = Put<heads_look, &HeadsLook::hovered_pair>;
/// In place of the weights, by its key in the table of core/head_views.h.
struct ShowHeadsAs {
    std::string show;
    static constexpr auto kJournalNames = journal_names("show_heads_as", "show");
};
/// Colours by "linear", "root" or "log".
struct SetHeadsCurve {
    std::string curve;
    static constexpr auto kJournalNames = journal_names("set_heads_curve", "curve");
};
/// "none", "first", or "limit" with the least mean weight of a key that is clipped.
struct ClipSinks {
    std::string by;
    double limit;
    static constexpr auto kJournalNames = journal_names("clip_sinks", "by", "limit");
};
/// "matrix", "lines", "text", "dimensions", "circuit" or "alignment".
struct SetHeadForm {
    std::string form;
    static constexpr auto kJournalNames = journal_names("set_head_form", "form");
};
/// The token between source and target of an alignment.
struct PartTextAt {
    std::string token;
    static constexpr auto kJournalNames = journal_names("part_text_at", "token");
};
/// "pictures", "scatter", "table", "sweep" or "corpus".
struct SetHeadsList {
    std::string list;
    static constexpr auto kJournalNames = journal_names("set_heads_list", "list");
};
/// Heads that a measure names; "none": those without a label; "": all.
struct FilterHeadsByLabel {
    std::string label;
    static constexpr auto kJournalNames = journal_names("filter_heads_by_label", "label");
};
/// Heads of which a measure is at least `least`; "": all.
struct FilterHeadsByMeasure {
    std::string measure;
    double least;
    static constexpr auto kJournalNames =
        journal_names("filter_heads_by_measure", "measure", "least");
};
/// Keys of two measures.
struct ScatterHeads {
    std::string x, y;
    static constexpr auto kJournalNames = journal_names("scatter_heads", "x", "y");
};
/// What a sweep puts in place of what it changes, "zero", "mean" or "patch", and what it shows, "logits" or "kl".
struct SweepHeads {
    std::string by, show;
    static constexpr auto kJournalNames = journal_names("sweep_heads", "by", "show");
};
/// What it changes: "heads", "residual" or "mlp".
struct SweepOver {
    std::string part;
    static constexpr auto kJournalNames = journal_names("sweep_over", "part");
};
/// The text that a patch is taken from.
struct PatchSweep {
    std::string from;
    static constexpr auto kJournalNames = journal_names("patch_sweep", "from");
};
/// Which tokens of both stand for each other, "0=0, 3=4"; "": the common beginning and end.
struct PairTokens {
    std::string pairs;
    static constexpr auto kJournalNames = journal_names("pair_tokens", "pairs");
};
/// The token that is to be paired next.
using ChooseToPair = Put<heads_look, &HeadsLook::pairing>;
/// Of a sweep without heads.
struct SelectSwept {
    Index layer, position;
    static constexpr auto kJournalNames = journal_names("select_swept", "layer", "position");
};
/// "head", "layer" or "filter": which heads stand large together.
struct SetHeadsOf {
    std::string of;
    static constexpr auto kJournalNames = journal_names("set_heads_of", "of");
};
/// "qk", "ov" or "composition"; over "text" or "vocabulary".
struct ShowCircuit {
    std::string show, over;
    static constexpr auto kJournalNames = journal_names("show_circuit", "show", "over");
};
struct SelectCircuitCell {
    Index row, column;
    static constexpr auto kJournalNames = journal_names("select_circuit_cell", "row", "column");
};
using HoverCircuit = Put<heads_look, &HeadsLook::hovered_circuit>;
struct HeadsReady {
    std::shared_ptr<const Document> document{};
    std::string backend{};  // as asked for
    std::shared_ptr<const HeadsResult> result{};
};
struct HeadsSwept {
    std::shared_ptr<const SweptModel> swept{};
};
struct HeadsCorpusRead {
    std::shared_ptr<const HeadsCorpus> corpus{};
};
struct HeadAnswerRead {
    std::shared_ptr<const HeadAnswer> answer{};
};
/// Of every head, as CSV, to the clipboard.
struct CopyHeadMeasures {
    static constexpr auto kJournalNames = journal_names("copy_head_measures");
};

using HeadsActions = ActionList<
    ViewActions<SortHeads, SetHeadsRange, PinHead, UnpinHeads, SwapPins, SelectHeadsPair,
                ShowHeadsAs, SetHeadsCurve, ClipSinks, SetHeadForm, PartTextAt, SetHeadsList,
                FilterHeadsByLabel, FilterHeadsByMeasure, ScatterHeads, SweepHeads, SweepOver,
                PatchSweep, PairTokens, SelectSwept, SetHeadsOf, ShowCircuit, SelectCircuitCell,
                CopyHeadMeasures, SetImageOpacity, SetImageMass, SetImageSmooth>,
    Answers<HeadsReady, HeadsSwept, HeadsCorpusRead, HeadAnswerRead>,
    TransientActions<HoverHead, HoverHeadsPair, HoverCircuit, ChooseToPair>>;
template <ListedIn<HeadsActions> A>
inline constexpr Meta kMetaOf<A> = HeadsActions::kMeta<A>;

}  // namespace attn::view
