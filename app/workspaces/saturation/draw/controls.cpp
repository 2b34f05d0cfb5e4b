#include "app/workspaces/saturation/draw/controls.h"

#include "app/common/clip.h"
#include "app/workspaces/saturation/actions.h"

#include <string>

namespace attn::ui {
namespace {

using view::SaturationView;

constexpr double kClipRest = 1.5;  // seconds at the end of a clip

constexpr std::string_view kModelDescription[] = {"fixed logits × √d_k", "sampled q, k ~ N(0, 1)"};

void draw_sampling(const SaturationView& view, ControlBar& bar) {
    bar.field<view::SetSaturationKeys>(view.controls);
    if (!view.gradients) bar.field<view::SetSaturationDraws>(view.controls);
    bar.field<view::SetSaturationSeed>(view.controls);
    if (view.gradients) return;
    const Tip tip{"sample " + std::to_string(view.controls.draw + 1),
                  "Shows another sample in the bars and Jacobians; the medians stay."};
    if (bar.button("redraw", "Next sample", tip)) bar.out.push_back(view::Redraw{});
}

void draw_logits(const SaturationView& view, ControlBar& bar) {
    const Tip tip{"the logits s / √d_k, one for each key",
                  "Click to type numbers, separated by commas. With scaling they are the input of "
                  "softmax; without scaling, the input is √d_k times as large."};
    if (auto logits = bar.logits("logits", view.logits, view::Logits::finite, tip))
        bar.out.push_back(view::SetSaturationLogits{*std::move(logits)});
}

}  // namespace

void draw_saturation_controls(const SaturationView& view, ControlBar& bar) {
    bar.field<view::SetSaturationModel>(view.controls, {view.model_text, kModelDescription});
    bar.field<view::SetSaturationWidth>(view.controls);
    if (view.drawn)
        draw_sampling(view, bar);
    else
        draw_logits(view, bar);
    const Tip tip{"five keys, one bar each: logits 0.5, 0.9, 0, 1.2, 0.6 at d_k = 64",
                  "Fixed logits: the weights are 16.1, 24.0, 9.8, 32.4 and 17.8 % with scaling."};
    if (bar.button("five bars", "example: 5 keys", tip)) bar.out.push_back(view::ShowFiveBars{});
    if (view.gradients) {
        if (bar.button("clip", "Export clip",
                       {"Plays d_k from 4 to 4096 and saves it as a clip",
                        "An animated PNG, or the format of the last clip"})) {
            bar.out.push_back(view::PlayCollapse{});
            bar.out.push_back(view::ExportClip{view::kCollapseSeconds + kClipRest});
        }
        bar.field<view::ShowSaturationSentence>(view.look);
    }
    if (view.drawn) bar.field<view::ShowSaturationDetails>(view.look);
    if (!view.gradients) bar.field<view::ShowRawDerivative>(view.look);
}

}  // namespace attn::ui
