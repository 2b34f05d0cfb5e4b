#include "app/common/draw/grid_set.h"
#include "app/workspaces/heads/draw/parts.h"

namespace attn::ui {

void draw_head_grids(const view::AllHeadsView& view, const Box& box, const Frame& frame,
                     view::Actions& out) {
    const GridResult done = draw_grid_set(view.grids, box.low, box.high, frame, view.hovered_pair);
    if (done.clicked) out.push_back(view::SelectHeadsPair{done.clicked->row, done.clicked->column});
    if (const auto hovered = place_of(done.hovered); hovered != view.hovered_pair)
        out.push_back(view::HoverHeadsPair{hovered});
}

}  // namespace attn::ui
