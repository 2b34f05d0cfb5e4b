#include "app/workspaces/saturation/draw/controls.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "app/common/draw/list_field.h"
#include "app/common/draw/widgets.h"
#include "app/workspaces/saturation/words.h"

namespace attn::ui {
namespace {

using view::SaturationView;

void draw_model(const SaturationView& view, const Frame& frame, view::Actions& out) {
    const Tip tip{"Where the raw scores z come from", view.model_words};
    if (const auto n = choice(frame, "model", view.model_names, static_cast<int>(view.model), tip))
        out.push_back(view::SetSaturationModel{static_cast<SaturationModel>(*n)});
}

/// A whole number with its action.
struct Count {
    const char* id;
    const char* words;
    Index value, low, high;
    Tip tip;
};

template <class Set>
void draw_count(const Count& count, const Frame& frame, view::Actions& out) {
    const float width = number_width(frame, count.words, count.high);
    flow(frame, width);
    if (const auto value = number_field(frame, count.id, count.words, count.value, count.low,
                                        count.high, width, count.tip, out))
        out.push_back(Set{*value});
}

void draw_seed(const SaturationView& view, const Frame& frame, view::Actions& out) {
    const float width = seed_width(frame, view.seed);
    flow(frame, width);
    const Tip tip{"seed of every draw",
                  "The same seed gives the same numbers everywhere. Double-click to type."};
    if (const auto next = seed_field(frame, "##seed", view.seed, width, tip, out))
        out.push_back(view::SetSaturationSeed{*next});
}

void draw_redraw(const SaturationView& view, const Frame& frame, view::Actions& out) {
    flow(frame, button_width(frame, "re-draw"));
    const Tip tip{"draw " + std::to_string(view.draw),
                  "Shows another of the draws in the bars and Jacobians; the medians stay."};
    if (button(frame, "redraw", "re-draw", tip)) out.push_back(view::Redraw{});
}

void draw_sampling(const SaturationView& view, const Frame& frame, view::Actions& out) {
    const Tip keys{"n: how many keys the query looks at", "2 to 256. Double-click to type."};
    draw_count<view::SetSaturationKeys>(
        {"##keys", "keys", view.keys, view::kFewestKeys, view::kMostKeys, keys}, frame, out);
    const Tip draws{"how many draws of q and the keys the medians are of",
                    "1 to 4000. Double-click to type."};
    draw_count<view::SetSaturationDraws>(
        {"##draws", "draws", view.draws, 1, view::kMostDraws, draws}, frame, out);
    draw_seed(view, frame, out);
    draw_redraw(view, frame, out);
}

/// The old logits stay where what was typed is no list of numbers.
void draw_logits(const SaturationView& view, const Frame& frame, view::Actions& out) {
    const Tip tip{"the logits z / √d_k, one for each key",
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

void draw_details_toggle(const SaturationView& view, const Frame& frame, view::Actions& out) {
    flow(frame, toggle_width(frame, "details"));
    const Tip tip{"The derivative by the raw score z",
                  "Why it starts lower when scaled, where the curves cross, and more numbers of "
                  "the row that is drawn."};
    if (const auto on = toggle(frame, "details", "details", view.show_details, tip))
        out.push_back(view::ShowSaturationDetails{*on});
}

}  // namespace

void draw_saturation_controls(const SaturationView& view, const Frame& frame, view::Actions& out) {
    draw_model(view, frame, out);
    const Tip width{"d_k: how many products q·k adds up",
                    "1 to 4096. Double-click to type; ← and → go to the next power of two."};
    draw_count<view::SetSaturationWidth>({"##d_k", "d_k", view.d_k, 1, 4096, width}, frame, out);
    if (view.drawn)
        draw_sampling(view, frame, out);
    else
        draw_logits(view, frame, out);
    draw_five_bars(frame, out);
    draw_details_toggle(view, frame, out);
}

}  // namespace attn::ui
