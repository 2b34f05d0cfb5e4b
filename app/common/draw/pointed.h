#pragma once

#include <optional>

#include "app/common/cell.h"

namespace attn::ui {

/// What the pointer is on in a part of a workspace.
struct Pointed {
    std::optional<view::CellRef> cell = {};
    std::optional<OperandId> symbol = {};  // of a formula: the matrix that it stands for
    void add(const Pointed& other) {
        if (other.cell) cell = other.cell;
        if (other.symbol) symbol = other.symbol;
    }
};

}  // namespace attn::ui
