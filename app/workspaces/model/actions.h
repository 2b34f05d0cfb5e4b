#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/common/action.h"
#include "app/common/document/opened.h"
#include "app/common/opener.h"
#include "app/common/set_field.h"
#include "app/workspaces/model/state.h"

namespace attn {
struct RunControl;
}  // namespace attn

namespace attn::view {

/// Shows a matrix of the shown layer large, with one number explained; "": the stack again.
struct ShowModelStage {
    std::string stage;
    std::optional<Index> row = {}, column = {};  // nullopt: as before
    static constexpr auto kJournalNames =
        journal_names("show_model_stage", "stage", "row", "column");
};
/// The token that is looked at.
struct SelectModelToken {
    Index row;
    static constexpr auto kJournalNames = journal_names("select_model_token", "row");
};
/// The answer that the inspector explains, by its number in the vocabulary.
struct ExplainAnswer {
    Index answer;
    static constexpr auto kJournalNames = journal_names("explain_answer", "answer");
};
/// A part of the answer's sum; nullopt: none. A head becomes the shown one, in every workspace.
struct SelectModelPart {
    std::optional<Index> part;
    static constexpr auto kJournalNames = journal_names("select_model_part", "part");
};
/// From a number to one of its operands; ReturnToCell comes back.
struct FollowOperand {
    Index layer;
    std::string stage;
    Index row, column;
    static constexpr auto kJournalNames =
        journal_names("follow_operand", "layer", "stage", "row", "column");
};
/// The number that was explained before.
struct ReturnToCell {
    Index layer;
    std::string stage;
    std::optional<Index> row = {}, column = {}, answer = {};
    static constexpr auto kJournalNames =
        journal_names("return_to_cell", "layer", "stage", "row", "column", "answer");
};
/// The stages of the shown layer's attention, in Step, for the token that is looked at; nullopt: the stage shown last.
struct ShowAttentionStage {
    std::optional<Stage> stage{};
    static constexpr auto kJournalNames = journal_names("show_attention_stage", "stage");
};
using ShowLogitDifference = SetField<bool, model_look, "difference", "show_logit_difference", "on">;
using ShowBlockGradients = SetField<bool, model_look, "gradients", "show_block_gradients", "on">;
/// Parameters of known models, in Whole model; off: its picture again.
struct ShowKnownModels {
    bool on;
    static constexpr auto kJournalNames = journal_names("show_known_models", "on");
};
/// The picture up to so many of its rows, counted from the tokens up; nullopt: all of it.
struct ComputeModelTo {
    std::optional<Index> until{};
    static constexpr auto kJournalNames = journal_names("compute_model_to", "until");
};
struct ModelReadReady {
    std::shared_ptr<const ReadModel> request{};
    std::shared_ptr<const ModelRead> read{};  // null: `fault` has the reason
    std::string fault{};
};

using ModelActions =
    ActionList<ViewActions<ShowModelStage, SelectModelToken, ExplainAnswer, SelectModelPart,
                           ShowLogitDifference, ShowBlockGradients, ComputeModelTo, FollowOperand,
                           ReturnToCell, ShowAttentionStage, ShowKnownModels>,
               Answers<ModelReadReady>>;
template <ListedIn<ModelActions> A>
inline constexpr Meta kMetaOf<A> = ModelActions::kMeta<A>;

/// nullopt while the workspace is not shown, or what it shows is there.
std::optional<ReadModel> requested_model_read(const AppState& state);
/// Back to the number that was explained before; nullopt: no operand was followed.
std::optional<ReturnToCell> previous_cell(const AppState& state);
/// ModelReadReady.
Action run(const ReadModel& request, const Opener& open, const RunControl& control);

}  // namespace attn::view
