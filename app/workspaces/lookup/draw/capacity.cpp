#include "app/common/draw/plot.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kHero = 0.6F;  // of the height

void draw_curves(const view::PlotView& plot, const char* id, const Box& box,
                 const view::CapacityView& view, const Frame& frame, view::Actions& out) {
    const PlotInput input = draw_plot(plot, id, box.low, box.high, view.stale, frame);
    if (input.taken) out.push_back(view::BeginGesture{});
    Index to = view.width;
    if (input.moved_to) to = nearest_capacity_width(*input.moved_to);
    if (input.steps != 0) to = next_capacity_width(view.width, input.steps);
    if (to != view.width) out.push_back(view::SetCapacityWidth{to});
    if (input.let_go) out.push_back(view::EndGesture{});
}

}  // namespace

void draw_capacity(const view::CapacityView& view, const Box& box, const Frame& frame,
                   view::Actions& out) {
    const float point = draw_point(view.point, box, frame);
    const float top =
        draw_notes(view.notes, {{box.low.x, point}, box.high}, frame) + frame.px(kSpace16);
    if (!view.ready) return;
    const float split = top + (box.high.y - top) * kHero;
    draw_curves(view.interference, "interference", {{box.low.x, top}, {box.high.x, split}}, view,
                frame, out);
    const float below = split + frame.px(kSpace16);
    const float middle = (box.low.x + box.high.x) / 2;
    draw_curves(view.error, "error",
                {{box.low.x, below}, {middle - frame.px(kSpace16), box.high.y}}, view, frame, out);
    draw_curves(view.near_cosine, "near", {{middle + frame.px(kSpace16), below}, box.high}, view,
                frame, out);
}

}  // namespace attn::ui
