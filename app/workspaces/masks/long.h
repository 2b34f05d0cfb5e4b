#pragma once

#include <array>
#include <memory>
#include <optional>

#include "app/common/action.h"
#include "app/common/map/cells.h"
#include "app/workspaces/masks/view.h"
#include "core/run_control.h"
#include "core/spec.h"
#include "core/trace.h"

namespace attn {
struct ConventionResult;
}  // namespace attn

namespace attn::view {

struct ConventionScores;

/// What the mask is laid over where the document's trace has no stages, being of too many pairs: of every head, by a job.
/// No mask changes it: while one is painted it stays.
struct MaskScoresRequest {
    std::shared_ptr<const Inputs> inputs;
    AttentionSpec spec;  // without a mask
    bool operator==(const MaskScoresRequest& other) const;
};
struct MaskScores {
    MaskScoresRequest of;
    Tensor values;      // [B,H,Tq,Tk]: biased, or the stage in its place
    std::string fault;  // why the values are missing; "": they are there
};
/// nullopt where none are needed, or they are there.
std::optional<MaskScoresRequest> requested_mask_scores(const AppState& state);
/// MaskScoresReady.
Action run(const MaskScoresRequest& request, const RunControl& control);

/// What Masks shows of a sentence too long for cells, found once after the action that changes it.
struct MasksLong {
    struct Of {
        std::shared_ptr<const Document> document;
        std::shared_ptr<const Trace> trace;
        std::shared_ptr<const MaskScores>
            mask_scores;  // null: the trace has them, or they are not there
        Index batch = 0, head = 0;
        MasksTab tab = MasksTab::compose;
        std::array<std::string, 2> conventions;
        Index gain = 0;
        bool operator==(const Of&) const = default;
    } of;

    /// Masked scores and weights of the head, of `mask_scores`.
    std::shared_ptr<const ConventionResult> own;
    std::shared_ptr<const ConventionScores> scores;                  // of the second tab
    std::array<std::shared_ptr<const ConventionResult>, 2> results;  // likewise
    MapCellsSet cells;
    MasksView view;  // without transient state
};
/// Brings it up to date; called after every action.
void follow_masks(AppState& state);
/// Null where the sentence is short.
const MasksLong* long_masks(const AppState& state);

/// Scores, masked scores or weights of the head shown; 0 × 0: they are not known.
MatrixView<const float> masks_values(const AppState& state, Stage stage);
/// The masked stage: biased scores, or the stage in their place.
MatrixView<const float> unmasked_scores(const AppState& state);

}  // namespace attn::view
