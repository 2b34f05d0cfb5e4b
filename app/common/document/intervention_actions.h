#pragma once

#include <string>
#include <vector>

#include "app/common/action.h"
#include "core/heads/place.h"
#include "core/stages.h"

namespace attn::view {

// What is changed inside the model that is open, which runs again: DocumentReady follows.

struct SwitchHead {
    Index layer;
    Index head;
    bool on;
    static constexpr Meta kMeta{"switch_head", Kind::plain,
                                fields<&SwitchHead::layer, &SwitchHead::head, &SwitchHead::on>};
    friend void carry_out(AppState& state, const SwitchHead& action);
};
struct SwitchAllHeadsOn {
    static constexpr Meta kMeta{"switch_all_heads_on", Kind::plain};
    friend void carry_out(AppState& state, const SwitchAllHeadsOn& action);
};
/// A weight for each key in place of softmax's, for one query of a head.
struct ReplaceRow {
    Index layer;
    Index head;
    Index query;
    std::vector<double> weights;
    static constexpr Meta kMeta{
        "replace_row", Kind::plain,
        fields<&ReplaceRow::layer, &ReplaceRow::head, &ReplaceRow::query, &ReplaceRow::weights>};
    friend void carry_out(AppState& state, const ReplaceRow& action);
};
struct RestoreRow {
    Index layer;
    Index head;
    Index query;
    static constexpr Meta kMeta{"restore_row", Kind::plain,
                                fields<&RestoreRow::layer, &RestoreRow::head, &RestoreRow::query>};
    friend void carry_out(AppState& state, const RestoreRow& action);
};
/// Asks for the text; of k and v `head` is a key head.
struct AskPatch {
    Index layer;
    Index head;
    Stage part;  // q, k or v
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const AskPatch& action);
};
/// q, k or v of a head of the model from a text of as many tokens, position by position.
struct PatchHead {
    Index layer;
    Index head;
    Stage part;
    std::string text;
    static constexpr Meta kMeta{
        "patch_head", Kind::plain,
        fields<&PatchHead::layer, &PatchHead::head, &PatchHead::part, &PatchHead::text>};
    friend void carry_out(AppState& state, const PatchHead& action);
};
struct RemovePatch {
    Index layer;
    Index head;
    Stage part;
    static constexpr Meta kMeta{
        "remove_patch", Kind::plain,
        fields<&RemovePatch::layer, &RemovePatch::head, &RemovePatch::part>};
    friend void carry_out(AppState& state, const RemovePatch& action);
};
/// Every intervention.
struct RemoveInterventions {
    static constexpr Meta kMeta{"remove_interventions", Kind::plain};
    friend void carry_out(AppState& state, const RemoveInterventions& action);
};

using InterventionActions = ActionList<SwitchHead, SwitchAllHeadsOn, ReplaceRow, RestoreRow,
                                       AskPatch, PatchHead, RemovePatch, RemoveInterventions>;

}  // namespace attn::view
