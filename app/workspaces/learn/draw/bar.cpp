#include <algorithm>

#include <fmt/format.h>

#include "app/common/draw/draw.h"
#include "app/common/draw/widgets.h"
#include "app/common/format.h"
#include "app/workspaces/learn/actions.h"
#include "app/workspaces/learn/draw/parts.h"

namespace attn::ui {
namespace {

using view::LearnView;

// Design units.
constexpr float kExperiments = 380.0F;
constexpr float kExperimentsShare = 0.32F;  // of a narrow window
constexpr float kHeadLists = 96.0F;

/// A button in its place on the line; true when pressed.
bool flowing_button(const Frame& frame, const std::string& words, const Tip& tip) {
    flow(frame, button_width(frame, words));
    return button(frame, words.c_str(), words, tip);
}

void draw_training(const LearnView& view, const Frame& frame, view::Actions& out) {
    if (view.training) {
        if (flowing_button(frame, "pause", {"Stops training", "Key: Space"}))
            out.push_back(view::TrainTo{view.pause_at});
    } else {
        const Index to = view.done < view.steps ? view.steps : view.done + view.steps;
        const std::string words = view.started ? "train on" : "train";
        if (flowing_button(frame, words,
                           {fmt::format("Trains to step {}", view::grouped(to)), "Key: Space"}))
            out.push_back(view::TrainTo{std::min(to, view::kMostLearnSteps)});
    }
    if (flowing_button(frame, "step", {"One step more", "Key: Shift+→"}))
        out.push_back(view::TrainTo{view.done + 1});
    if (view.started || view.changed) {
        const std::string words = view.changed ? "begin with these settings" : "begin anew";
        if (flowing_button(frame, words,
                           {"Leaves what was trained, and begins from first weights", "Key: N"}))
            out.push_back(view::NewTraining{});
    }
    if (view.started && !view.seeds_requested &&
        flowing_button(frame, "5 seeds",
                       {"Trains four more seeds of both, for the spread", "Key: V"}))
        out.push_back(view::TrainSeeds{view::kSpreadSeeds});
}

void draw_place(const LearnView& view, const Frame& frame, view::Actions& out) {
    const auto list = [&](const char* id, const char* word, Index count, Index now,
                          const Tip& tip) {
        std::vector<std::string> names;
        for (Index n = 0; n < count; ++n) names.push_back(fmt::format("{} {}", word, n));
        flow(frame, frame.px(kHeadLists));
        return combo(frame, id, {names, static_cast<int>(now)}, frame.px(kHeadLists), tip, out);
    };
    if (view.layers > 1)
        if (const auto n = list("##layer", "layer", view.layers, view.layer,
                                {"The layer whose maps are drawn", "Keys: ↑ and ↓"}))
            out.push_back(view::ShowLearnHead{*n, view.head});
    if (view.heads > 1)
        if (const auto n = list("##head", "head", view.heads, view.head,
                                {"The head whose maps are drawn", "Keys: , and ."}))
            out.push_back(view::ShowLearnHead{view.layer, *n});
}

}  // namespace

void draw_learn_bar(const LearnView& view, const Frame& frame, view::Actions& out) {
    const std::string shown =
        view.experiment < 0 ? std::string("own settings")
                            : view.experiment_names[static_cast<std::size_t>(view.experiment)];
    const float width =
        std::min(frame.px(kExperiments), ImGui::GetContentRegionAvail().x * kExperimentsShare);
    if (const auto n = combo(frame, "##experiment", {view.experiment_names, view.experiment, shown},
                             width, {"What is trained", "Every setting stands at the right"}, out))
        out.push_back(view::LoadExperiment{view.experiment_keys[static_cast<std::size_t>(*n)]});
    draw_training(view, frame, out);
    draw_place(view, frame, out);
    // The bottom line has it too.
    ImGui::SameLine(0.0F, frame.px(12));
    if (view.progress.empty() ||
        ImGui::GetContentRegionAvail().x < frame.text_width(frame.fonts.body, view.progress))
        return ImGui::NewLine();
    ImGui::AlignTextToFramePadding();
    words(frame, frame.fonts.body, frame.theme.muted, view.progress);
}

void draw_learn_moment(const LearnView& view, const Frame& frame, view::Actions& out) {
    for (std::size_t n = 0; n < view.runs.size(); ++n) {
        const view::LearnRunView& run = view.runs[n];
        const std::string id(view::kLearnRunNames[n]);
        ImGui::PushID(id.c_str());
        ImGui::AlignTextToFramePadding();
        words(frame, frame.fonts.strong, frame.theme.role(n == 0 ? Role::query : Role::key),
              fmt::format("{} from step {} on:", run.name, view::grouped(view.shown)));
        const std::string key = n == 0 ? "" : "Shift+";
        flow(frame, toggle_width(frame, "÷√d_k"));
        if (const auto on =
                toggle(frame, "scaling", "÷√d_k", run.scaling,
                       {"Switches ÷√d_k from the step that is looked at",
                        "What was trained after it is trained anew. Key: " + key + "S"}))
            out.push_back(view::SwitchScaling{id, view.shown, *on});
        if (run.has_head) {
            const std::string head = fmt::format("head {}.{}", view.layer, view.head);
            flow(frame, toggle_width(frame, head));
            if (const auto on =
                    toggle(frame, "head", head, run.head_on,
                           {"Off: the head’s output is 0 from the step that is looked at",
                            "It gets no gradient then. Key: " + key + "X"}))
                out.push_back(view::SwitchLearnHead{id, view.shown, view.layer, view.head, *on});
        }
        for (const char* to : {"step", "heads"}) {
            const std::string label =
                fmt::format("open in {}", to == std::string("step") ? "Step" : "Heads");
            flow(frame, button_width(frame, label));
            if (button(frame, to, label,
                       {"The model of this moment, as a document",
                        "Its tensors are then open in every workspace; Ctrl+Z goes back"}))
                out.push_back(view::OpenLearnMoment{id, to, view.shown});
        }
        ImGui::PopID();
    }
}

}  // namespace attn::ui
