#pragma once

#include <vector>

#include "app/common/place.h"

namespace attn::view {

class Visitor;
struct AppState;
struct Document;

// Which cell of a stage is selected. A person's choice is kept for each kind of stage, also while the document has no
// such cell: then the stage's first place is looked at, and the choice is back when its cell is.

/// The stage, or another that the document has.
Stage stage_in(const Document& document, Stage stage);
/// A person selects a cell that exists.
void choose_cell(AppState& state, const CellRef& cell);
/// The stage, which the document has, is looked at from now on, at its own place. Workspaces follow (WorkspaceInfo::arrive).
void go_to_stage(AppState& state, Stage stage);
/// Query and key of scores and weights, for every workspace; selected where the stage that is looked at is one of them.
void choose_pair(AppState& state, const large::Cell& pair);
/// The query of that pair; another query looks at the key with its largest weight.
void choose_query(AppState& state, Index query);
/// The pair that is looked at, else the largest weight of the query whose weights are least even. Of too many weights that
/// of the first query, or of the last one under a causal mask.
large::Cell first_pair(const AppState& state);
/// `selected` from what was chosen and from what the document has. Without a choice first_pair(); of keys and values that
/// key's row, of the other stages that query's.
void show_place(AppState& state);
void clear_places(AppState& state);
/// Brings all of the place back inside what the present document has.
void clamp_place(AppState& state);

/// One of each kind, as a session has them; `visit` hears of what is no cell of a stage.
std::vector<CellRef> cells_of(const Places& places);
Places places_from(const std::vector<CellRef>& cells, Visitor& visit);
/// A session was read: `selected` and `places` are as it says.
void restore_place(AppState& state);

}  // namespace attn::view
