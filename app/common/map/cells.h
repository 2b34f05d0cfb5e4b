#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/colormap.h"
#include "app/common/map/view.h"
#include "core/large/cell.h"
#include "core/matrix_view.h"

namespace attn::view {

struct AppState;
struct Document;

// Matrices of queries by keys that are in memory, drawn as maps in the place of grids of cells.

/// Longer sides are no cells side by side: they are a map.
inline constexpr Index kMostGridSide = 64;
inline bool is_map_size(Index rows, Index columns) {
    return rows > kMostGridSide || columns > kMostGridSide;
}
/// Of the document's queries by keys; false where there are none.
bool is_long(const Document& document);

/// One of them, with its colours. Immutable once it is made.
struct MapCells {
    std::string title = {};    // "A", "masked scores"
    std::string noun = {};     // one of its numbers: "weight"
    Role role = Role::weight;  // whose colour the title has
    MatrixView<const float> values = {};
    std::shared_ptr<const void> owner = {};  // of what `values` looks at
    std::vector<std::uint8_t> masked = {};   // 1: looks masked; empty: none does
    ColorRange range = {};
    std::vector<std::uint8_t> clipped = {};  // 1: a key without a colour of the range
    bool support = false;                    // 1 and 0: the pair may attend, or may not
    std::vector<std::uint8_t> painted = {};  // of such a one: 1 where paint forbids
    std::string_view row_word = "query", column_word = "key";  // what one of each is
    std::vector<std::string> columns = {};  // a word of each; empty: the document's keys

    // made by make_cells()
    std::uint64_t content = 0;  // differs where a number or a look does
    Index nans = 0, infinities = 0;

    bool is_masked(Index row, Index column) const {
        return !masked.empty() && masked[row * values.columns + column];
    }
};
using MapCellsPtr = std::shared_ptr<const MapCells>;
using MapCellsSet = std::vector<MapCellsPtr>;

MapCellsPtr make_cells(MapCells cells);
/// Of weights, from 0 to the largest.
ColorRange weights_range(MatrixView<const float> weights);
/// Of numbers of both signs.
ColorRange signed_range(MatrixView<const float> values);
/// Of numbers that belong to it alone.
MapCellsPtr make_cells(MapCells cells, std::vector<float> values, Index columns);

/// A rectangle of cells that is looked at: one cell, or the corners of several.
struct MapSelection {
    large::Cell cell;
    std::optional<large::Cell> corner = {};
};
/// The map as drawn, under the camera that all maps share. A texel of several cells has their largest number, by size.
MapView cells_view(const AppState& state, const MapCellsPtr& cells, const MapSelection& selected);
std::vector<MapView> cells_views(const AppState& state, const MapCellsSet& set,
                                 const MapSelection& selected);

/// A pair of a mask: one that may attend stands out faintly, one that paint forbids is tinted.
Color support_color(bool allowed, bool painted, ThemeName name);

}  // namespace attn::view
