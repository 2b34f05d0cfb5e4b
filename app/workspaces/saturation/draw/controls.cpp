#include "app/workspaces/saturation/draw/controls.h"

#include <string>

#include <fmt/format.h>

#include "app/common/draw/field_controls.h"
#include "app/common/draw/list_field.h"
#include "app/common/draw/widgets.h"
#include "app/common/logits.h"

namespace attn::ui {
namespace {

using view::SaturationView;

constexpr std::string_view kModelWords[] = {"fixed logits × √d_k", "sampled q, k ~ N(0, 1)"};

void draw_redraw(const SaturationView& view, const Frame& frame, view::Actions& out) {
    flow(frame, button_width(frame, "re-draw"));
    const Tip tip{"draw " + std::to_string(view.controls.draw),
                  "Shows another of the draws in the bars and Jacobians; the medians stay."};
    if (button(frame, "redraw", "re-draw", tip)) out.push_back(view::Redraw{});
}

void draw_sampling(const SaturationView& view, const Frame& frame, view::Actions& out) {
    field_control<view::SetSaturationKeys>(view.controls, frame, out);
    if (!view.gradients) field_control<view::SetSaturationDraws>(view.controls, frame, out);
    field_control<view::SetSaturationSeed>(view.controls, frame, out);
    if (!view.gradients) draw_redraw(view, frame, out);
}

/// The old logits stay where what was typed is no list of numbers.
void draw_logits(const SaturationView& view, const Frame& frame, view::Actions& out) {
    const Tip tip{"the logits s / √d_k, one for each key",
                  "Click to type numbers with commas between them. Scaled, softmax is given these; "
                  "unscaled, these × √d_k."};
    const auto text = list_field(frame, "logits", "logits", view.logits, tip, out);
    if (!text) return;
    auto logits = view::typed_logits(*text);
    if (logits) return out.push_back(view::SetSaturationLogits{*std::move(logits)});
    out.push_back(
        view::Notify{{fmt::format("{}; the logits stay {}", logits.error().sentence, view.logits),
                      view::Severity::error}});
}

void draw_five_bars(const Frame& frame, view::Actions& out) {
    flow(frame, button_width(frame, "five bars"));
    const Tip tip{"logits 0.5, 0.9, 0, 1.2, 0.6 at d_k = 64",
                  "The demonstration with fixed logits: 16.1, 24.0, 9.8, 32.4 and 17.8 % scaled."};
    if (button(frame, "five bars", "five bars", tip)) out.push_back(view::ShowFiveBars{});
}

}  // namespace

void draw_saturation_controls(const SaturationView& view, const Frame& frame, view::Actions& out) {
    field_control<view::SetSaturationModel>(view.controls, frame, out,
                                            {view.model_words, kModelWords});
    field_control<view::SetSaturationWidth>(view.controls, frame, out);
    if (view.drawn)
        draw_sampling(view, frame, out);
    else
        draw_logits(view, frame, out);
    draw_five_bars(frame, out);
    if (view.drawn) field_control<view::ShowSaturationDetails>(view.look, frame, out);
    if (!view.gradients) field_control<view::ShowRawDerivative>(view.look, frame, out);
}

}  // namespace attn::ui
