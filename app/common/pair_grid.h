#pragma once

#include <optional>
#include <string>

#include "app/common/grid.h"
#include "core/matrix_view.h"

namespace attn::view {

struct AppState;

/// A matrix of the document's queries by keys that is not one of its sheets: drawn like weights, but for its role.
GridView pair_grid(const AppState& state, MatrixView<const float> values, const GridStyle& style,
                   std::string title);
/// `cell` is selected; the row and the column of the pointed one, else of `cell`, have their numbers: where the grid has
/// them. It cannot be edited.
void look_at(GridView& grid, large::Cell cell, const std::optional<large::Cell>& hovered = {});

}  // namespace attn::view
