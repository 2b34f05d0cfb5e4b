#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/common/clip.h"
#include "app/common/document/heads.h"
#include "app/common/document/opened.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/grid.h"
#include "app/common/draw/grid_set.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/inspector.h"
#include "app/common/draw/items.h"
#include "app/common/draw/parts.h"
#include "app/common/draw/plot.h"
#include "app/common/draw/still.h"
#include "app/common/draw/text_fields.h"
#include "app/common/draw/widgets.h"
#include "app/common/format.h"
#include "app/workspaces/learn/actions.h"
#include "app/workspaces/learn/recording.h"
#include "app/workspaces/learn/settings.h"
#include "app/workspaces/learn/view.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kExperiments = 280.0F;
constexpr float kHeadLists = 96.0F, kLabels = 124.0F;
constexpr double kLeastRate = 1e-5;
constexpr float kLinesShown = 10.0F;
constexpr double kClipRest = 1.5;  // seconds at the end of a clip
constexpr float kMeasures = 240.0F;
constexpr float kLeastWithChoice = 220.0F;       // a lower curve has the keys alone
constexpr float kCurves = 0.4F, kSmall = 0.36F;  // of the width, of the height
constexpr float kHigh = 800.0F;                  // in lower windows a curve is the largest picture
constexpr float kHighRecorded = 600.0F;          // a row for each head is low
constexpr float kSmallBelowRows = 0.27F;         // of the height, for the curves below such rows
constexpr float kLargestCell = 64.0F;            // of a map with few rows
constexpr float kAroundMaps = 120.0F;            // words, labels and colours

/// The recorded run: nothing of it is trained here.
void draw_recorded(const LearnView& view, ControlBar& bar) {
    if (bar.button("train here", "Train it here",
                   {fmt::format("Trains both models here for {} steps, from the initial weights",
                                view::grouped(view.steps)),
                    "This replaces the recorded run on screen."}))
        bar.out.push_back(TrainRecordedRun{});
    if (view.can_replay &&
        bar.button("replay", "Play again", {"Plays the recorded run from its first step", ""}))
        bar.out.push_back(PlayRecordedRun{});
    if (view.can_replay && bar.button("clip", "Export clip",
                                      {"Plays the recorded run and saves it as a clip",
                                       "An animated PNG, or the format of the last clip"})) {
        bar.out.push_back(PlayRecordedRun{});
        bar.out.push_back(ExportClip{view::kReplaySeconds + kClipRest});
    }
    if (!view.replaying &&
        bar.button("own", "Your own sentences",
                   {"Lines that you type, and a small model that learns them here", ""}))
        bar.out.push_back(LoadExperiment{"lines"});
    if (view.replaying &&
        bar.button("pause recorded", "Pause", {"Stops at the shown step", "Key: Space"}))
        bar.out.push_back(ShowLearnStep{view.shown});
    if (view.replaying &&
        bar.button("skip", "Skip to the end", {"Shows the last step", "Key: End"}))
        bar.out.push_back(ShowLearnStep{std::nullopt});
}

void draw_training(const LearnView& view, ControlBar& bar) {
    Actions& out = bar.out;
    if (view.recorded) return draw_recorded(view, bar);
    if (view.training) {
        if (bar.button("pause", "pause", {"Stops training", "Key: Space"}))
            out.push_back(TrainTo{view.pause_at});
    } else {
        const Index to = view.done < view.steps ? view.steps : view.done + view.steps;
        if (bar.button("train", view.started ? "Continue training" : "Train",
                       {fmt::format("Trains up to step {}", view::grouped(to)), "Key: Space"}))
            out.push_back(TrainTo{std::min(to, view::kMostLearnSteps)});
    }
    if (bar.button("step", "step", {"One more step", "Key: Shift+→"}))
        out.push_back(TrainTo{view.done + 1});
    if ((view.started || view.changed) &&
        bar.button("anew", view.changed ? "Restart with these settings" : "Restart",
                   {"Discard the training and start from the initial weights", "Key: N"}))
        out.push_back(NewTraining{});
    if (view.started && !view.seeds_requested &&
        bar.button("seeds", "5 seeds",
                   {"Trains both models with four more seeds, to show the spread", "Key: V"}))
        out.push_back(TrainSeeds{view::kSpreadSeeds});
}

void draw_place(const LearnView& view, ControlBar& bar) {
    const auto list = [&](const char* id, const char* word, Index count, Index now,
                          const Tip& tip) {
        std::vector<std::string> names;
        for (Index n = 0; n < count; ++n) names.push_back(fmt::format("{} {}", word, n));
        return bar.combo(id, {names, static_cast<int>(now)}, kHeadLists, tip);
    };
    if (view.layers > 1)
        if (const auto n = list("##layer", "layer", view.layers, view.layer,
                                {"Layer of the maps", "Keys: ↑ and ↓"}))
            bar.out.push_back(ShowLearnHead{*n, view.head});
    if (view.heads > 1)
        if (const auto n = list("##head", "head", view.heads, view.head,
                                {"Head of the maps", "Keys: , and ."}))
            bar.out.push_back(ShowLearnHead{view.layer, *n});
}

/// What is done to one run from the step that is looked at on.
void draw_learn_run(const LearnView& view, std::size_t n, ControlBar& bar) {
    const LearnRunView& run = view.runs[n];
    const std::string id(view::kLearnRunNames[n]);
    const std::string key = n == 0 ? "" : "Shift+";
    bar.put_text(bar.frame.theme.muted,
                 fmt::format("{} from step {} on:", run.name, view::grouped(view.shown)));
    if (const auto on = bar.toggle(("scaling " + id).c_str(), "with scaling", run.scaling,
                                   {"Switches scaling from the shown step on",
                                    "The later steps are trained again. Key: " + key + "S"}))
        bar.out.push_back(SwitchScaling{id, view.shown, *on});
    if (run.has_head)
        if (const auto on = bar.toggle(("head " + id).c_str(),
                                       view::head_name({view.layer, view.head}), run.head_on,
                                       {"Off: the head’s output is 0 from the shown step on",
                                        "The head then gets no gradient. Key: " + key + "X"}))
            bar.out.push_back(SwitchLearnHead{id, view.shown, view.layer, view.head, *on});
    for (const auto& [to, text] : {std::pair{"step", "open in Step"}, {"heads", "open in Heads"}})
        if (bar.button((to + id).c_str(), text,
                       {"Opens the model of this step as a document",
                        "Every workspace then shows its tensors. Ctrl+Z goes back."}))
            bar.out.push_back(OpenLearnMoment{id, to, view.shown});
}

void draw_learn_bar(const LearnView& view, ControlBar& bar) {
    const std::string shown =
        view.experiment < 0 ? std::string("own settings") : view.experiment_names[view.experiment];
    if (const auto n = bar.combo("##experiment", {view.experiment_names, view.experiment, shown},
                                 kExperiments, {"The experiment", "The settings are on the right"}))
        bar.out.push_back(LoadExperiment{view.experiment_keys[*n]});
    draw_training(view, bar);
    if (!view.picture_names.empty())
        if (const auto n = bar.choice("picture", view.picture_names, view.picture,
                                      {"The weights of one head, or from one word in every head",
                                       "Key: W. A click on a row chooses the word or the head."}))
            bar.out.push_back(ShowLearnPicture{static_cast<LearnPicture>(*n)});
    draw_place(view, bar);
    if (!view.started) return;
    bar.rest();
    for (std::size_t n = 0; n < view.runs.size(); ++n) draw_learn_run(view, n, bar);
}

/// What the field is set to, as JSON.
std::optional<std::string> draw_number(const LearnFieldView& field, float width, const Frame& frame,
                                       Actions& out) {
    const Tip tip{field.label, field.tip};
    const auto low = static_cast<Index>(field.low);
    const auto high = static_cast<Index>(field.high);
    const auto now = static_cast<Index>(field.number);
    if (field.log && low > 0) {
        const SliderText description_of{"", view::grouped(now), view::grouped(high)};
        const auto to = log_slider(frame, "##log", description_of, now, low, high, width, tip, out);
        return to ? std::optional(fmt::format("{}", *to)) : std::nullopt;
    }
    const auto to = number_field(frame, "##whole", "", now, low, high, width, tip, out);
    return to ? std::optional(fmt::format("{}", *to)) : std::nullopt;
}

std::optional<std::string> draw_real(const LearnFieldView& field, float width, const Frame& frame,
                                     Actions& out) {
    const SliderText description_of{"", view::significant(field.number, 3), "0.000123"};
    const double low = std::max(field.low, kLeastRate);
    const auto to = real_slider(frame, "##real", description_of, std::max(field.number, low), low,
                                std::min(field.high, 100.0), width, {field.label, field.tip}, out);
    return to ? std::optional(nlohmann::json(*to).dump()) : std::nullopt;
}

std::optional<std::string> draw_value(const LearnFieldView& field, float width, const Frame& frame,
                                      Actions& out) {
    const Tip tip{field.label, field.tip};
    switch (static_cast<LearnFieldKind>(field.kind)) {
        case LearnFieldKind::whole:
            return draw_number(field, width, frame, out);
        case LearnFieldKind::real:
            return draw_real(field, width, frame, out);
        case LearnFieldKind::seed:
            if (const auto to = seed_field(frame, "##seed",
                                           static_cast<std::uint64_t>(std::max(field.number, 0.0)),
                                           width, tip, out))
                return fmt::format("{}", *to);
            return std::nullopt;
        case LearnFieldKind::flag:
            if (const auto on = toggle(frame, "flag", field.value == "true" ? "on" : "off",
                                       field.value == "true", tip))
                return std::string(*on ? "true" : "false");
            return std::nullopt;
        case LearnFieldKind::names:
            if (const auto n =
                    combo(frame, "##names", {field.names, field.current}, width, tip, out))
                return nlohmann::json(field.names[*n]).dump();
            return std::nullopt;
        case LearnFieldKind::text:
            return std::nullopt;
    }
    return std::nullopt;
}

/// A text field. Returns the text when Enter commits it.
std::optional<std::string> draw_text(const Frame& frame, const char* id, const std::string& draft,
                                     const std::string& hint, std::string& typed, float width) {
    typed = draft;
    ImGui::SetNextItemWidth(width);
    push_font(frame.fonts.body);
    const bool entered =
        text_field(id, typed, {hint.c_str(), ImGuiInputTextFlags_EnterReturnsTrue});
    pop_font();
    still_field(frame, frame.fonts.body, typed, hint);
    return entered ? std::optional(typed) : std::nullopt;
}

void draw_field(const LearnFieldView& field, const AppState& state, const Frame& frame,
                Actions& out) {
    ImGui::PushID(field.run.data());
    ImGui::PushID(field.key.c_str());
    const float left = ImGui::GetCursorPosX();
    ImGui::AlignTextToFramePadding();
    put_text(frame, frame.fonts.body, frame.theme.muted,
             fit_text(frame, frame.fonts.body, field.label, frame.px(kLabels)));
    tooltip(frame, field.label, field.tip);
    ImGui::SameLine(left + frame.px(kLabels + 8));
    const float width = std::max(frame.px(80), ImGui::GetContentRegionAvail().x - frame.px(12));
    if (static_cast<LearnFieldKind>(field.kind) == LearnFieldKind::text) {
        const std::string& draft = view::learn_look(state).text_draft.empty()
                                       ? field.value
                                       : view::learn_look(state).text_draft;
        std::string typed;
        if (const auto text =
                draw_text(frame, "##text", draft, "words to learn; Enter", typed, width))
            out.push_back(SetLearnField{"a", "text", nlohmann::json(*text).dump()});
        else if (typed != draft)
            out.push_back(DraftLearnText{typed});
    } else if (const auto value = draw_value(field, width, frame, out)) {
        out.push_back(SetLearnField{std::string(field.run), field.key, *value});
    }
    ImGui::PopID();
    ImGui::PopID();
}

void draw_learn_settings(const LearnView& view, const AppState& state, const Frame& frame,
                         Actions& out) {
    const float width = ImGui::GetContentRegionAvail().x - frame.px(12);
    if (view.recorded)
        return wrapped_text(frame, frame.fonts.body, frame.theme.muted,
                            "This run is recorded. Train it here to change its settings, or choose "
                            "another experiment.");
    put_text(frame, frame.fonts.body, frame.theme.muted, "B differs from A in");
    if (const auto n = combo(frame, "##differs", {view.difference_names, view.difference}, width,
                             {"The one setting in which B differs", ""}, out))
        out.push_back(SetLearnDifference{
            *n == 0 ? std::string()
                    : std::string(view::kLearnDifferences[static_cast<std::size_t>(*n) - 1])});
    if (view.changed && view.started)
        wrapped_text(frame, frame.fonts.body, frame.theme.warning,
                     "The shown run has other settings. N restarts with these.");
    for (const LearnFieldView& field : view.fields) draw_field(field, state, frame, out);
    put_text(frame, frame.fonts.body, frame.theme.muted, "maps of");
    std::string typed;
    if (const auto text =
            draw_text(frame, "##sentence", view.sentence, view.sentence_hint, typed, width))
        out.push_back(SetLearnSentence{*text});
    else if (typed != view.sentence)
        out.push_back(DraftLearnSentence{typed});
    tooltip(frame, "Sequence of the attention maps",
            view.sentence_hint + ". Press Enter; empty: the default");
    leave_space({1.0F, frame.px(8)});
}

/// Own data: lines, a sentence to test them, and the lines that made its answer.
void draw_learn_lines(const LearnView& view, const AppState& state, const Frame& frame,
                      Actions& out) {
    const LearnLinesView& lines = view.lines;
    const float width = ImGui::GetContentRegionAvail().x - frame.px(12);
    wrapped_text(frame, frame.fonts.body, frame.theme.muted, lines.summary);
    std::string typed = lines.draft;
    const bool opens = view::learn_look(state).lines_open;
    if (opens && !ImGui::IsAnyItemActive()) ImGui::SetKeyboardFocusHere();
    push_font(frame.fonts.body);
    const bool entered =
        text_box("##lines", typed, {width, frame.fonts.body.px * kLinesShown}, opens);
    pop_font();
    if (opens && ImGui::IsItemActive()) out.push_back(OpenOwnData{false});
    const bool trains =
        button(frame, "learn lines", "Train on these lines",
               {"A small model learns the lines, from new weights", "Key in the box: Ctrl+Enter"});
    if (trains || entered)
        out.push_back(SetOwnData{typed});
    else if (typed != lines.draft)
        out.push_back(DraftOwnData{std::move(typed)});
    if (!lines.learnt) return;
    leave_space({1.0F, frame.px(8)});
    for (const std::string& score : lines.scores)
        wrapped_text(frame, frame.fonts.body, frame.theme.text, score);
    for (const std::string& failure : lines.failures)
        wrapped_text(frame, frame.fonts.body, frame.theme.warning, failure);
    leave_space({1.0F, frame.px(8)});
    put_text(frame, frame.fonts.body, frame.theme.muted, "test sentence");
    std::string sentence;
    if (const auto text =
            draw_text(frame, "##test", view.sentence, lines.sentence, sentence, width))
        out.push_back(SetLearnSentence{*text});
    else if (sentence != view.sentence)
        out.push_back(DraftLearnSentence{sentence});
    wrapped_text(frame, frame.fonts.body, frame.theme.text, lines.answer);
    wrapped_text(frame, frame.fonts.body, frame.theme.warning, lines.unknown);
    if (!lines.progress.empty())
        wrapped_text(frame, frame.fonts.body, frame.theme.muted, lines.progress);
    else if (lines.can_explain && button(frame, "explain", "Influence of each line",
                                         {"Trains again without each line", "Key: F"}))
        out.push_back(ExplainLearnAnswer{});
    if (!lines.answer.empty() || view.sentence.empty())  // not of the sentence before
        draw_inspector(view::learn_inspector(state), frame, out);
}

/// The step under the pointer; the newest at the right end.
void draw_learn_plot(const PlotView& plot, const char* id, const Box& box, const LearnView& view,
                     const Frame& frame, Actions& out) {
    const PlotInput input = draw_plot(plot, id, box.low, box.high, false, frame);
    if (input.moved_to && view.done > 0) {
        const auto step = static_cast<Index>(std::lround(*input.moved_to));
        const bool newest = step >= (view.recorded ? view.until : view.done);
        const std::optional<Index> to = newest ? std::nullopt : std::optional<Index>(step);
        if (newest ? view.scrubbed : step != view.shown) out.push_back(ShowLearnStep{to});
    }
    if (input.steps != 0 && view.done > 0)
        out.push_back(ShowLearnStep{within<Index>(view.shown + input.steps * view.stride, 0,
                                                  view.recorded ? view.until : view.done)});
}

void draw_learn_curve(const LearnView& view, const Box& box, const Frame& frame, Actions& out) {
    float top = box.low.y;
    if (!frame.is_canvas_alone() && box.size().y >= frame.px(kLeastWithChoice)) {
        ImGui::SetCursorScreenPos(box.low);
        if (const auto n =
                combo(frame, "##measure", {view.measures, view.measure}, frame.px(kMeasures),
                      {"The large curve", "Keys: Page up, Page down"}, out))
            out.push_back(ShowLearnMeasure{view.measure_keys[static_cast<std::size_t>(*n)]});
        top += frame.px(kSpace8);
    }
    view::PlotView plot = view.plots[0];
    if (top > box.low.y) plot.title.clear();  // the list has the same name
    draw_learn_plot(plot, "large", {{box.low.x, top}, box.high}, view, frame, out);
}

void draw_small_curves(const LearnView& view, const Box& box, const Frame& frame, Actions& out) {
    const float middle = (box.low.x + box.high.x) / 2;
    const bool listed = box.size().y >= frame.px(kLeastWithChoice);  // the large one has a list
    const float top = box.low.y + (listed ? frame.px(kSpace8) : 0.0F);
    draw_learn_plot(view.plots[1], "left",
                    {{box.low.x, top}, {middle - frame.px(kSpace16), box.high.y}}, view, frame,
                    out);
    draw_learn_plot(view.plots[2], "right", {{middle + frame.px(kSpace16), top}, box.high}, view,
                    frame, out);
}

void draw_learn_maps(const LearnView& view, const Box& box, const Frame& frame, Actions& out) {
    ImGui::SetCursorScreenPos(box.low);
    wrapped_text(frame, frame.fonts.body, frame.theme.muted, view.map_text);
    if (view.maps.empty()) return;
    const float top = box.low.y + frame.fonts.body.px * 2.8F;
    const GridSetResult done = draw_grid_set(view.maps, {box.low.x, top}, box.high, frame);
    if (done.clicked) {
        const Index row = done.clicked->row;
        if (view.by_head) {
            const Index heads = view.map_heads[done.grid];
            out.push_back(ShowLearnHead{row / heads, row % heads});
        }
        out.push_back(SelectLearnCell{view.by_head ? view.word : row, done.clicked->column});
        out.push_back(ShowLearnPage{LearnPage::row});
    }
    if (const auto hovered = place_of(done.hovered); hovered != view.hovered)
        out.push_back(HoverLearnCell{hovered});
}

/// The height that two maps in one row cannot fill.
float below_maps(const LearnView& view, ImVec2 space, const Frame& frame) {
    float cells = space.x / 2;
    if (view.recorded && space.y < frame.px(kHigh))  // the maps are the largest pictures
        return kSmallBelowRows * space.y;
    if (!view.maps.empty()) {
        const GridView& map = view.maps.front();
        const float widest = space.x / 2 / static_cast<float>(std::max<Index>(map.columns, 1));
        cells = std::min(widest, frame.px(kLargestCell)) * static_cast<float>(map.rows);
    }
    return std::max(kSmall * space.y, space.y - cells - frame.px(kAroundMaps));
}

/// Pages: the settings, or the selection.
void draw_learn_side(const AppState& state, const LearnView& view, const Frame& frame,
                     Actions& out) {
    if (const auto n = choice(frame, "page", view.page_names, view.page,
                              {"Settings, the selected row, all heads, all matrices", ""}))
        out.push_back(ShowLearnPage{static_cast<LearnPage>(*n)});
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 space = ImGui::GetContentRegionAvail();
    panel("page", {low, {low.x + space.x, low.y + space.y}}, [&] {
        if (view.page == static_cast<int>(LearnPage::settings))
            draw_learn_settings(view, state, frame, out);
        else if (view.page == static_cast<int>(LearnPage::lines))
            draw_learn_lines(view, state, frame, out);
        else
            draw_inspector(view::learn_inspector(state), frame, out);
    });
}

}  // namespace

std::string draw_learn_workspace(const AppState& state, const WorkArea& r, const Frame& frame,
                                 Actions& out) {
    const LearnView view = build_learn_view(state);
    Parts parts{.missing_data = view.missing_data,
                .heading = {view.point, {}, view.notes},
                .hero = {"maps", "weights",
                         [&](const Box& box) { draw_learn_maps(view, box, frame, out); }},
                .controls = [&](ControlBar& bar) { draw_learn_bar(view, bar); },
                .side = [&](const Frame& beside) { draw_learn_side(state, view, beside, out); },
                .status = view.progress};
    const bool high = r.work.size().y >= frame.px(view.recorded ? kHighRecorded : kHigh);
    const auto beneath_maps = [&](ImVec2 space) { return below_maps(view, space, frame); };
    if (view.done > 0 || view.recorded)
        parts.others = {
            {"curve", "curve", [&](const Box& box) { draw_learn_curve(view, box, frame, out); },
             high ? CanvasPart::Where::below : CanvasPart::Where::left, kCurves,
             high ? decltype(CanvasPart::size)(beneath_maps) : nullptr},
            {"small", "more curves",
             [&](const Box& box) { draw_small_curves(view, box, frame, out); },
             CanvasPart::Where::below, 0.0F, beneath_maps}};
    if (view.recorded) {  // a row for each head fills a low window less than the curve does
        parts.singles = {parts.others.front(), parts.hero};
        parts.others.front().only_beside = true;
    }
    return draw_parts(state, r, parts, frame, out);
}

extern const WorkspacePanel kLearnPanel{"learn", draw_learn_workspace};

}  // namespace attn::ui
