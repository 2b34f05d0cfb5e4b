#pragma once

#include <span>

#include "app/common/draw/parts.h"
#include "app/common/map/draw/parts.h"
#include "app/workspaces/kinds/online.h"
#include "app/workspaces/kinds/view.h"

namespace attn::ui {

// The parts of the Kinds workspace; each fills the current window.

/// Comparison or online softmax, and what belongs to what is shown; both sides' settings in the popover.
void draw_kinds_bar(const KindsView& view, const OnlineView& online, bool is_online,
                    ControlBar& bar);

/// Some of the weights of A, of B and their difference, in one row; `first`: which of them is the first. Over A
/// and B their formulas, where these have room.
void draw_kinds(const KindsView& view, std::span<const GridView> grids, std::size_t first,
                const Box& box, const Frame& frame, Actions& out);
/// `count` of them as maps, from the first on.
void draw_kinds_maps(const KindsView& view, const MapLook& look, std::size_t first,
                     std::size_t count, const Box& box, const Frame& frame, Actions& out);
/// How far apart A and B are, what each costs, and the output of a row: beside each other where there is room.
float kinds_numbers_height(const KindsView& view, float width, const Frame& frame);
void draw_kinds_numbers(const KindsView& view, const Box& box, const Frame& frame);

/// A few rows of numbers under their title, `row_height` pixels each; returns where they end.
float draw_vectors(const GridView& grid, const char* id, ImVec2 low, float width, float row_height,
                   const Frame& frame);

/// The online softmax at its present step: scores over their exponentials, on the same keys.
void draw_online_keys(const OnlineView& view, const Box& box, const Frame& frame);
/// Its formulas beside its state, and the row when it is finished.
void draw_online_row(const OnlineView& view, const Box& box, const Frame& frame);

}  // namespace attn::ui
