#pragma once

#include <optional>

#include "app/common/cell.h"
#include "app/common/draw/frame.h"
#include "app/common/inspector.h"

namespace attn::ui {

/// What the pointer is on in a part of a workspace.
struct Pointed {
    std::optional<CellRef> cell = {};
    std::optional<OperandId> symbol = {};  // of a formula: the matrix that it stands for
    void add(const Pointed& other) {
        if (other.cell) cell = other.cell;
        if (other.symbol) symbol = other.symbol;
    }
};

/// The selected cell's arithmetic. Returns the linked cell or the symbol of its formula under the pointer.
Pointed draw_inspector(const InspectorView& view, const Frame& frame, Actions& out);

}  // namespace attn::ui
