#pragma once

#include "app/workspaces/step/view.h"

namespace attn::test {

/// Hand-made views: panels are tested without computing anything.

/// A grid of `rows` × `columns` numbers with labels.
view::GridView sample_grid(OperandId id, Index rows, Index columns);
/// Q × Kᵀ = scores for three tokens and d_k = 2.
view::StepView sample_scores();
/// X alone, editable, cell (0, 0) selected.
view::StepView sample_input();

}  // namespace attn::test
