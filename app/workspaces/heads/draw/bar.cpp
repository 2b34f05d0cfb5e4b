#include <fmt/format.h>

#include "app/common/document/intervention_actions.h"
#include "app/common/format.h"
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
    const Tip tip{"Which keys are left out of the colours",
                  "Key 0, or keys whose mean weight is at least a limit: sinks take what a head "
                  "does not use. Key: Z"};
    if (const auto by = list(bar, "sinks", "##clip", now.clip, kNarrow, tip))
        bar.out.push_back(ClipSinks{*by, now.clip_limit});
    if (now.clip.key() != "limit") return;
    if (const auto limit =
            bar.slider("limit", {"≥", view::number(now.clip_limit), "0.0000"}, now.clip_limit,
                       kLeastLimit, 1.0, kSlider, {"Least mean weight of a clipped key", ""}))
        bar.out.push_back(ClipSinks{"limit", within(*limit, kLeastLimit, 1.0)});
}

void draw_drawing(const AllHeadsView& view, ControlBar& bar) {
    const HeadsControls& now = view.controls;
    const Tip show{"What is drawn of every head",
                   "Weights, what they carry, what it does to the loss, or what came through the "
                   "layers; formula here, caution and source behind “why?”"};
    if (const auto key = list(bar, "show", "##show", now.show, kNarrow, show))
        bar.out.push_back(ShowHeadsAs{*key});
    const HeadsChoice curves{{"linear", "√", "log"}, {"linear", "root", "log"}, now.curve};
    if (const auto key =
            row(bar, "scale", "curve", curves,
                {"How fast colours grow with a number", "log: from 1/10000 of the largest up"}))
        bar.out.push_back(SetHeadsCurve{*key});
    draw_clip(now, bar);
    const HeadsChoice ends{{"same", "own"}, {"same", "own"}, now.own_range ? 1 : 0};
    if (const auto key = row(bar, "colours", "range", ends,
                             {"Where the colours end",
                              "At one number for all heads, or at each head's largest. Key: O"}))
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
    const Tip part{"What is changed in turn",
                   "Each head's context; or at each position what a layer reads, the residual "
                   "stream, or what its MLP adds"};
    if (const auto key = row(bar, "of", "part", now.part, part)) bar.out.push_back(SweepOver{*key});
    const Tip what{"What is put in its place",
                   "0, its mean over the positions of this text, or that of another text"};
    if (const auto key = row(bar, "by", "ablation", now.ablation, what))
        bar.out.push_back(SweepHeads{*key, now.sweep.key()});
    if (now.ablation.key() == "patch") {
        const Tip from{"The text that the patch is taken from", "Of any length. Enter: sweep"};
        if (const auto text = typed(bar, "from", "from", now.from, from))
            bar.out.push_back(PatchSweep{*text});
        const Tip pairs{"Which tokens stand for each other",
                        "Position here = position there, as 0=0, 3=4; empty: the common beginning "
                        "and end. Or click a token above and one below"};
        if (const auto text = typed(bar, "pairs", "pairs", now.pairs, pairs))
            bar.out.push_back(PairTokens{*text});
    }
    const Tip shown{"What is shown of each change",
                    "The change of logit A − logit B, the two likeliest of the untouched run, or "
                    "KL(untouched‖changed) of the next token or class"};
    if (const auto key = row(bar, "show", "sweep", now.sweep, shown))
        bar.out.push_back(SweepHeads{now.ablation.key(), *key});
}

/// What of a circuit, over which tokens.
void draw_circuit_controls(const HeadsControls& now, ControlBar& bar) {
    if (now.form.key() != "circuit") return;
    const Tip what{"QK: W_Q W_Kᵀ, what it looks for; OV: W_V W_O, what it writes",
                   "Composition: how much of what earlier heads write it reads"};
    if (const auto key = row(bar, "", "circuit", now.circuit, what))
        bar.out.push_back(ShowCircuit{*key, now.over.key()});
    if (now.circuit.key() == "composition") return;
    const Tip over{"Which tokens stand at the columns",
                   "The text's, or those of the vocabulary that are nearest to them"};
    if (const auto key = row(bar, "over", "over", now.over, over))
        bar.out.push_back(ShowCircuit{now.circuit.key(), *key});
}

/// Which heads stand together.
void draw_together(const HeadsControls& now, ControlBar& bar) {
    if (now.form.key() != "matrix" && now.form.key() != "lines") return;
    const Tip of{"Which heads stand together",
                 "As a matrix their mean, as lines each in a colour of its own"};
    if (const auto key = row(bar, "large", "of", now.of, of)) bar.out.push_back(SetHeadsOf{*key});
}

void draw_order(const AllHeadsView& view, ControlBar& bar) {
    const HeadsControls& now = view.controls;
    if (view.list == HeadsList::sweep) return draw_sweep_controls(now, bar);
    if (view.list != HeadsList::scatter) {
        const Tip tip{"The order of the heads", "Largest first. Keys: N, Shift+N"};
        if (const auto key = list(bar, "sort by", "##sort", now.sort, kWide, tip))
            bar.out.push_back(SortHeads{*key});
        return;
    }
    const Tip tip{"A measure of the scatter", "x goes across, y up"};
    if (const auto key = list(bar, "x", "##x", now.x, kWide, tip))
        bar.out.push_back(ScatterHeads{*key, now.y.key()});
    if (const auto key = list(bar, "y", "##y", now.y, kWide, tip))
        bar.out.push_back(ScatterHeads{now.x.key(), *key});
}

void draw_filter(const AllHeadsView& view, ControlBar& bar) {
    const HeadsControls& now = view.controls;
    const Tip measure_tip{"Only heads of which this measure is large enough", ""};
    if (const auto key = list(bar, "only", "##measure", now.measure, kWide, measure_tip))
        bar.out.push_back(FilterHeadsByMeasure{*key, now.least});
    const std::string& measure = now.measure.key();
    if (measure.empty()) return;
    if (const auto least = bar.slider("least", {"≥", view::number(now.least), "00.0000"},
                                      within(now.least, kLeastLimit, now.least_high), kLeastLimit,
                                      now.least_high, kSlider, {"The least that passes", ""}))
        bar.out.push_back(FilterHeadsByMeasure{measure, *least});
}

void draw_pins(const AllHeadsView& view, ControlBar& bar) {
    const HeadsControls& now = view.controls;
    const Tip tip{now.pinned ? "Unpin the head that is shown" : "Pin the head that is shown",
                  "Two that are pinned are compared. Key: Space"};
    if (bar.button("pin", now.pinned ? "unpin" : "pin", tip))
        bar.out.push_back(PinHead{view.here.layer, view.here.head, !now.pinned});
    if (now.compares && bar.button("swap", "swap A and B", {"A and B change places", "Key: X"}))
        bar.out.push_back(SwapPins{});
}

/// What becomes of the head that is shown.
void draw_switches(const AllHeadsView& view, ControlBar& bar) {
    const HeadsControls& now = view.controls;
    const Tip tip{
        now.off ? "Switch the head that is shown on again" : "Switch the head that is shown off",
        "Off: its rows of W_O are 0. The model runs again, and every later head and the output "
        "show what it changed. Key: W"};
    if (!now.switch_lacks.empty())
        bar.words(bar.frame.theme.muted, now.switch_lacks);
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
                {fmt::format("Remove: {}", list[n].words), "The model runs again without it."}))
            bar.out.push_back(list[n].remove);
    }
    if (list.size() > kMost)
        bar.words(bar.frame.theme.muted,
                  fmt::format("and {} more: Ctrl+K, remove", list.size() - kMost));
    if (list.size() > 1 &&
        bar.button("remove all", "remove all",
                   {"Remove every intervention", "Shift+W switches all heads on alone."}))
        bar.out.push_back(RemoveInterventions{});
}

}  // namespace

void draw_heads_bar(const AllHeadsView& view, ControlBar& bar) {
    const HeadsControls& now = view.controls;
    if (const auto key = row(bar, "", "form", now.form,
                             {"The form of the head that is shown",
                              "dimensions: what each one adds to the score of the chosen query; "
                              "circuit: QK and OV. Key: F"}))
        bar.out.push_back(SetHeadForm{*key});
    draw_circuit_controls(now, bar);
    if (const auto key = row(bar, "heads as", "list", now.list,
                             {"How all heads stand",
                              "Small pictures, dots by two measures, all measures, or what the "
                              "model says without each. Key: L"}))
        bar.out.push_back(SetHeadsList{*key});
    draw_order(view, bar);
    if (view.pending.empty()) draw_pins(view, bar);
    bar.rest();
    draw_together(now, bar);
    draw_drawing(view, bar);
    const Tip label_tip{"Only heads with this label", "A label is a proposal with its evidence"};
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
