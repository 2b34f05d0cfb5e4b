#pragma once

#include <algorithm>
#include <utility>

#include "core/large/cell.h"
#include "core/sizes.h"
#include "core/stage.h"

namespace attn::view {
class Visitor;
}  // namespace attn::view

namespace attn::large {
struct PlantedSpec;
}

namespace attn::view {

/// One cell of one tensor, in the coordinates of the head shown: of W_Q the head's own columns.
struct CellRef {
    OperandId tensor = Stage::x;
    Index row = 0;
    Index column = 0;
    bool operator==(const CellRef&) const = default;
};

/// One number of the output, of a sequence of the batch.
struct OutputCell {
    Index batch = 0;
    Index row = 0;
    Index column = 0;
    bool operator==(const OutputCell&) const = default;
};

/// Every row and column of so many, row after row: for (const auto [i, j] : each_cell(matrix)).
struct EachCell {
    Index rows, columns;
    struct At {
        Index columns, row, column = 0;
        std::pair<Index, Index> operator*() const { return {row, column}; }
        bool operator!=(const At& end) const { return row != end.row; }
        At& operator++() {
            if (++column == columns) column = 0, ++row;
            return *this;
        }
    };
    At begin() const { return {columns, columns > 0 ? 0 : rows}; }
    At end() const { return {columns, rows}; }
};
inline EachCell each_cell(Index rows, Index columns) { return {std::max<Index>(rows, 0), columns}; }
template <class Matrix>
EachCell each_cell(const Matrix& matrix) {
    return each_cell(matrix.rows, matrix.columns);
}

/// {"tensor": "w_q", "row": 0, "column": 2}
void describe(Visitor& visit, CellRef& cell);
void describe(Visitor& visit, large::Cell& cell);
void describe(Visitor& visit, large::Head& head);
void describe(Visitor& visit, large::PlantedSpec& spec);

}  // namespace attn::view
