#include <fmt/format.h>

#include "app/common/document/intervention_actions.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/widgets.h"
#include "app/common/format.h"
#include "app/workspaces/heads/draw/parts.h"

namespace attn::ui {
namespace {

using view::AllHeadsView, view::HeadsChoice;

// Design units.
constexpr float kWide = 156.0F, kNarrow = 124.0F, kSlider = 170.0F;
constexpr float kOneRow = 1330.0F;   // of either part of the bar
constexpr float kTwoRows = 1100.0F;  // of the longer part
constexpr double kLeastLimit = 0.01;

struct Label {
    const char* words;
    bool begins = false;  // a line
};

/// A muted word before a control, which stays with it on one line.
void label(const Frame& frame, const Label& at, float width) {
    if (!at.begins) flow(frame, frame.text_width(frame.fonts.body, at.words) + frame.px(8) + width);
    ImGui::AlignTextToFramePadding();
    words(frame, frame.fonts.body, frame.theme.muted, at.words);
    ImGui::SameLine(0.0F, frame.px(8));
}

/// A list after its label; the key of what was chosen.
std::optional<std::string> list(const Frame& frame, const Label& text, const char* id,
                                const HeadsChoice& choice, float width, const Tip& tip,
                                view::Actions& out) {
    label(frame, text, frame.px(width));
    const auto now = static_cast<std::size_t>(choice.current);
    const std::string shown = now < choice.names.size() ? choice.names[now] : std::string();
    const auto n =
        combo(frame, id, {choice.names, choice.current, shown}, frame.px(width), tip, out);
    if (!n) return std::nullopt;
    return choice.keys[static_cast<std::size_t>(*n)];
}

/// A row of choices after its label; the key of what was chosen.
std::optional<std::string> row(const Frame& frame, const Label& text, const char* id,
                               const HeadsChoice& choices, const Tip& tip) {
    float width = 0.0F;
    for (const std::string& name : choices.names) width += button_width(frame, name);
    label(frame, text, width);
    const auto n = choice(frame, id, choices.names, choices.current, tip);
    if (!n) return std::nullopt;
    return choices.keys[static_cast<std::size_t>(*n)];
}

void draw_clip(const view::HeadsControls& now, const Frame& frame, view::Actions& out) {
    const Tip tip{
        "Which keys are left out of the colours",
        "Key 0, or keys whose mean weight is at least a limit: sinks take what a head does "
        "not use. Key: Z"};
    if (const auto by = list(frame, {"sinks"}, "##clip", now.clip, kNarrow, tip, out))
        out.push_back(view::ClipSinks{*by, now.clip_limit});
    if (now.clip.key() != "limit") return;
    flow(frame, frame.px(kSlider));
    if (const auto limit = real_slider(
            frame, "limit", {"≥", view::number(now.clip_limit), "0.0000"}, now.clip_limit,
            kLeastLimit, 1.0, frame.px(kSlider), {"Least mean weight of a clipped key", ""}, out))
        out.push_back(view::ClipSinks{"limit", within(*limit, kLeastLimit, 1.0)});
}

void draw_drawing(const AllHeadsView& view, const Frame& frame, view::Actions& out) {
    const view::HeadsControls& now = view.controls;
    const Tip show{"What is drawn of every head",
                   "Weights, what they carry, what it does to the loss, or what came through the "
                   "layers; formula, caution and source stand under the pictures"};
    if (const auto key = list(frame, {"show", true}, "##show", now.show, kNarrow, show, out))
        out.push_back(view::ShowHeadsAs{*key});
    const HeadsChoice curves{{"linear", "√", "log"}, {"linear", "root", "log"}, now.curve};
    if (const auto key = row(frame, {"scale"}, "curve", curves,
                             {"How fast colours grow with a number",
                              "log: from 1/10000 of the "
                              "largest up"}))
        out.push_back(view::SetHeadsCurve{*key});
    draw_clip(now, frame, out);
    const HeadsChoice ends{{"same", "own"}, {"same", "own"}, now.own_range ? 1 : 0};
    if (const auto key = row(frame, {"colours"}, "range", ends,
                             {"Where the colours end",
                              "At one number for all heads, or at each head's largest. Key: O"}))
        out.push_back(view::SetHeadsRange{*key == "own"});
    if (const auto key = row(frame, {"as"}, "form", now.form,
                             {"The form of the head that is shown",
                              "dimensions: what each one adds to the score of the chosen query. "
                              "Key: F"}))
        out.push_back(view::SetHeadForm{*key});
}

void draw_order(const AllHeadsView& view, const Frame& frame, view::Actions& out) {
    const view::HeadsControls& now = view.controls;
    if (const auto key = row(frame, {"heads", true}, "list", now.list,
                             {"How all heads stand",
                              "Small pictures, dots by two measures, or all measures. Key: L"}))
        out.push_back(view::SetHeadsList{*key});
    if (view.list != view::HeadsList::scatter) {
        const Tip tip{"The order of the heads", "Largest first. Keys: N, Shift+N"};
        if (const auto key = list(frame, {"sort by"}, "##sort", now.sort, kWide, tip, out))
            out.push_back(view::SortHeads{*key});
        return;
    }
    const Tip tip{"A measure of the scatter", "x goes across, y up"};
    if (const auto key = list(frame, {"x"}, "##x", now.x, kWide, tip, out))
        out.push_back(view::ScatterHeads{*key, now.y.key()});
    if (const auto key = list(frame, {"y"}, "##y", now.y, kWide, tip, out))
        out.push_back(view::ScatterHeads{now.x.key(), *key});
}

void draw_filter(const AllHeadsView& view, const Frame& frame, view::Actions& out) {
    const view::HeadsControls& now = view.controls;
    const Tip label_tip{"Only heads with this label", "A label is a proposal with its evidence"};
    if (const auto key = list(frame, {"only"}, "##label", now.label, kWide, label_tip, out))
        out.push_back(view::FilterHeadsByLabel{*key});
    const Tip measure_tip{"Only heads of which this measure is large enough", ""};
    if (const auto key = list(frame, {"and"}, "##measure", now.measure, kWide, measure_tip, out))
        out.push_back(view::FilterHeadsByMeasure{*key, now.least});
    const std::string& measure = now.measure.key();
    if (measure.empty()) return;
    flow(frame, frame.px(kSlider));
    if (const auto least =
            real_slider(frame, "least", {"≥", view::number(now.least), "00.0000"},
                        within(now.least, kLeastLimit, now.least_high), kLeastLimit, now.least_high,
                        frame.px(kSlider), {"The least that passes", ""}, out))
        out.push_back(view::FilterHeadsByMeasure{measure, *least});
}

void draw_pins(const AllHeadsView& view, const Frame& frame, view::Actions& out) {
    const view::HeadsControls& now = view.controls;
    const std::string words = now.pinned ? "unpin" : "pin";
    flow(frame, button_width(frame, words));
    const Tip tip{now.pinned ? "Unpin the head that is shown" : "Pin the head that is shown",
                  "Two that are pinned are compared. Key: Space"};
    if (button(frame, "pin", words, tip))
        out.push_back(view::PinHead{view.here.layer, view.here.head, !now.pinned});
    if (!now.compares) return;
    flow(frame, button_width(frame, "swap A and B"));
    if (button(frame, "swap", "swap A and B", {"A and B change places", "Key: X"}))
        out.push_back(view::SwapPins{});
}

/// A line of its own: what becomes of the head that is shown.
void draw_switches(const AllHeadsView& view, const Frame& frame, view::Actions& out) {
    const view::HeadsControls& now = view.controls;
    label(frame, {"model", true}, 0.0F);
    const Tip tip{
        now.off ? "Switch the head that is shown on again" : "Switch the head that is shown off",
        "Off: its rows of W_O are 0. The model runs again, and every later head and the "
        "output show what it changed. Key: W"};
    if (button(frame, "switch", now.off ? "switch this head on" : "switch this head off", tip))
        out.push_back(view::SwitchHead{view.here.layer, view.here.head, now.off});
    for (const view::HeadEdit& edit : now.edits) {
        if (!edit.why_not.empty()) continue;
        flow(frame, button_width(frame, edit.button));
        const std::string id = fmt::format("edit {}", view::key_name(edit.key));
        const Tip why{edit.command, fmt::format("{} Key: {}", edit.tip, view::key_name(edit.key))};
        if (button(frame, id.c_str(), edit.button, why)) out.push_back(edit.action);
    }
}

/// A line of its own: each intervention, pressed to remove it; those that do not fit are in the palette.
void draw_interventions(const AllHeadsView& view, const Frame& frame, view::Actions& out) {
    const auto& list = view.controls.interventions;
    if (list.empty()) return;
    label(frame, {"interventions", true}, 0.0F);
    const std::string all = "remove all";
    const float gap = ImGui::GetStyle().ItemSpacing.x;
    const auto more_words = [&](std::size_t n) {
        return fmt::format("and {} more: Ctrl+K, remove", list.size() - n);
    };
    float left = ImGui::GetContentRegionAvail().x - button_width(frame, all) - 2 * gap -
                 frame.text_width(frame.fonts.body, more_words(0));
    std::size_t n = 0;
    for (; n < list.size(); ++n) {
        const std::string words = fmt::format("{} ×", list[n].name);
        left -= button_width(frame, words) + gap;
        if (left < 0.0F && n > 0) break;
        if (n > 0) ImGui::SameLine();
        const std::string id = fmt::format("remove {}", list[n].name);
        if (button(frame, id.c_str(), words,
                   {fmt::format("Remove: {}", list[n].words), "The model runs again without it."}))
            out.push_back(list[n].remove);
    }
    if (n < list.size()) {
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
        words(frame, frame.fonts.body, frame.theme.muted, more_words(n));
    }
    if (list.size() < 2) return;
    ImGui::SameLine();
    if (button(frame, "remove all", all,
               {"Remove every intervention", "Shift+W switches all heads on alone."}))
        out.push_back(view::RemoveInterventions{});
}

}  // namespace

float heads_bar_height(const AllHeadsView& view, float width, const Frame& frame) {
    const bool narrow = width < frame.px(kTwoRows);
    const int usual = width >= frame.px(kOneRow) ? 2 : narrow ? 4 : 3;
    const int edits = !view.controls.model ? 0 : narrow ? 2 : 1;  // switching, rows and patches
    const int rows = usual + edits + (view.controls.interventions.empty() ? 0 : 1);
    return frame.px(static_cast<float>(rows) * kControlRow + 8.0F);
}

void draw_heads_bar(const AllHeadsView& view, const Frame& frame, view::Actions& out) {
    draw_drawing(view, frame, out);
    draw_order(view, frame, out);
    draw_filter(view, frame, out);
    if (!view.controls.count.empty()) {
        flow(frame, frame.text_width(frame.fonts.body, view.controls.count));
        ImGui::AlignTextToFramePadding();
        words(frame, frame.fonts.body, frame.theme.text, view.controls.count);
    }
    if (!view.pending.empty()) return;
    draw_pins(view, frame, out);
    flow(frame, button_width(frame, "copy CSV"));
    if (button(frame, "csv", "copy CSV", {"Copy the measures of every head", "Key: C"}))
        out.push_back(view::CopyHeadMeasures{});
    if (view.controls.model) draw_switches(view, frame, out);
    draw_interventions(view, frame, out);
}

}  // namespace attn::ui
