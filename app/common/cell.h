#pragma once

#include "app/common/describe.h"
#include "core/large/planted.h"
#include "core/stages.h"
#include "core/tensor.h"

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

/// {"tensor": "w_q", "row": 0, "column": 2}
void describe(Visitor& visit, CellRef& cell);
void describe(Visitor& visit, large::Cell& cell);
void describe(Visitor& visit, large::Head& head);
void describe(Visitor& visit, large::PlantedSpec& spec);

}  // namespace attn::view
