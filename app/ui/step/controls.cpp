#include <algorithm>

#include "app/ui/common/draw.h"
#include "app/ui/common/focus.h"
#include "app/ui/common/imgui_compat.h"
#include "app/ui/common/still.h"
#include "app/ui/common/widgets.h"
#include "app/ui/step/canvas.h"
#include "app/view/common/format.h"

namespace attn::ui {
namespace {

using view::Actions;
using view::ControlsView;

// Design units.
constexpr float kPresetWidth = 168.0F;
constexpr float kSentenceWidth = 216.0F;
// Temperatures the slider reaches; any other can be typed.
constexpr double kLowTemperature = 0.05;
constexpr double kHighTemperature = 100.0;
constexpr Index kMostFileHeads = 64;  // that the field reaches

void preset_combo(const ControlsView& view, const Frame& frame, Actions& out) {
    std::vector<std::string> names;
    int current = -1;
    for (const view::Preset& preset : view.presets) {
        if (preset.key == view.preset) current = static_cast<int>(names.size());
        names.push_back(preset.title);
    }
    const Options options{names, current,
                          current < 0 ? (view.toy ? "custom" : view.title)
                                      : names[static_cast<std::size_t>(current)]};
    const Tip tip{"Preset", "A sentence with its weights. The files lie in assets/presets."};
    const auto row = combo(frame, "##preset", options, frame.px(kPresetWidth), tip, out);
    if (row) out.push_back(view::LoadPreset{view.presets[static_cast<std::size_t>(*row)].key});
}

void sentence_field(const ControlsView& view, const Frame& frame, Actions& out) {
    flow(frame, frame.px(kSentenceWidth));
    std::string draft = view.sentence_draft;
    ImGui::SetNextItemWidth(frame.px(kSentenceWidth));
    push_no_tab_stop();
    const bool entered = ImGui::InputTextWithHint("##sentence", "Type a sentence, press Enter",
                                                  &draft, ImGuiInputTextFlags_EnterReturnsTrue);
    pop_no_tab_stop();
    still_field(frame, frame.fonts.body, draft, "Type a sentence, press Enter");
    tooltip(frame, "Sentence", "One token for each word. Press Enter to compute it.");
    text_stop(frame);
    if (draft != view.sentence_draft) out.push_back(view::DraftSentence{draft});
    if (entered) out.push_back(view::SetSentence{draft});
}

/// One whole number of the model: where it lives, what it may be.
struct Number {
    const char* id;
    const char* words;
    Index value, low, high;
    Tip tip;
};

template <class MakeAction>
void number(const Number& n, const Frame& frame, Actions& out, MakeAction make) {
    const float width = number_width(frame, n.words, n.high);
    flow(frame, width);
    const auto changed =
        number_field(frame, n.id, n.words, n.value, n.low, n.high, width, n.tip, out);
    if (changed) out.push_back(make(*changed));
}

/// What the seed makes anew; a file's tensors have their own sizes.
void toy_sizes(const ControlsView& view, const Frame& frame, Actions& out) {
    const auto set = [&](const Number& n, auto make) { number(n, frame, out, make); };
    set({"##d_model",
         "d_model",
         view.d_model,
         1,
         view::kMaxModelWidth,
         {"d_model: columns of X", "X is [T, d_model]. Drag, or double-click to type."}},
        [](Index value) { return view::SetModelWidth{value}; });
    set({"##d_k",
         "d_k",
         view.d_k,
         1,
         view::kMaxKeyWidth,
         {"d_k: columns of Q and K in each head",
          "W_Q is [d_model, d_k]. Drag, or double-click to type."}},
        [](Index value) { return view::SetKeyWidth{value}; });
}

/// How many heads, and the layer, the sequence and the head that are shown, where there are several.
void heads(const ControlsView& view, const Frame& frame, Actions& out) {
    const auto set = [&](const Number& n, auto make) { number(n, frame, out, make); };
    const Index most = view.toy ? view::kMaxHeads : std::max(kMostFileHeads, view.heads);
    if (view.projects)
        set({"##heads",
             "heads",
             view.heads,
             1,
             most,
             {"H: attention heads", "Each has its own d_k columns of W_Q, W_K and W_V."}},
            [](Index value) { return view::SetHeads{value}; });
    if (view.layers > 1)
        set({"##layer", "layer", view.layer, 0, view.layers - 1, {"The layer shown", "Key: Y"}},
            [](Index value) { return view::ShowLayer{value}; });
    if (view.batches > 1)
        set({"##batch",
             "sequence",
             view.batch,
             0,
             view.batches - 1,
             {"The sequence of the batch that is shown", "0 … B − 1"}},
            [&](Index value) {
                return view::ShowHead{view.head, value};
            });
    if (view.heads < 2) return;
    set({"##head", "head", view.head, 0, view.heads - 1, {"The head that is shown", "0 … H − 1"}},
        [&](Index value) {
            return view::ShowHead{value, view.batch};
        });
}

void flip(const char* id, const std::string& words, bool on, const Tip& tip, const Frame& frame,
          Actions& out, view::Action (*make)(bool)) {
    flow(frame, toggle_width(frame, words));
    if (const auto value = toggle(frame, id, words, on, tip)) out.push_back(make(*value));
}

void scaling(const ControlsView& view, const Frame& frame, Actions& out) {
    flip("scaling", view.scaling ? view.scale_words : "scaling off", view.scaling,
         {"S = scores / √d_k", "Off: the raw scores go into softmax. [T, T]"}, frame, out,
         [](bool on) -> view::Action { return view::SetScaling{on}; });
    const SliderWords words{"τ", view::cell_number(view.temperature, 2), "100.00"};
    const float width = slider_width(frame, words);
    flow(frame, width);
    const auto temperature = real_slider(frame, "##temperature", words, view.temperature,
                                         kLowTemperature, kHighTemperature, width,
                                         {"τ: temperature",
                                          "S = scores · scale / τ. Above 1 flatter, below 1 "
                                          "sharper. Drag, or double-click to type."},
                                         out);
    if (temperature) out.push_back(view::SetTemperature{*temperature});
}

/// |i − j| ≤ window, for whoever opens long tensors. A toy sentence gets one from the palette.
void window(const ControlsView& view, const Frame& frame, Actions& out) {
    const Tip tip{"Window mask: |i − j| ≤ w", "A query sees only the keys near it. [T, T]"};
    const std::string words = "window";
    flow(frame, toggle_width(frame, words));
    if (const auto on = toggle(frame, "window", words, view.window.has_value(), tip))
        out.push_back(view::SetWindow{*on ? std::optional<Index>(1) : std::nullopt});
    if (!view.window) return;
    number({"##window", "w", *view.window, 0, std::max(view.tokens - 1, *view.window), tip}, frame,
           out, [](Index value) { return view::SetWindow{value}; });
}

void seed(const ControlsView& view, const Frame& frame, Actions& out) {
    const Tip tip{"Seed of the toy weights", "The same seed gives the same W_Q, W_K, W_V."};
    const float width = seed_width(frame, view.seed);
    flow(frame, width + frame.px(4) + button_width(frame, "re-seed"));
    if (const auto next = seed_field(frame, "##seed", view.seed, width, tip, out))
        out.push_back(view::SetSeed{*next});
    ImGui::SameLine(0.0F, frame.px(4));
    if (button(frame, "reseed", "re-seed",
               {"The next seed", "New weights, drawn from N(0, 1/d_in)."}))
        out.push_back(view::SetSeed{view.seed + 1});
}

}  // namespace

void draw_controls(const ControlsView& view, const Frame& frame, Actions& out) {
    preset_combo(view, frame, out);
    sentence_field(view, frame, out);
    if (view.toy) toy_sizes(view, frame, out);
    heads(view, frame, out);
    scaling(view, frame, out);
    flip("causal", "causal", view.causal,
         {"Causal mask: key j ≤ query i", "M[i,j] = −∞ above the diagonal. [T, T]"}, frame, out,
         [](bool on) -> view::Action { return view::SetCausal{on}; });
    if (!view.toy || view.window) window(view, frame, out);
    flip("gradients", "gradients", view.gradients,
         {"∂L/∂ of every stage and parameter", "The canvas shows gradients in place of values."},
         frame, out, [](bool on) -> view::Action { return view::ShowGradients{on}; });
    draw_loss(view.loss, frame, out);
    if (view.toy) seed(view, frame, out);
}

}  // namespace attn::ui
