#pragma once

#include "core/large/cell.h"
#include "core/large/cell_arithmetic.h"

namespace attn::view {

/// The arithmetic of one cell, from the worker.
struct MapCell {
    large::Head head;
    large::Cell cell;
    large::CellArithmetic arithmetic;
};

}  // namespace attn::view
