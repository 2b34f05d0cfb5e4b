#pragma once

#include <string>
#include <vector>

#include "app/common/action.h"
#include "core/stage.h"

namespace attn::view {

// What is changed inside the model that is open, which runs again: DocumentReady follows.

struct SwitchHead {
    Index layer, head;
    bool on;
    static constexpr auto kJournalNames = journal_names("switch_head", "layer", "head", "on");
};
struct SwitchAllHeadsOn {
    static constexpr auto kJournalNames = journal_names("switch_all_heads_on");
};
/// A weight for each key in place of softmax's, for one query of a head.
struct ReplaceRow {
    Index layer, head;
    Index query;
    std::vector<double> weights;
    static constexpr auto kJournalNames =
        journal_names("replace_row", "layer", "head", "query", "weights");
};
struct RestoreRow {
    Index layer, head;
    Index query;
    static constexpr auto kJournalNames = journal_names("restore_row", "layer", "head", "query");
};
/// Asks for the text; of k and v `head` is a key head.
struct AskPatch {
    Index layer, head;
    Stage part;  // q, k or v
};
/// q, k or v of a head of the model from a text of as many tokens, position by position.
struct PatchHead {
    Index layer, head;
    Stage part;
    std::string text;
    static constexpr auto kJournalNames =
        journal_names("patch_head", "layer", "head", "part", "text");
};
struct RemovePatch {
    Index layer, head;
    Stage part;
    static constexpr auto kJournalNames = journal_names("remove_patch", "layer", "head", "part");
};
/// Every intervention.
struct RemoveInterventions {
    static constexpr auto kJournalNames = journal_names("remove_interventions");
};

using InterventionActions =
    ActionList<ViewActions<SwitchHead, SwitchAllHeadsOn, ReplaceRow, RestoreRow, PatchHead,
                           RemovePatch, RemoveInterventions>,
               TransientActions<AskPatch>>;
template <ListedIn<InterventionActions> A>
inline constexpr Meta kMetaOf<A> = InterventionActions::kMeta<A>;

}  // namespace attn::view
