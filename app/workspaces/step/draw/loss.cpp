#include "app/common/draw/widgets.h"
#include "app/workspaces/step/draw/canvas.h"

namespace attn::ui {
void draw_loss(const view::LossView& view, float width, const Frame& frame, view::Actions& out) {
    const Options options{view.choices, view.current,
                          view.choices[static_cast<std::size_t>(view.current)]};
    const Tip tip{
        "L: what the gradients are of",
        "The sum of all outputs, one output (the selected one), or half the squared error to a "
        "target, which is 0 until you set it at the stage output; the cross-entropy of an output "
        "row; or, "
        "where the file gives dY, what that is the gradient of."};
    if (const auto row = combo(frame, "##loss", options, width, tip, out))
        out.push_back(view::SetLoss{static_cast<view::LossKind>(*row)});
}

}  // namespace attn::ui
