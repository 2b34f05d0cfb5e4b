#include "app/workspaces/step/draw/controls.h"

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/groups.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/still.h"
#include "app/common/draw/text_fields.h"
#include "app/common/draw/word_field.h"
#include "app/common/format.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/draw/row_items.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kPresetWidth = 104.0F;  // "examples", beside the sentence itself
constexpr float kLeastSentence = 168.0F;
constexpr float kMostSentence = 420.0F;
constexpr float kControlsGap = 12.0F;
constexpr float kLossWidth = 208.0F;  // "L = ½ Σ (output − target)²"
constexpr float kToggle = 28.0F;      // its height

// Temperatures the slider reaches; any other can be typed.
constexpr double kLowTemperature = 0.05;
constexpr double kHighTemperature = 100.0;

void preset_combo(const ControlsView& view, float width, const Frame& frame, Actions& out) {
    std::vector<std::string> names;
    int current = -1;
    for (const Preset& preset : view.presets) {
        if (preset.key == view.preset) current = static_cast<int>(names.size());
        names.push_back(preset.title);
    }
    const bool beside_sentence = width <= frame.px(kPresetWidth);
    const Options options{names, current,
                          beside_sentence ? "examples"
                          : current >= 0  ? names[current]
                          : view.toy      ? "custom"
                                          : view.title,
                          true};
    const Tip tip{"Examples", "Sentences with their weights, from assets/presets."};
    const auto row = combo(frame, "##preset", options, width, tip, out);
    if (row) out.push_back(LoadPreset{view.presets[*row].key});
}

void sentence_field(const ControlsView& view, float width, const Frame& frame, Actions& out) {
    if (view.reads_text)
        return model_text_field("##sentence", view.sentence_draft, width, view.vocabulary, frame,
                                out);
    std::string draft = view.sentence_draft;
    ImGui::SetNextItemWidth(width);
    push_no_tab_stop();
    struct Description {
        const char *hint, *heading, *tip;
    };
    const Description text =
        view.reads_image
            ? Description{"Path of a PNG, press Enter; or drop one", "Image",
                          "The PNG that the model reads. Press Enter, or drop one here."}
            : Description{"Type a sentence, press Enter", "Sentence",
                          "One token for each word; a b || c: a batch of two sentences. "
                          "Press Enter to compute it."};
    const bool entered =
        text_field("##sentence", draft, {text.hint, ImGuiInputTextFlags_EnterReturnsTrue});
    pop_no_tab_stop();
    still_field(frame, frame.fonts.body, draft, text.hint);
    tooltip(frame, text.heading, text.tip);
    text_stop(frame);
    if (draft != view.sentence_draft) out.push_back(DraftSentence{draft});
    if (!entered) return;
    if (view.reads_image)
        out.push_back(ReadImage{draft});
    else
        out.push_back(SetSentence{draft});
}

/// Which of several is looked at: counted from 0.
template <class MakeAction>
void place_field(const char* id, const char* text, Index value, Index count, const Tip& tip,
                 const Frame& frame, Actions& out, MakeAction make) {
    const float width = number_width(frame, text, count - 1);
    if (const auto to = number_field(frame, id, text, value, 0, count - 1, width, tip, out))
        out.push_back(make(*to));
}

template <class MakeAction>
void flip(const char* id, const std::string& text, bool on, const Tip& tip, const Frame& frame,
          Actions& out, MakeAction make) {
    if (const auto value = toggle(frame, id, text, on, tip)) out.push_back(make(*value));
}

std::string scaling_text(const ControlsView& view, float width, const Frame& frame) {
    return fit_text(frame, frame.fonts.body, view.scaling ? view.scale_description : "scaling off",
                    width - toggle_width(frame, {}));
}

SliderText temperature_text(const ControlsView& view) {
    return {"τ", view::cell_number(view.temperature, 2), "100.00"};
}

void temperature(const ControlsView& view, const Frame& frame, Actions& out) {
    const SliderText text = temperature_text(view);
    const Tip tip{"τ: temperature",
                  "S = scores · scale / τ. Above 1: flatter. Below 1: sharper. Drag, or "
                  "double-click to type."};
    const auto next = real_slider(frame, "##temperature", text, view.temperature, kLowTemperature,
                                  kHighTemperature, slider_width(frame, text), tip, out);
    if (next) out.push_back(SetTemperature{*next});
}

/// What gradients are of: a list, while they are shown.
void draw_loss(const LossView& view, const Frame& frame, Actions& out) {
    const Options options{view.choices, view.current, view.choices[view.current]};
    const Tip tip{"L: the quantity whose gradients are shown",
                  "The sum of all outputs, the selected output, half the squared error to a target "
                  "(0 until you set it at the stage output), the cross-entropy of an output row, "
                  "or, if the file has dY, its loss."};
    if (const auto row = combo(frame, "##loss", options, frame.px(kLossWidth), tip, out))
        out.push_back(SetLoss{static_cast<LossKind>(*row)});
}

/// What the row and the field of a model of two stacks take.
template <class Draw>
float measured(const ControlsView& view, const Frame& frame, Draw draw) {
    float taken = 0.0F;
    Actions none;
    draw(view.groups, frame, none, [&](float width) {
        taken = width;
        return false;
    });
    return taken;
}
bool has_place(float) { return true; }

float row_item_width(RowItem item, const ControlsView& view, const Frame& frame) {
    if (item == RowItem::group) return measured(view, frame, draw_group_row);
    if (item == RowItem::beside) return measured(view, frame, draw_beside_field);
    if (item == RowItem::sequence) return number_width(frame, "sequence", view.batches - 1);
    if (item == RowItem::layer) return number_width(frame, "layer", view.layers - 1);
    if (item == RowItem::head) return number_width(frame, "head", view.heads - 1);
    if (item == RowItem::temperature) return slider_width(frame, temperature_text(view));
    if (item == RowItem::gradients) return toggle_width(frame, "gradients");
    if (item == RowItem::causal) return toggle_width(frame, "causal");
    if (item == RowItem::loss) return frame.px(kLossWidth);
    if (item == RowItem::preset) return frame.px(kPresetWidth);
    if (item == RowItem::sentence) return frame.px(kLeastSentence);
    // Scaling: as wide whatever its number, so that nothing beside it moves while that is dragged.
    return toggle_width(frame, view.scale_widest);
}

bool is_there(RowItem item, const ControlsView& view) {
    if (item == RowItem::sequence) return view.batches > 1;
    if (item == RowItem::layer) return view.layers > 1;
    if (item == RowItem::head) return view.heads > 1;
    if (item == RowItem::loss) return view.loss.shown;
    if (item == RowItem::group) return !view.groups.names.empty();
    if (item == RowItem::beside) return view.groups.reads_beside;
    if (item == RowItem::sentence) return view.groups.reads_text;
    return true;
}

/// The controls of the row at this width: the sentence takes the rest, and the row ends at the right.
struct RowPlan {
    float sentence = 0.0F;
    float left = 0.0F;  // where it begins
    unsigned left_out = 0;

    bool has(RowItem item, const ControlsView& view) const {
        return is_there(item, view) && (left_out & bit_of(item)) == 0;
    }
};

RowPlan plan_row(const ControlsView& view, float space, const Frame& frame) {
    const float gap = frame.px(kControlsGap);
    RowPlan plan;
    float taken = button_width(frame, "Model ▾");
    for (unsigned n = 0; n < kRowItems; ++n)
        if (is_there(RowItem{n}, view)) taken += row_item_width(RowItem{n}, view, frame) + gap;
    for (unsigned n = 0; n < kRowItems && taken > space; ++n) {
        if (!is_there(RowItem{n}, view)) continue;
        taken -= row_item_width(RowItem{n}, view, frame) + gap;
        plan.left_out |= bit_of(RowItem{n});
    }
    const float least = frame.px(kLeastSentence);
    if (plan.has(RowItem::sentence, view))
        plan.sentence = std::min(least + space - taken, frame.px(kMostSentence));
    plan.left = std::max(space - taken - std::max(plan.sentence - least, 0.0F), 0.0F);
    return plan;
}

/// The next place in the row, for something that is so high.
void place_next(float& x, float width, float height, ImVec2 low, const Frame& frame) {
    const float y = low.y + (ImGui::GetWindowHeight() - height) / 2;
    ImGui::SetCursorScreenPos({std::round(x), std::round(y)});
    x += width + frame.px(kControlsGap);
}

ModelButton model_button(const Frame& frame, Actions& out, bool open) {
    ModelButton model;
    model.button = popover_button(frame, "model", "Model ▾",
                                  {"Model: sizes, the call and the weights", "Key: D"});
    if (model.button.pressed) out.push_back(ShowModel{!open});
    return model;
}

}  // namespace

void draw_row_item(RowItem item, const ControlsView& view, const Frame& frame, Actions& out) {
    const float rest = ImGui::CalcItemWidth();
    switch (item) {
        case RowItem::preset:
            return preset_combo(view, rest, frame, out);
        case RowItem::sentence:
            return sentence_field(view, rest, frame, out);
        case RowItem::group:
            return draw_group_row(view.groups, frame, out, has_place);
        case RowItem::beside:
            return draw_beside_field(view.groups, frame, out, has_place);
        case RowItem::sequence:
            return place_field("##batch", "sequence", view.batch, view.batches,
                               {"Sequence of the batch to show", ""}, frame, out, [&](Index n) {
                                   return ShowHead{view.head, n};
                               });
        case RowItem::layer:
            return place_field("##layer", "layer", view.layer, view.layers,
                               {"Layer to show", "Key: Y"}, frame, out,
                               [](Index n) { return ShowLayer{n}; });
        case RowItem::head:
            return place_field("##head", "head", view.head, view.heads,
                               {"Head to show",
                                view.heads_text + (view.heads_text.empty() ? "" : "\n") + "Key: H"},
                               frame, out, [&](Index n) {
                                   return ShowHead{n, view.batch};
                               });
        case RowItem::temperature:
            return temperature(view, frame, out);
        case RowItem::gradients:
            return flip("gradients", "gradients", view.gradients,
                        {"∂L/∂ of every stage and parameter",
                         "The canvas shows gradients instead of values."},
                        frame, out, [](bool on) { return ShowGradients{on}; });
        case RowItem::loss:
            return draw_loss(view.loss, frame, out);
        case RowItem::causal:
            return flip("causal", "causal", view.causal,
                        {"Causal mask: key j ≤ query i", "M[i,j] = −∞ above the diagonal. [T, T]"},
                        frame, out, [](bool on) { return SetCausal{on}; });
        case RowItem::scaling:
            return flip("scaling", scaling_text(view, rest, frame), view.scaling,
                        {"S = scores / √d_k", "Off: the raw scores go into softmax. [T, T]"}, frame,
                        out, [](bool on) { return SetScaling{on}; });
    }
}

ModelButton draw_controls(const ControlsView& view, const Frame& frame, Actions& out) {
    constexpr std::array kOrder{RowItem::preset, RowItem::group,     RowItem::sentence,
                                RowItem::beside, RowItem::layer,     RowItem::sequence,
                                RowItem::head,   RowItem::scaling,   RowItem::temperature,
                                RowItem::causal, RowItem::gradients, RowItem::loss};
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const RowPlan plan = plan_row(view, ImGui::GetContentRegionAvail().x, frame);
    const float field = ImGui::GetFrameHeight();
    float x = low.x + plan.left;
    for (const RowItem item : kOrder) {
        if (!plan.has(item, view)) continue;
        const bool flips =
            item == RowItem::scaling || item == RowItem::causal || item == RowItem::gradients;
        const float width =
            item == RowItem::sentence ? plan.sentence : row_item_width(item, view, frame);
        place_next(x, width, flips ? frame.px(kToggle) : field, low, frame);
        ImGui::PushItemWidth(width);
        draw_row_item(item, view, frame, out);
        ImGui::PopItemWidth();
    }
    place_next(x, 0.0F, field, low, frame);
    ModelButton model = model_button(frame, out, view.model_open);
    model.left_out = plan.left_out;
    return model;
}

}  // namespace attn::ui
