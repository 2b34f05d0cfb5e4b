#include <fmt/format.h>

#include "app/common/document/intervention_actions.h"
#include "app/common/document/swept.h"
#include "app/common/draw/open_model.h"
#include "app/common/format.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kWide = 156.0F, kNarrow = 124.0F, kSlider = 170.0F;
constexpr double kLeastLimit = 0.01;

/// A list after its label; the key of what was chosen.
std::optional<std::string> list(ControlBar& bar, const char* label, const char* id,
                                const HeadsChoice& choice, float width, const Tip& tip) {
    const auto now = static_cast<std::size_t>(choice.current);
    const std::string shown = now < choice.names.size() ? choice.names[now] : std::string();
    const auto n = bar.label(label).combo(id, {choice.names, choice.current, shown}, width, tip);
    if (!n) return std::nullopt;
    return choice.keys[*n];
}

/// A row of choices after its label; the key of what was chosen.
std::optional<std::string> row(ControlBar& bar, const char* label, const char* id,
                               const HeadsChoice& choices, const Tip& tip) {
    const auto n = bar.label(label).choice(id, choices.names, choices.current, tip);
    if (!n) return std::nullopt;
    return choices.keys[*n];
}

void draw_clip(const HeadsControls& now, ControlBar& bar) {
    const Tip tip{
        "Keys outside the colour scale",
        "Key 0, or keys whose mean weight reaches a limit: sinks take unused weight. Key: Z"};
    if (const auto by = list(bar, "sinks", "##clip", now.clip, kNarrow, tip))
        bar.out.push_back(ClipSinks{*by, now.clip_limit});
    if (now.clip.key() != "limit") return;
    if (const auto limit =
            bar.slider("limit", {"≥", view::number(now.clip_limit), "0.0000"}, now.clip_limit,
                       kLeastLimit, 1.0, kSlider, {"Smallest mean weight of a clipped key", ""}))
        bar.out.push_back(ClipSinks{"limit", within(*limit, kLeastLimit, 1.0)});
}

void draw_drawing(const AllHeadsView& view, ControlBar& bar) {
    const HeadsControls& now = view.controls;
    const Tip show{"Quantity drawn for every head",
                   "Weights, weights times norms, times the gradient, or rollout. The i under the "
                   "headline gives limits and source."};
    if (const auto key = list(bar, "show", "##show", now.show, kNarrow, show))
        bar.out.push_back(ShowHeadsAs{*key});
    const HeadsChoice curves{{"linear", "√", "log"}, {"linear", "root", "log"}, now.curve};
    if (const auto key = row(bar, "scale", "curve", curves,
                             {"Colour scale", "log: from 1/10000 of the largest number"}))
        bar.out.push_back(SetHeadsCurve{*key});
    draw_clip(now, bar);
    const HeadsChoice ends{{"same", "own"}, {"same", "own"}, now.own_range ? 1 : 0};
    if (const auto key = row(
            bar, "colours", "range", ends,
            {"Maximum of the colour scale", "One maximum for all heads, or one per head. Key: O"}))
        bar.out.push_back(SetHeadsRange{*key == "own"});
}

/// A text that a click opens to be typed.
std::optional<std::string> typed(ControlBar& bar, const char* id, const char* label,
                                 const std::string& text, const Tip& tip) {
    auto now = list_field(bar.frame, id, label, text, tip, bar.out,
                          [&](float width) { return bar.take(width); });
    return now == text ? std::nullopt : now;
}

void draw_sweep_controls(const HeadsControls& now, ControlBar& bar) {
    const Tip part{"Part to change",
                   "Each head's context; or, at each position, the residual stream that a layer "
                   "reads, or the output of its MLP"};
    if (const auto key = row(bar, "of", "part", now.part, part)) bar.out.push_back(SweepOver{*key});
    const Tip what{"Replacement",
                   "0, the mean over the positions of this text, or the same part of another text"};
    if (const auto key = row(bar, "by", "ablation", now.ablation, what))
        bar.out.push_back(SweepHeads{*key, now.sweep.key()});
    if (now.ablation.key() == "patch") {
        const Tip from{"Source text of the patch", "Of any length. Enter: sweep"};
        if (const auto text = typed(bar, "from", "from", now.from, from))
            bar.out.push_back(PatchSweep{*text});
        const Tip pairs{"Paired tokens",
                        "Position here = position there, as 0=0, 3=4; empty: the common beginning "
                        "and end. Or click a token above and one below"};
        if (const auto text = typed(bar, "pairs", "pairs", now.pairs, pairs))
            bar.out.push_back(PairTokens{*text});
    }
    const Tip shown{
        "Measure of each change",
        "The change of logit A − logit B (the two most probable answers of the untouched run), "
        "or KL(untouched‖changed) of the next token or class"};
    if (const auto key = row(bar, "show", "sweep", now.sweep, shown))
        bar.out.push_back(SweepHeads{now.ablation.key(), *key});
}

/// What of a circuit, over which tokens.
void draw_circuit_controls(const HeadsControls& now, ControlBar& bar) {
    if (now.form.key() != "circuit") return;
    const Tip what{
        "QK: W_Q W_Kᵀ, which keys match; OV: W_V W_O, what it adds",
        "Composition: how much it reads of the output of earlier heads. Edges: what each "
        "part of the model reads"};
    if (const auto key = row(bar, "", "circuit", now.circuit, what))
        bar.out.push_back(ShowCircuit{*key, now.over.key()});
    if (now.circuit.key() == "composition" || now.circuit.key() == "edges") return;
    const Tip over{"Tokens of the columns", "Of the text, or the nearest in the vocabulary"};
    if (const auto key = row(bar, "over", "over", now.over, over))
        bar.out.push_back(ShowCircuit{now.circuit.key(), *key});
}

/// Where the source of an alignment ends.
void draw_parting(const HeadsControls& now, ControlBar& bar) {
    if (now.form.key() != "alignment") return;
    const Tip tip{"Token between source and target", "The words before it are the source"};
    if (const auto token = typed(bar, "parting", "parts at", now.parting, tip))
        bar.out.push_back(PartTextAt{*token});
}

/// How the heat map lies over the picture.
void draw_image_controls(const AllHeadsView& view, ControlBar& bar) {
    if (view.images.empty()) return;
    const HeadImageLook& look = view.controls.image;
    bar.field<SetImageSmooth>(look);
    if (view.images.front().pixels) bar.field<SetImageOpacity>(look);
    bar.field<SetImageMass>(look);
}

/// Heads shown together.
void draw_together(const HeadsControls& now, ControlBar& bar) {
    if (now.form.key() != "matrix" && now.form.key() != "lines" && now.form.key() != "alignment")
        return;
    const Tip of{"Heads shown together", "Their mean as a matrix, or one colour each as lines"};
    if (const auto key = row(bar, "large", "of", now.of, of)) bar.out.push_back(SetHeadsOf{*key});
}

void draw_order(const AllHeadsView& view, ControlBar& bar) {
    const HeadsControls& now = view.controls;
    if (view.list == HeadsList::sweep) return draw_sweep_controls(now, bar);
    if (view.list != HeadsList::scatter) {
        const Tip tip{"Order of the heads", "Largest first. Keys: N, Shift+N"};
        if (const auto key = list(bar, "sort by", "##sort", now.sort, kWide, tip))
            bar.out.push_back(SortHeads{*key});
        return;
    }
    const Tip tip{"A measure of the scatter plot", "The x axis or the y axis"};
    if (const auto key = list(bar, "x", "##x", now.x, kWide, tip))
        bar.out.push_back(ScatterHeads{*key, now.y.key()});
    if (const auto key = list(bar, "y", "##y", now.y, kWide, tip))
        bar.out.push_back(ScatterHeads{now.x.key(), *key});
}

void draw_filter(const AllHeadsView& view, ControlBar& bar) {
    const HeadsControls& now = view.controls;
    const Tip measure_tip{"Only heads with at least this value of the measure", ""};
    if (const auto key = list(bar, "only", "##measure", now.measure, kWide, measure_tip))
        bar.out.push_back(FilterHeadsByMeasure{*key, now.least});
    const std::string& measure = now.measure.key();
    if (measure.empty()) return;
    if (const auto least = bar.slider("least", {"≥", view::number(now.least), "00.0000"},
                                      within(now.least, kLeastLimit, now.least_high), kLeastLimit,
                                      now.least_high, kSlider, {"Minimum", ""}))
        bar.out.push_back(FilterHeadsByMeasure{measure, *least});
}

void draw_pins(const AllHeadsView& view, ControlBar& bar) {
    const HeadsControls& now = view.controls;
    const Tip tip{now.pinned ? "Unpin the selected head" : "Pin the selected head",
                  "Two pinned heads are compared. Key: Space"};
    if (bar.button("pin", now.pinned ? "unpin" : "pin", tip))
        bar.out.push_back(PinHead{view.here.layer, view.here.head, !now.pinned});
    if (now.compares && bar.button("swap", "swap A and B", {"Swap A and B", "Key: X"}))
        bar.out.push_back(SwapPins{});
}

/// What becomes of the head that is shown.
void draw_switches(const AllHeadsView& view, ControlBar& bar) {
    const HeadsControls& now = view.controls;
    const Tip tip{now.off ? "Switch the selected head on" : "Switch the selected head off",
                  "Off: its rows of W_O are 0. The model runs again; later heads and the output "
                  "show the effect. Key: W"};
    if (!now.switch_unavailable.empty())
        bar.put_text(bar.frame.theme.muted, now.switch_unavailable);
    else if (bar.button("switch", now.off ? "switch this head on" : "switch this head off", tip))
        bar.out.push_back(SwitchHead{view.here.layer, view.here.head, now.off});
    for (const HeadEdit& edit : now.edits) {
        if (!edit.why_not.empty()) continue;
        const std::string id = fmt::format("edit {}", view::key_name(edit.key));
        const Tip why{edit.command, fmt::format("{} Key: {}", edit.tip, view::key_name(edit.key))};
        if (bar.button(id.c_str(), edit.button, why)) bar.out.push_back(edit.action);
    }
}

/// Each is pressed to remove it; those that do not fit are in the palette.
void draw_interventions(const AllHeadsView& view, ControlBar& bar) {
    constexpr std::size_t kMost = 6;
    const auto& list = view.controls.interventions;
    for (std::size_t n = 0; n < std::min(list.size(), kMost); ++n) {
        const std::string id = fmt::format("remove {}", list[n].name);
        if (bar.button(
                id.c_str(), fmt::format("{} ×", list[n].name),
                {fmt::format("Remove: {}", list[n].text), "The model runs again without it."}))
            bar.out.push_back(list[n].remove);
    }
    if (list.size() > kMost)
        bar.put_text(bar.frame.theme.muted,
                     fmt::format("and {} more: Ctrl+K, remove", list.size() - kMost));
    if (list.size() > 1 &&
        bar.button("remove all", "remove all",
                   {"Remove every intervention", "Shift+W only switches all heads on."}))
        bar.out.push_back(RemoveInterventions{});
}

}  // namespace

void draw_heads_bar(const AllHeadsView& view, ControlBar& bar) {
    const HeadsControls& now = view.controls;
    if (!now.model) open_model_button(bar, "translate");
    if (const auto key =
            row(bar, "", "form", now.form,
                {"View of the selected head",
                 "dimensions: contribution of each to the score; circuit: QK and OV. Key: F"}))
        bar.out.push_back(SetHeadForm{*key});
    draw_circuit_controls(now, bar);
    draw_parting(now, bar);
    draw_image_controls(view, bar);
    if (const auto key =
            row(bar, "heads as", "list", now.list,
                {"View of all heads",
                 "Small pictures, a scatter plot, a table, or a sweep over the model. Key: L"}))
        bar.out.push_back(SetHeadsList{*key});
    draw_order(view, bar);
    if (view.pending.empty()) draw_pins(view, bar);
    bar.rest();
    draw_together(now, bar);
    draw_drawing(view, bar);
    const Tip label_tip{"Only heads with this label",
                        "Labels are proposals; the inspector has the evidence"};
    if (const auto key = list(bar, "only", "##label", now.label, kWide, label_tip))
        bar.out.push_back(FilterHeadsByLabel{*key});
    draw_filter(view, bar);
    if (!view.pending.empty()) return;
    if (bar.button("csv", "copy CSV", {"Copy the measures of every head", "Key: C"}))
        bar.out.push_back(CopyHeadMeasures{});
    if (now.model) draw_switches(view, bar);
    draw_interventions(view, bar);
}

}  // namespace attn::ui
