#include "app/ui/common/widgets.h"
#include "app/ui/step/canvas.h"

namespace attn::ui {
namespace {

constexpr float kWidth = 208.0F;  // design units: "L = ½ Σ (output − target)²"

}  // namespace

void draw_loss(const view::LossView& view, const Frame& frame, view::Actions& out) {
    if (!view.shown) return;
    const float width = frame.px(kWidth);
    flow(frame, width);
    const Options options{view.choices, view.current,
                          view.choices[static_cast<std::size_t>(view.current)]};
    const Tip tip{
        "L: what the gradients are of",
        "The sum of all outputs, one output (the selected one), or half the squared error to a "
        "target, which is 0 until you set it at the stage output."};
    if (const auto row = combo(frame, "##loss", options, width, tip, out))
        out.push_back(view::SetLoss{static_cast<view::LossKind>(*row)});
}

}  // namespace attn::ui
