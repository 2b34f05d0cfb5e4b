#pragma once

#include <memory>

#include "app/common/map/cells.h"
#include "core/stage.h"

namespace attn::view {

struct AppState;
struct Document;

/// Step has no numbers of its stage, the map that Large has does: the inspector is the map's.
bool is_map_alone(const AppState& state);

/// The stage's own numbers as a map: of pairs that are too long for cells and that the one map has not, gradients, dropped
/// weights and scores that are no dot products. Null: it is drawn otherwise.
MapCellsPtr stage_cells(const AppState& state);
bool has_stage_cells(const AppState& state);
struct StageCells {
    struct Of {
        std::shared_ptr<const Document> document;
        std::shared_ptr<const void> owner;
        Stage stage = Stage::weights;
        Index batch = 0, head = 0;
        bool change = false;
        bool operator==(const Of&) const = default;
    } of;
    MapCellsPtr cells;
};
/// Called after every action.
void follow_stage_cells(AppState& state);

}  // namespace attn::view
