#include "app/common/draw/plot.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kBelow = 0.4F;  // of the height

void draw_curves(const view::PlotView& plot, const char* id, const Box& box,
                 const view::CapacityView& view, const Frame& frame, view::Actions& out) {
    const PlotInput input = draw_plot(plot, id, box.low, box.high, view.stale, frame);
    follow<view::SetCapacityWidth>(input, view.width, nearest_capacity_width, next_capacity_width,
                                   out);
}

}  // namespace

void LookupPages::add(const view::CapacityView& view) {
    parts.heading = {view.point, {}, view.notes};
    if (!view.ready) return;
    const auto curves = [this, &view](const view::PlotView& plot, const char* id) {
        return [this, &view, &plot, id](const Box& box) {
            draw_curves(plot, id, box, view, frame, out);
        };
    };
    parts.hero = {"interference", "interference", curves(view.interference, "interference")};
    parts.others = {
        {"error", "error", curves(view.error, "error"), CanvasPart::Where::below, kBelow},
        {"near", "cosine of near keys", curves(view.near_cosine, "near"), CanvasPart::Where::below,
         kBelow}};
}

}  // namespace attn::ui
