#pragma once

#include <array>
#include <memory>

#include "app/common/map/cells.h"
#include "app/workspaces/masks/conventions.h"
#include "app/workspaces/masks/view.h"

namespace attn::view {

/// What Masks shows of a sentence too long for cells, found once after the action that changes it.
struct MasksLong {
    // what it is of
    std::shared_ptr<const Document> document;
    std::shared_ptr<const Trace> trace;
    Index batch = 0, head = 0;
    MasksTab tab = MasksTab::compose;
    std::array<std::string, 2> conventions;
    Index gain = 0;
    bool operator==(const MasksLong& other) const;  // of these alone

    std::shared_ptr<const Trace>
        own;  // the stages that `trace` lacks; null: none, or too many pairs
    std::shared_ptr<const ConventionScores> scores;                  // of the second tab
    std::array<std::shared_ptr<const ConventionResult>, 2> results;  // likewise
    MapCellsSet cells;
    MasksView view;  // without what is of the moment
};
/// Brings it up to date; called after every action.
void follow_masks(AppState& state);
/// Null where the sentence is short.
const MasksLong* long_masks(const AppState& state);

/// Scores, masked scores or weights of the head shown; 0 × 0: they are not known.
MatrixView<const float> masks_values(const AppState& state, Stage stage);
/// What the mask is laid over: biased scores, or what stands for them.
MatrixView<const float> unmasked_scores(const AppState& state);

}  // namespace attn::view
