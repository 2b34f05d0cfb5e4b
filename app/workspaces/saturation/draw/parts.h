#pragma once

#include <array>

#include "app/common/draw/parts.h"
#include "app/common/draw/plot_parts.h"
#include "app/workspaces/saturation/gradients.h"
#include "app/workspaces/saturation/view.h"

namespace attn::ui {

// What the workspace is put together of: gradients.cpp; of softmax alone hero.cpp, aside.cpp.

/// The four gradients over d_k: one large, all as pictures, the numbers. `view` and `out` are kept.
void add_gradients(const view::GradientsOverWidth& view, Parts& parts, const Frame& frame,
                   view::Actions& out);

/// The open sentence with scaling and without, at the handle's d_k.
void draw_sentence_at_width(const view::SentenceAtWidth& view, const Box& box, const Frame& frame);

/// ‖∂a/∂z‖_F over d_k: the gap between the curves shaded, a handle on d_k, and below the axis how the
/// unscaled gradient changes from the pinned d_k. The handle and the pin are dragged; they stop at powers of two.
void draw_hero(const view::HeroView& hero, const Box& box, bool faded, const Frame& frame,
               view::Actions& out);

/// The numbers of two points at the handle, left or right of it: the upper above its point, the lower below where both would
/// touch, so that each is nearest to its own point. Of two at the same place only the first.
void draw_point_values(const PlotCanvas& canvas, std::array<std::size_t, 2> points, bool left);

/// The weights of one side as bars, with its formula above and its numbers below.
void draw_side_bars(const view::SaturationSideView& side, const Box& box, const Frame& frame);
/// Its Jacobian: square cells as large as fit.
void draw_side_jacobian(const view::SaturationSideView& side, const Box& box, const Frame& frame);
/// The height that the Jacobian has a use for in a box of that width.
float jacobian_height(const view::SaturationSideView& side, float width, const Frame& frame);

/// The medians of both sides with their verdicts, from `low` on.
void draw_median_table(const view::SaturationTable& table, ImVec2 low, float width,
                       const Frame& frame);
float median_table_height(const Frame& frame);
/// More numbers of the row that is drawn, its lines as close as the box demands.
void draw_row_numbers(const view::SaturationDetails& details, const Box& box, const Frame& frame);

}  // namespace attn::ui
