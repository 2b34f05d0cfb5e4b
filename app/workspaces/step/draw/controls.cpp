#include "app/workspaces/step/draw/controls.h"

#include <algorithm>
#include <array>
#include <functional>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/still.h"
#include "app/common/format.h"
#include "app/workspaces/step/actions.h"

namespace attn::ui {
namespace {

using view::Actions;
using view::ControlsView;

/// Controls that stand in the row while it has room for them, each a bit. In the order in which they leave it.
enum class RowItem : unsigned {
    sequence,
    layer,
    temperature,
    gradients,
    causal,
    head,
    scaling,
    loss
};
inline constexpr unsigned kRowItems = 8;

constexpr unsigned bit_of(RowItem item) { return 1U << static_cast<unsigned>(item); }

// Design units.
constexpr float kPresetWidth = 168.0F;
constexpr float kNarrowPreset = 128.0F;
constexpr float kLeastSentence = 168.0F;
constexpr float kControlsGap = 12.0F;
constexpr float kNarrowRow = 720.0F;
constexpr float kLossWidth = 208.0F;  // "L = ½ Σ (output − target)²"
constexpr float kToggle = 28.0F;      // its height
constexpr float kWidth = 336.0F;
constexpr float kPad = 16.0F;
constexpr float kRow = 36.0F;
constexpr float kModelGap = 6.0F;     // under the button
constexpr Index kMostFileHeads = 64;  // that the slider reaches

// Temperatures the slider reaches; any other can be typed.
constexpr double kLowTemperature = 0.05;
constexpr double kHighTemperature = 100.0;

void preset_combo(const ControlsView& view, float width, const Frame& frame, Actions& out) {
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
    const auto row = combo(frame, "##preset", options, width, tip, out);
    if (row) out.push_back(view::LoadPreset{view.presets[static_cast<std::size_t>(*row)].key});
}

void sentence_field(const ControlsView& view, float width, const Frame& frame, Actions& out) {
    std::string draft = view.sentence_draft;
    ImGui::SetNextItemWidth(width);
    push_no_tab_stop();
    struct Words {
        const char *hint, *heading, *tip;
    };
    const Words words =
        view.reads_image  ? Words{"Path of a PNG, press Enter; or drop one", "Image",
                                 "The PNG that the model reads. Press Enter, or drop one here."}
        : view.reads_text ? Words{"Type a text for the model", "Text",
                                  "Every layer is computed as you type. Enter: typing is done."}
                          : Words{"Type a sentence, press Enter", "Sentence",
                                  "One token for each word. Press Enter to compute it."};
    const bool entered = ImGui::InputTextWithHint("##sentence", words.hint, &draft,
                                                  ImGuiInputTextFlags_EnterReturnsTrue);
    pop_no_tab_stop();
    still_field(frame, frame.fonts.body, draft, words.hint);
    tooltip(frame, words.heading, words.tip);
    text_stop(frame);
    if (draft != view.sentence_draft) {
        if (view.reads_text)
            out.push_back(view::TypeText{draft});
        else
            out.push_back(view::DraftSentence{draft});
    }
    if (!entered) return;
    if (view.reads_image)
        out.push_back(view::ReadImage{draft});
    else if (view.reads_text)
        out.push_back(view::EndGesture{});
    else
        out.push_back(view::SetSentence{draft});
}

/// Which of several is looked at: counted from 0.
template <class MakeAction>
void place_field(const char* id, const char* words, Index value, Index count, const Tip& tip,
                 const Frame& frame, Actions& out, MakeAction make) {
    const float width = number_width(frame, words, count - 1);
    if (const auto to = number_field(frame, id, words, value, 0, count - 1, width, tip, out))
        out.push_back(make(*to));
}

template <class MakeAction>
void flip(const char* id, const std::string& words, bool on, const Tip& tip, const Frame& frame,
          Actions& out, MakeAction make) {
    if (const auto value = toggle(frame, id, words, on, tip)) out.push_back(make(*value));
}

std::string scaling_words(const ControlsView& view) {
    return view.scaling ? view.scale_words : "scaling off";
}

SliderWords temperature_words(const ControlsView& view) {
    return {"τ", view::cell_number(view.temperature, 2), "100.00"};
}

void temperature(const ControlsView& view, const Frame& frame, Actions& out) {
    const SliderWords words = temperature_words(view);
    const Tip tip{"τ: temperature",
                  "S = scores · scale / τ. Above 1 flatter, below 1 sharper. Drag, or double-click "
                  "to type."};
    const auto next = real_slider(frame, "##temperature", words, view.temperature, kLowTemperature,
                                  kHighTemperature, slider_width(frame, words), tip, out);
    if (next) out.push_back(view::SetTemperature{*next});
}

/// What gradients are of: a list, while they are shown.
void draw_loss(const view::LossView& view, const Frame& frame, Actions& out) {
    const Options options{view.choices, view.current,
                          view.choices[static_cast<std::size_t>(view.current)]};
    const Tip tip{
        "L: what the gradients are of",
        "The sum of all outputs, one output (the selected one), or half the squared error to a "
        "target, which is 0 until you set it at the stage output; the cross-entropy of an output "
        "row; or, where "
        "the file gives dY, what that is the gradient of."};
    if (const auto row = combo(frame, "##loss", options, frame.px(kLossWidth), tip, out))
        out.push_back(view::SetLoss{static_cast<view::LossKind>(*row)});
}

float row_item_width(RowItem item, const ControlsView& view, const Frame& frame) {
    if (item == RowItem::sequence) return number_width(frame, "sequence", view.batches - 1);
    if (item == RowItem::layer) return number_width(frame, "layer", view.layers - 1);
    if (item == RowItem::head) return number_width(frame, "head", view.heads - 1);
    if (item == RowItem::temperature) return slider_width(frame, temperature_words(view));
    if (item == RowItem::gradients) return toggle_width(frame, "gradients");
    if (item == RowItem::causal) return toggle_width(frame, "causal");
    if (item == RowItem::loss) return frame.px(kLossWidth);
    // Scaling: room for any d_k, so that nothing beside it moves when that is changed.
    return std::max(toggle_width(frame, "÷ √128 = 11.31"),
                    toggle_width(frame, scaling_words(view)));
}

void draw_row_item(RowItem item, const ControlsView& view, const Frame& frame, Actions& out) {
    switch (item) {
        case RowItem::sequence:
            return place_field("##batch", "sequence", view.batch, view.batches,
                               {"The sequence of the batch that is shown", ""}, frame, out,
                               [&](Index n) {
                                   return view::ShowHead{view.head, n};
                               });
        case RowItem::layer:
            return place_field("##layer", "layer", view.layer, view.layers,
                               {"The layer shown", "Key: Y"}, frame, out,
                               [](Index n) { return view::ShowLayer{n}; });
        case RowItem::head:
            return place_field(
                "##head", "head", view.head, view.heads,
                {"The head that is shown",
                 view.heads_words + (view.heads_words.empty() ? "" : "\n") + "Key: H"},
                frame, out, [&](Index n) {
                    return view::ShowHead{n, view.batch};
                });
        case RowItem::temperature:
            return temperature(view, frame, out);
        case RowItem::gradients:
            return flip("gradients", "gradients", view.gradients,
                        {"∂L/∂ of every stage and parameter",
                         "The canvas shows gradients in place of values."},
                        frame, out, [](bool on) { return view::ShowGradients{on}; });
        case RowItem::loss:
            return draw_loss(view.loss, frame, out);
        case RowItem::causal:
            return flip("causal", "causal", view.causal,
                        {"Causal mask: key j ≤ query i", "M[i,j] = −∞ above the diagonal. [T, T]"},
                        frame, out, [](bool on) { return view::SetCausal{on}; });
        case RowItem::scaling:
            return flip("scaling", scaling_words(view), view.scaling,
                        {"S = scores / √d_k", "Off: the raw scores go into softmax. [T, T]"}, frame,
                        out, [](bool on) { return view::SetScaling{on}; });
    }
}

bool is_there(RowItem item, const ControlsView& view) {
    if (item == RowItem::sequence) return view.batches > 1;
    if (item == RowItem::layer) return view.layers > 1;
    if (item == RowItem::head) return view.heads > 1;
    if (item == RowItem::loss) return view.loss.shown;
    return true;
}

/// What the row holds at this width: the sentence takes what is left.
struct RowPlan {
    float preset = 0.0F, sentence = 0.0F;
    unsigned left_out = 0;
};

RowPlan plan_row(const ControlsView& view, float room, const Frame& frame) {
    const float gap = frame.px(kControlsGap);
    RowPlan plan;
    plan.preset = frame.px(room < frame.px(kNarrowRow) ? kNarrowPreset : kPresetWidth);
    float taken = plan.preset + gap + button_width(frame, "Model ▾") + gap;
    for (unsigned n = 0; n < kRowItems; ++n)
        if (is_there(RowItem{n}, view)) taken += row_item_width(RowItem{n}, view, frame) + gap;
    for (unsigned n = 0; n < kRowItems && taken + frame.px(kLeastSentence) > room; ++n) {
        if (!is_there(RowItem{n}, view)) continue;
        taken -= row_item_width(RowItem{n}, view, frame) + gap;
        plan.left_out |= bit_of(RowItem{n});
    }
    plan.sentence = std::max(frame.px(kLeastSentence) / 2, room - taken);
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
    if (button(frame, "model", "Model ▾", {"Model: sizes and seed", "Key: D"}))
        out.push_back(view::ShowModel{!open});
    model.low = ImGui::GetItemRectMin();
    model.high = ImGui::GetItemRectMax();
    model.control = last_item_id();
    return model;
}

// ---- the popover

constexpr ImGuiWindowFlags kPopover =
    ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
    ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoFocusOnAppearing;

using Row = std::function<void(const Frame& frame, Actions& out)>;

/// Sliders over whole numbers of the model; the tracks of all of them begin at one place.
void add_sizes(const ControlsView& view, std::vector<Row>& rows) {
    const auto add = [&](const char* name, Index value, Index high, const Tip& tip, auto make) {
        rows.emplace_back([=](const Frame& frame, Actions& out) {
            const float label = frame.text_width(frame.fonts.body, "d_model");
            const SliderWords words{name, std::to_string(value), "000", label};
            const auto next = log_slider(frame, ("##" + words.label).c_str(), words, value, 1, high,
                                         ImGui::CalcItemWidth(), tip, out);
            if (next) out.push_back(make(*next));
        });
    };
    const char* how = "Powers of two are stops. Double-click to type.";
    if (view.toy) {
        add("d_model", view.d_model, view::kMaxModelWidth,
            {"d_model: columns of X. X is [T, d_model]", how},
            [](Index n) { return view::SetModelWidth{n}; });
        add("d_k", view.d_k, view::kMaxKeyWidth,
            {"d_k: columns of Q and K in each head. W_Q is [d_model, heads · d_k]", how},
            [](Index n) { return view::SetKeyWidth{n}; });
    }
    const Index most = view.toy ? view::kMaxHeads : std::max(kMostFileHeads, view.heads);
    if (view.projects)
        add("heads", view.heads, most,
            {"H: attention heads", "Each has its own d_k columns of W_Q, W_K and W_V."},
            [](Index n) { return view::SetHeads{n}; });
}

/// |i − j| ≤ w.
void draw_window_mask(const ControlsView& view, const Frame& frame, Actions& out) {
    const Tip tip{"Window mask: |i − j| ≤ w", "A query sees only the keys near it. [T, T]"};
    if (const auto on = toggle(frame, "window", view.window_words, view.windowed, tip))
        out.push_back(view::SetWindow{*on ? std::optional<Index>(1) : std::nullopt});
    if (!view.window) return;
    const Index high = std::max(view.tokens - 1, *view.window);
    ImGui::SameLine(0.0F, frame.px(16));
    const auto next = number_field(frame, "##window", "w", *view.window, 0, high,
                                   number_width(frame, "w", high), tip, out);
    if (next) out.push_back(view::SetWindow{*next});
}

void draw_seed(const ControlsView& view, const Frame& frame, Actions& out) {
    const Tip tip{"Seed of the toy weights", "The same seed gives the same W_Q, W_K, W_V."};
    const float width = seed_width(frame, view.seed);
    if (const auto next = seed_field(frame, "##seed", view.seed, width, tip, out))
        out.push_back(view::SetSeed{*next});
    ImGui::SameLine(0.0F, frame.px(8));
    if (button(frame, "reseed", "re-seed",
               {"The next seed", "New weights, row r of each W is drawn from N(0, 1/(2r + 4))."}))
        out.push_back(view::SetSeed{view.seed + 1});
}

/// What the popover holds, from top to bottom.
std::vector<Row> rows_of(const ControlsView& view, unsigned left_out) {
    std::vector<Row> rows;
    for (unsigned n = kRowItems; n-- > 0;)
        if ((left_out & bit_of(RowItem{n})) != 0)
            rows.emplace_back([&view, n](const Frame& frame, Actions& out) {
                draw_row_item(RowItem{n}, view, frame, out);
            });
    add_sizes(view, rows);
    rows.emplace_back(
        [&view](const Frame& frame, Actions& out) { draw_window_mask(view, frame, out); });
    if (view.toy)
        rows.emplace_back(
            [&view](const Frame& frame, Actions& out) { draw_seed(view, frame, out); });
    return rows;
}

/// The rows beneath each other; in a low window beside each other too, so that none is cut.
struct Columns {
    std::size_t rows = 1;  // of each
    float width = 0.0F;
    ImVec2 size;  // of the popover
};

Columns columns_of(std::size_t count, float top, const Frame& frame) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const float pad = frame.px(kPad);
    const float row = frame.px(kRow);
    const auto most = static_cast<std::size_t>(std::max(1.0F, (display.y - top - 2 * pad) / row));
    const std::size_t columns = (count + most - 1) / most;
    const auto beside = static_cast<float>(columns);
    Columns laid;
    laid.rows = (count + columns - 1) / columns;
    laid.width = std::min(frame.px(kWidth) - 2 * pad, (display.x - pad) / beside - pad);
    laid.size = {pad + beside * (laid.width + pad), 2 * pad + row * static_cast<float>(laid.rows)};
    return laid;
}

void draw_columns(const std::vector<Row>& rows, const Columns& columns, ImVec2 low,
                  const Frame& frame, Actions& out) {
    const float pad = frame.px(kPad);
    ImGui::PushItemWidth(columns.width);
    for (std::size_t n = 0; n < rows.size(); ++n) {
        const auto column = static_cast<float>(n / columns.rows);
        const auto row = static_cast<float>(n % columns.rows);
        ImGui::SetCursorScreenPos(
            {low.x + pad + column * (columns.width + pad), low.y + pad + row * frame.px(kRow)});
        rows[n](frame, out);
    }
    ImGui::PopItemWidth();
}

/// Escape and a click elsewhere; the keyboard goes back to the button.
void close_when_left(const ModelButton& button, ImVec2 low, ImVec2 high, const Frame& frame,
                     Actions& out) {
    if (frame.focus == nullptr) return;
    const Hands& hands = frame.focus->hands();
    if (hands.overlay || hands.list) return;
    const bool clicked = ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
                         !ImGui::IsMouseHoveringRect(low, high, false) &&
                         !ImGui::IsMouseHoveringRect(button.low, button.high, false);
    const bool escape = !hands.typing && take_key(frame, view::Key::escape);
    if (clicked || escape) out.push_back(view::ShowModel{false});
    const bool by_keys = frame.focus->focus().control != 0;
    if (escape && by_keys) out.push_back(view::FocusControl{button.control});
}

}  // namespace

ModelButton draw_controls(const ControlsView& view, const Frame& frame, Actions& out) {
    constexpr std::array kOrder{RowItem::layer,     RowItem::sequence,    RowItem::head,
                                RowItem::scaling,   RowItem::temperature, RowItem::causal,
                                RowItem::gradients, RowItem::loss};
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const RowPlan plan = plan_row(view, ImGui::GetContentRegionAvail().x, frame);
    const float field = ImGui::GetFrameHeight();
    float x = low.x;
    place_next(x, plan.preset, field, low, frame);
    preset_combo(view, plan.preset, frame, out);
    place_next(x, plan.sentence, field, low, frame);
    sentence_field(view, plan.sentence, frame, out);
    for (const RowItem item : kOrder) {
        if (!is_there(item, view) || (plan.left_out & bit_of(item)) != 0) continue;
        const bool flips =
            item == RowItem::scaling || item == RowItem::causal || item == RowItem::gradients;
        place_next(x, row_item_width(item, view, frame), flips ? frame.px(kToggle) : field, low,
                   frame);
        draw_row_item(item, view, frame, out);
    }
    place_next(x, 0.0F, field, low, frame);
    ModelButton model = model_button(frame, out, view.model_open);
    model.left_out = plan.left_out;
    return model;
}

void draw_model(const ControlsView& view, const ModelButton& button, const Frame& frame,
                Actions& out) {
    const std::vector<Row> rows = rows_of(view, button.left_out);
    const float top = button.high.y + frame.px(kModelGap);
    const Columns columns = columns_of(rows.size(), top, frame);
    const ImVec2 low{std::max(0.0F, button.high.x - columns.size.x), top};
    const ImVec2 high{low.x + columns.size.x, low.y + columns.size.y};
    ImGui::SetNextWindowPos(low);
    ImGui::SetNextWindowSize(columns.size);
    ImGui::Begin("model", nullptr, kPopover);
    ImGui::PushClipRect(low, high, false);  // the window's padding cuts nothing
    frame.painter.rect(low, high, frame.theme.surface, frame.px(8));
    frame.painter.outline(low, high, frame.theme.muted, frame.px(1), frame.px(8));
    if (frame.focus != nullptr) frame.focus->keep_inside();
    draw_columns(rows, columns, low, frame, out);
    ImGui::PopClipRect();
    ImGui::End();
    close_when_left(button, low, high, frame, out);
}

}  // namespace attn::ui
