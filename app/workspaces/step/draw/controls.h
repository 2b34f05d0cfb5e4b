#pragma once

#include "app/common/draw/frame.h"
#include "app/common/draw/widgets.h"
#include "app/workspaces/step/view.h"

namespace attn::ui {

/// Controls that stand in the row while it has room for them, each a bit. In the order in which they leave it.
enum class RowItem : unsigned {
    sequence,
    layer,
    temperature,
    gradients,
    causal,
    head,
    scaling,
    loss
};
inline constexpr unsigned kRowItems = 8;

constexpr unsigned bit_of(RowItem item) { return 1U << static_cast<unsigned>(item); }

/// Where the cursor is.
void draw_row_item(RowItem item, const view::ControlsView& view, const Frame& frame,
                   view::Actions& out);
/// The same whatever its value is.
float row_item_width(RowItem item, const view::ControlsView& view, const Frame& frame);

}  // namespace attn::ui
