#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/document/edits.h"
#include "app/common/document/heads.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/opened.h"
#include "app/common/format.h"
#include "app/common/workspace.h"
#include "app/workspaces/learn/actions.h"
#include "app/workspaces/learn/recording.h"
#include "app/workspaces/learn/settings.h"
#include "app/workspaces/learn/text.h"
#include "app/workspaces/learn/training.h"
#include "app/workspaces/learn/view.h"
#include "core/text.h"
#include "core/train/language.h"
#include "core/train/own_data.h"
#include "core/train/recording.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// Settings that nothing was trained with yet are those of the plan.
void follow_learn_controls(AppState& state) {
    leave_recording(state);
    LearnLook& look = learn_look(state);
    if (look.plan && look.plan->until > 0) return;
    look.plan = LearnPlan{learn_controls(state), {}, 0, 1, {}};
    look.shown = {};
    clamp_learn(state);
}

void change_learning(AppState& state, LearnControls controls, const std::string& text) {
    edit_controls(state, std::move(controls), text);
    follow_learn_controls(state);
}

/// Returns 0 or 1. Shows a warning and returns nullopt if the plan does not have the run.
std::optional<std::size_t> learn_run(AppState& state, const std::string& run, bool has_b) {
    if (run == "a") return 0;
    if (run == "b" && has_b) return 1;
    warn(state, run == "b" ? "There is no run B: choose a setting in which B differs."
                           : fmt::format("There is no run {}: expected a or b.", shortened(run)));
    return std::nullopt;
}

/// Of a language the word that a text is about, in every head.
void focus_on_word(AppState& state) {
    LearnLook& look = learn_look(state);
    const train::Spec& spec = planned(state).a;
    look.picture = LearnPicture::head;
    if (!train::info(spec.task).takes_language) return;
    const auto example = train::example_of(train::Sequences(spec), look.shown.sentence);
    if (example) look.cell = {answering_position(spec, *example), 0};
    if (spec.task == train::Task::marked) look.picture = LearnPicture::word;
}

void load_experiment(AppState& state, const LearnExperiment& experiment,
                     const LearnControls& controls) {
    change_learning(state, controls, std::string(experiment.text));
    LearnLook& look = learn_look(state);
    if (look.plan->controls != controls) return;  // the training that is shown has other settings
    look.layer = controls.a.layers - 1;
    look.head = experiment.head;
    look.chosen = false;
    look.measure = has_held_out(controls.a) ? LearnMeasure::held_out : LearnMeasure::accuracy;
    if (!experiment.lines.empty()) {
        look.page = LearnPage::lines;
        state.inspector = true;  // it has the lines
        look.lines_open = true;
    }
    look.lines_draft.reset();
    focus_on_word(state);
    clamp_learn(state);
}

/// Of the run that is shown: the plan's.
std::optional<std::size_t> planned_run(AppState& state, const std::string& run) {
    if (learn_look(state).plan)
        return learn_run(state, run, learn_look(state).plan->controls.has_b());
    warn(state, "Nothing is trained yet. Press Space to train.");
    return std::nullopt;
}

/// After a training: the head of A that learned a pattern, and in its last row the key of the largest weight. A choice of
/// the reader stays, and of a language the word that it is about.
void show_learned_head(AppState& state) {
    const LearnLook& now = learn_look(std::as_const(state));
    if (now.chosen || train::info(planned(state).a.task).takes_language) return;
    const auto labels = learn_head_labels(*now.series, 0);
    const LearnHeadLabel* const best = clearest_head(labels);
    if (best == nullptr) return;
    LearnLook& look = learn_look(state);
    look.layer = best->place.layer;
    look.head = best->place.head;
    const auto weights = look.series->sides[0].probe->weights[look.layer].matrix(0, look.head);
    const auto row = weights.row(weights.rows - 1);
    look.cell = {weights.rows - 1, std::ranges::max_element(row) - row.begin()};
}

/// Whether the plan has this step. Shows a warning if not.
bool has_step(AppState& state, Index step) {
    const Index until = learn_look(state).plan->until;
    if (step >= 0 && step <= until) return true;
    warn(state, "There is no step {}; expected 0 to {}.", step, grouped(until));
    return false;
}

/// Earlier switches of the run stay; those from this step on are replaced.
void add_switch(AppState& state, const std::string& run, train::Switch added,
                const std::string& text) {
    leave_recording(state);
    const auto n = planned_run(state, run);
    if (!n) return;
    LearnPlan& plan = *learn_look(state).plan;
    if (!has_step(state, added.step)) return;
    std::vector<train::Switch>& list = plan.switches[*n];
    std::erase_if(list, [&](const train::Switch& each) {
        return each.step > added.step || (each.step == added.step && each.head == added.head);
    });
    const train::Spec& spec = plan.controls.of(*n);
    const train::Switches now = train::switches_at(spec, list, added.step);
    const bool was = added.head < 0 ? now.scaling : !now.silenced[added.head];
    if (was != added.on) list.push_back(added);
    if (learn_look(state).series) learn_look(state).before = learn_look(state).series;
    learn_look(state).shown.step.reset();
    show_message(state, "{}: {} after step {}. The later steps are trained again.",
                 *n == 0 ? "A" : "B", text, grouped(added.step));
}

}  // namespace

void carry_out(AppState& state, const SetLearnField& action) {
    const LearnControls& now = learn_controls(state);
    const auto run = learn_run(state, action.run, now.has_b());
    if (!run) return;
    const bool own = action.field == now.differs;
    if (*run == 1 && !own)
        return warn(state, "B differs only in {}: set {} of A.", now.differs,
                    shortened(action.field));
    LearnControls controls = now;
    for (std::size_t n = 0; n < 2; ++n) {
        if (own && n != *run) continue;
        auto changed = with_learn_value(now.of(n), action.field, action.value);
        if (!changed) return show_message(state, changed.error());
        (n == 0 ? controls.a : controls.b) = *changed;
    }
    if (!controls.has_b()) controls.b = controls.a;
    const LearnFieldInfo& field = *find_learn_field(action.field);
    change_learning(state, std::move(controls),
                    fmt::format("{}{} {}", own ? (*run == 0 ? "A: " : "B: ") : "", field.label,
                                shortened(action.value)));
}

void carry_out(AppState& state, const SetLearnDifference& action) {
    if (!action.field.empty() && std::ranges::count(kLearnDifferences, action.field) == 0)
        return warn(state, "B cannot differ in “{}”.", shortened(action.field));
    auto controls = with_difference(learn_controls(state).a, action.field);
    if (!controls) return show_message(state, controls.error());
    const std::string text = action.field.empty()
                                 ? std::string("A alone")
                                 : fmt::format("A: {}, B: {}", learn_run_text(*controls, 0),
                                               learn_run_text(*controls, 1));
    change_learning(state, *std::move(controls), text);
}

void carry_out(AppState& state, const SetOwnData& action) {
    auto spec = train::own_spec(action.text);
    if (!spec) return show_message(state, spec.error());
    const auto lines = train::read_own_data(action.text)->lines.size();
    leave_recording(state);
    LearnLook& look = learn_look(state);
    look.lines_draft.reset();
    look.draft.clear();
    edit_controls(state, LearnControls{{*spec, *spec, ""}},
                  fmt::format("{} of own data", counted(lines, "line")));
    look.plan = LearnPlan{learn_controls(state), {}, spec->steps, 1, {}};
    look.shown = {};
    look.before = nullptr;
    look.page = LearnPage::lines;
    look.layer = spec->layers - 1;
    focus_on_word(state);
    clamp_learn(state);
    show_message(state, "Training on {} to step {}.", counted(lines, "line"), spec->steps);
}

void carry_out(AppState& state, const CopyOwnData&) {
    const train::Spec& spec = learn_controls(state).a;
    if (!train::has_own_data(spec))
        return warn(state, "You have no data yet: type lines in the panel “lines”.");
    state.effects.clipboard = spec.language->own_text();
    show_message(state, "The lines are copied. Saved as a text file (.txt), they open here.");
}

void carry_out(AppState& state, const CopyLearnClip&) {
    const auto theme = kNamesOf<ThemeName>[static_cast<std::size_t>(state.theme)];
    state.effects.clipboard = fmt::format(
        "attnscope render --film --workspace learn --theme {} --size 1280x720 -o learn.png", theme);
    show_message(state, "Copied: attnscope render --film writes the run as an animated PNG.");
}

void carry_out(AppState& state, const ExplainLearnAnswer&) {
    LearnLook& look = learn_look(state);
    look.left_out_request = left_out_request_of(state);
    look.left_out_done = 0.0;
    if (!look.left_out_request)
        return warn(state, "Train on your own lines first, then choose a trained step.");
    show_message(state, "Training again without each line.");
}

void carry_out(AppState& state, const LearnLeftOutMade& action) {
    if (!action.left_out) return;
    learn_look(state).left_out = action.left_out;
    if (!action.left_out->fault.empty()) warn(state, action.left_out->fault);
}

void carry_out(AppState& state, const LoadExperiment& action) {
    const auto all = learn_experiments();
    const auto found = std::ranges::find(all, action.experiment, &LearnExperiment::key);
    if (found == all.end())
        return warn(state, "There is no experiment “{}”.", shortened(action.experiment));
    const Result<LearnControls>& controls = controls_of(*found);
    if (!controls) return show_message(state, controls.error());
    if (state.workspace != "learn") carry_out(state, SetWorkspace{"learn"});
    load_experiment(state, *found, *controls);
}

void carry_out(AppState& state, const TrainRecordedRun&) {
    const Result<LearnRecording>& recording = learn_recording();
    if (!recording) return show_message(state, recording.error());
    const auto all = learn_experiments();
    const auto found = std::ranges::find(all, recording->experiment, &LearnExperiment::key);
    learn_look(state).plan.reset();
    learn_look(state).before = nullptr;
    load_experiment(state, *found, recording->controls);
    carry_out(state, TrainTo{recording->steps});
}

void carry_out(AppState& state, const PlayRecordedRun& action) {
    const Result<LearnRecording>& recording = learn_recording();
    if (!recording) return show_message(state, recording.error());
    if (is_trained(state))
        return warn(
            state,
            "A training run is shown. Press N to discard it before the recorded run can play.");
    if (!action.step || !is_recorded(state)) play_recording(state);
    if (action.step) resume_recording(state, *action.step);
    if (!state.reduced_motion) show_message(state, "Space pauses the recorded run.");
}

void carry_out(AppState& state, const TrainTo& action) {
    if (action.until < 0 || action.until > kMostLearnSteps)
        return warn(state, "{} steps: expected 0 to {}.", action.until, grouped(kMostLearnSteps));
    leave_recording(state);
    LearnLook& look = learn_look(state);
    if (!is_trained(state) && (!look.plan || !look.plan->opened))
        look.plan = LearnPlan{learn_controls(state), {}, 0, 1, {}};
    look.plan->until = action.until;
    look.shown.step.reset();
    show_message(state, "Training to step {}. Space pauses.", grouped(action.until));
}

void carry_out(AppState& state, const NewTraining&) {
    leave_recording(state);
    LearnLook& look = learn_look(state);
    look.plan = LearnPlan{learn_controls(state), {}, 0, 1, {}};
    look.shown.step.reset();
    look.before = nullptr;
    focus_on_word(state);
    clamp_learn(state);
    show_message(state, "Training starts again from the initial weights. Press Space to train.");
}

void carry_out(AppState& state, const SwitchScaling& action) {
    add_switch(state, action.run, {action.from, -1, action.on},
               action.on ? "with scaling" : "without scaling");
}

void carry_out(AppState& state, const SwitchLearnHead& action) {
    leave_recording(state);
    const auto run = planned_run(state, action.run);
    if (!run) return;
    const train::Spec& spec = learn_look(state).plan->controls.of(*run);
    if (action.layer < 0 || action.layer >= spec.layers || action.head < 0 ||
        action.head >= spec.heads)
        return warn(state, "There is no {}: layers 0 to {}, heads 0 to {}.",
                    head_name({action.layer, action.head}), spec.layers - 1, spec.heads - 1);
    add_switch(
        state, action.run, {action.from, action.layer * spec.heads + action.head, action.on},
        fmt::format("{} {}", head_name({action.layer, action.head}), action.on ? "on" : "off"));
}

void carry_out(AppState& state, const TrainSeeds& action) {
    LearnLook& look = learn_look(state);
    if (!look.plan || look.plan->until == 0)
        return warn(state, "Nothing is trained yet. Press Space to train.");
    if (action.seeds < 1 || action.seeds > kMostLearnSeeds)
        return warn(state, "{} seeds: expected 1 to {}.", action.seeds, kMostLearnSeeds);
    if (look.plan->opened)
        return warn(state,
                    "The run was opened from a folder, so more seeds cannot be trained here.");
    look.plan->seeds = action.seeds;
    show_message(state, action.seeds == 1 ? std::string("One seed.")
                                          : fmt::format("Training {} seeds, each to step {}.",
                                                        action.seeds, grouped(look.plan->until)));
}

void carry_out(AppState& state, const OpenLearnMoment& action) {
    leave_recording(state);
    const auto run = planned_run(state, action.run);
    if (!run) return;
    const WorkspaceInfo* workspace = find_workspace(state.workspaces, action.workspace);
    if (workspace == nullptr || !workspace->shows_document)
        return warn(state, "“{}” cannot show a document.", shortened(action.workspace));
    const LearnLook& look = learn_look(state);
    TrainedOrigin origin;
    origin.spec = look.plan->controls.of(*run);
    origin.switches = look.plan->switches[*run];
    origin.sentence = look.shown.sentence;
    origin.layer = std::min(look.layer, origin.spec.layers - 1);
    if (!has_step(state, action.from)) return;
    origin.step = action.from;
    if (look.series && !look.series->sides[*run].moments.empty()) {
        const auto& retained = train::moment_at(look.series->sides[*run].moments, origin.step);
        const bool same = look.series->request.plan.switches == look.plan->switches;
        if (same && retained->step == origin.step) origin.moment = retained;
    }
    origin.head = std::min(look.head, origin.spec.heads - 1);
    OpenRequest request{std::move(origin), state.opened + 1};
    if (const std::string why = workspace->refuses(state, request); !why.empty())
        return warn(state, why);
    state.opening = std::make_shared<const OpenRequest>(std::move(request));
    ++state.opened;
    state.opening_done = 0.0;
    state.workspace = workspace->key;
    show_message(state, "Opening {}.", description_of(*state.opening));
}

void carry_out(AppState& state, const ShowLearnStep& action) {
    if (is_recorded(state)) return show_recorded_step(state, action.step);
    LearnLook& look = learn_look(state);
    look.shown.step = action.step;
    if (action.step)
        look.shown.step =
            std::clamp<Index>(*action.step, 0, look.plan ? look.plan->until : kMostLearnSteps);
}

void carry_out(AppState& state, const ShowLearnHead& action) {
    learn_look(state).chosen = true;
    learn_look(state).layer = action.layer;
    learn_look(state).head = action.head;
    clamp_learn(state);
}

void carry_out(AppState& state, const SelectLearnCell& action) {
    learn_look(state).chosen = true;
    learn_look(state).cell = {action.row, action.column};
    clamp_learn(state);
}

void carry_out(AppState& state, const SetLearnSentence& action) {
    leave_recording(state);
    LearnLook& look = learn_look(state);
    look.draft = action.text;
    if (action.text.empty()) {
        look.shown.sentence.clear();
        focus_on_word(state);
        return show_message(state, "The maps show the default sequence.");
    }
    const train::Spec& spec = look.plan ? look.plan->controls.a : learn_controls(state).a;
    std::string sentence = action.text;
    if (train::has_own_data(spec)) {
        auto own = train::own_sentence(spec, sentence);
        if (!own) return show_message(state, own.error());
        sentence = *std::move(own);
    }
    const auto example = train::example_of(train::Sequences(spec), sentence);
    if (!example) return show_message(state, example.error());
    look.shown.sentence = std::move(sentence);
    focus_on_word(state);
    clamp_learn(state);
    show_message(state, "The maps show “{}”.", shortened(action.text));
}

/// What came for other settings is of no use any more.
void carry_out(AppState& state, const LearnProgress& action) {
    LearnLook& look = learn_look(state);
    if (!look.plan || !action.series) return;
    const LearnPlan& of = action.series->request.plan;
    if (of.controls != look.plan->controls || of.opened != look.plan->opened) return;
    const bool faulty = !action.series->fault.empty();
    if (faulty) state.notice = {action.series->fault, Severity::error};
    const bool ended =
        action.series->complete && of.until > 0 && !(look.series && look.series->complete);
    look.series = action.series;
    if (ended && !faulty) show_learned_head(state);
    clamp_learn(state);
    if (ended && !faulty && state.workspace == "learn")
        show_message(
            state, "Step {}. ← and → show other steps; S switches scaling from the shown step on.",
            grouped(of.until));
}

// ---- requests

namespace {
constexpr Index kMostLeftOutAlone = 32;     // lines
constexpr Index kMostLeftOutSteps = 1'000;  // of each training
}  // namespace

std::optional<LearnRequest> requested_learning(const AppState& state) {
    const LearnLook& look = learn_look(state);
    if (!look.plan) return std::nullopt;
    LearnRequest request{*look.plan, look.shown};
    if (look.series && look.series->complete && look.series->request == request)
        return std::nullopt;
    return request;
}

std::optional<LeftOutRequest> left_out_request_of(const AppState& state) {
    const LearnLook& look = learn_look(state);
    const Index step = shown_learn_step(state);
    if (!look.plan || look.plan->opened || step == 0 || !train::has_own_data(look.plan->controls.a))
        return std::nullopt;
    return LeftOutRequest{look.plan->controls.a, look.plan->switches[0], step};
}

const LearnLeftOut* shown_left_out(const AppState& state) {
    const auto& made = learn_look(state).left_out;
    return made && made->request == left_out_request_of(state) ? made.get() : nullptr;
}

const train::Influences* shown_influences(const AppState& state) {
    const auto& made = learn_look(state).influences;
    return made && made->left_out.get() == shown_left_out(state) ? made->found.get() : nullptr;
}

void follow_learn(AppState& state) {
    follow_recording(state);
    const LearnLook& look = learn_look(std::as_const(state));
    const LearnLeftOut* const shown = shown_left_out(state);
    if (shown == nullptr || !shown->models) return;
    const train::Spec& spec = shown->request.spec;
    const std::string& sentence =
        look.shown.sentence.empty() ? spec.language->text() : look.shown.sentence;
    const auto& last = look.influences;
    if (last && last->left_out == look.left_out && last->sentence == sentence) return;
    auto found = train::influences_of(spec, *shown->models, sentence);
    LearnInfluences made{look.left_out, sentence, nullptr};
    if (found) made.found = std::make_shared<const train::Influences>(*std::move(found));
    learn_look(state).influences = std::make_shared<const LearnInfluences>(std::move(made));
}

std::optional<LeftOutRequest> requested_left_out(const AppState& state) {
    const LearnLook& look = learn_look(state);
    const auto wanted = left_out_request_of(state);
    if (!wanted || shown_left_out(state)) return std::nullopt;
    const bool ended = wanted->steps == learn_until(state) && !is_learning(state);
    const bool few =
        std::ranges::count(wanted->spec.language->own_text(), '\n') < kMostLeftOutAlone;
    const bool few_steps = wanted->steps <= kMostLeftOutSteps;
    const bool by_itself = state.workspace == "learn" && ended && few && few_steps;
    return by_itself || look.left_out_request == wanted ? wanted : std::nullopt;
}

Action run(const LeftOutRequest& request, const RunControl& control) {
    auto models = train::leave_out_each(request.spec, request.switches, request.steps, control);
    LearnLeftOut made{request, nullptr, ""};
    if (models)
        made.models = std::make_shared<const train::LeftOut>(*std::move(models));
    else
        made.fault = models.error().text();
    return LearnLeftOutMade{std::make_shared<const LearnLeftOut>(std::move(made))};
}

Action run(const LearnRequest& request, const RunControl& control) {
    Training training;
    training.request(request);
    while (training.work(control.stop)) {
    }
    return LearnProgress{training.series()};
}

}  // namespace attn::view
