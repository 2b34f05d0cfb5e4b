#pragma once

#include <string>

#include "app/common/document/chain_rule.h"
#include "app/common/explain/expr.h"

namespace attn::view {

// Where one number of the Step workspace comes from.

/// `cell` must exist (has_cell). Every step's result is what the trace holds, rounded to float.
Explanation explain(const AppState& state, const CellRef& cell);

/// "\mathrm{scores}[\text{cat}, \text{sat}]" from "scores[cat, sat]".
std::string latex_name(const AppState& state, const CellRef& cell);

// For the clipboard.
std::string copy_as_text(const Explanation& explanation);
std::string copy_as_latex(const Explanation& explanation);
std::string copy_as_python(const Explanation& explanation);

}  // namespace attn::view
