#pragma once

#include "app/common/explain/expr.h"

namespace attn::view {

struct AppState;
struct CellRef;

/// ∂L/∂cell: the chain rule with its numbers. `cell` must have a gradient (gradient_at). Where it has
/// steps, the last one's result is what the gradients hold, rounded to float.
Explanation explain_gradient(const AppState& state, const CellRef& cell);

/// "∂L/∂S[cat, sat]".
std::string gradient_name(const AppState& state, const CellRef& cell);

}  // namespace attn::view
