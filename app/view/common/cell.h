#pragma once

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

}  // namespace attn::view
