#pragma once

#include <string>

#include "app/common/set_field.h"
#include "app/workspaces/heads/state.h"

namespace attn::view {

// What of the heads of all layers is looked at.

/// By the key of a measure, largest first; "": by layer and head.
struct SortHeads {
    std::string measure;
};
struct SetHeadsRange {
    bool own;
};
/// The first pinned is A, the second B; a third takes the place of B.
struct PinHead {
    Index layer, head;
    bool on;
};
struct UnpinHeads {};
struct SwapPins {};
struct SelectHeadsPair {
    Index row, column;
};
/// Under the pointer.
using HoverHead = Put<heads_look, &HeadsLook::hovered>;
using HoverHeadsPair = Put<heads_look, &HeadsLook::hovered_pair>;
/// In place of the weights, by its key in the table of core/head_views.h.
struct ShowHeadsAs {
    std::string show;
};
/// Colours by "linear", "root" or "log".
struct SetHeadsCurve {
    std::string curve;
};
/// "none", "first", or "limit" with the least mean weight of a key that is clipped.
struct ClipSinks {
    std::string by;
    double limit;
};
/// "matrix", "lines", "text", "dimensions" or "circuit".
struct SetHeadForm {
    std::string form;
};
/// "pictures", "scatter", "table", "sweep" or "corpus".
struct SetHeadsList {
    std::string list;
};
/// Heads that a measure names; "none": those without a label; "": all.
struct FilterHeadsByLabel {
    std::string label;
};
/// Heads of which a measure is at least `least`; "": all.
struct FilterHeadsByMeasure {
    std::string measure;
    double least;
};
/// Keys of two measures.
struct ScatterHeads {
    std::string x, y;
};
/// What a sweep puts in place of what it changes, "zero", "mean" or "patch", and what it shows, "logits" or "kl".
struct SweepHeads {
    std::string by, show;
};
/// What it changes: "heads", "residual" or "mlp".
struct SweepOver {
    std::string part;
};
/// The text that a patch is taken from.
struct PatchSweep {
    std::string from;
};
/// Which tokens of both stand for each other, "0=0, 3=4"; "": the common beginning and end.
struct PairTokens {
    std::string pairs;
};
/// The token that is to be paired next.
using ChooseToPair = Put<heads_look, &HeadsLook::pairing>;
/// Of a sweep without heads.
struct SelectSwept {
    Index layer, position;
};
/// "head", "layer" or "filter": which heads stand large together.
struct SetHeadsOf {
    std::string of;
};
/// "qk", "ov" or "composition"; over "text" or "vocabulary".
struct ShowCircuit {
    std::string show, over;
};
struct SelectCircuitCell {
    Index row, column;
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
/// Of every head, as CSV, to the clipboard.
struct CopyHeadMeasures {};

using HeadsActions = ActionList<
    Plain<SortHeads, SetHeadsRange, PinHead, UnpinHeads, SwapPins, SelectHeadsPair, ShowHeadsAs,
          SetHeadsCurve, ClipSinks, SetHeadForm, SetHeadsList, FilterHeadsByLabel,
          FilterHeadsByMeasure, ScatterHeads, SweepHeads, SweepOver, PatchSweep, PairTokens,
          SelectSwept, SetHeadsOf, ShowCircuit, SelectCircuitCell, CopyHeadMeasures>,
    Answers<HeadsReady, HeadsSwept, HeadsCorpusRead>,
    Moments<HoverHead, HoverHeadsPair, HoverCircuit, ChooseToPair>>;
template <ListedIn<HeadsActions> A>
inline constexpr Meta kMetaOf<A> = HeadsActions::kMeta<A>;

}  // namespace attn::view
