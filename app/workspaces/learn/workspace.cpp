#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/document/edits.h"
#include "app/common/document/heads.h"
#include "app/common/document/opened.h"
#include "app/common/document/trained.h"
#include "app/common/fields.h"
#include "app/common/format.h"
#include "app/common/workspace.h"
#include "app/workspaces/learn/actions.h"
#include "app/workspaces/learn/job.h"
#include "app/workspaces/learn/recording.h"
#include "app/workspaces/learn/settings.h"
#include "app/workspaces/learn/training.h"
#include "app/workspaces/learn/view.h"
#include "core/train/own_data.h"
#include "core/train/task_table.h"

namespace attn::view {

extern const WorkspaceInfo kLearnWorkspace;

namespace {

/// The stored moment before or after the shown one.
ShowLearnStep beside(const AppState& state, bool later) {
    const LearnLook& look = learn_look(state);
    const Index now = shown_learn_step(state);
    if (is_recorded(state))
        return {std::max<Index>(now + (later ? 1 : -1) * learn_recording()->every, 0)};
    if (!look.series || look.series->sides[0].moments.empty()) return {look.shown.step};
    const auto& moments = look.series->sides[0].moments;
    const auto step = [](const train::Moment& moment) { return moment->step; };
    if (later) {
        const auto next = std::ranges::upper_bound(moments, now, {}, step);
        if (next == moments.end() || next + 1 == moments.end()) return {std::nullopt};
        return {(*next)->step};
    }
    const auto here = std::ranges::lower_bound(moments, now, {}, step);
    return {here == moments.begin() ? moments.front()->step : (*(here - 1))->step};
}

Index next_of(Index value, Index step, Index count) {
    return std::clamp<Index>(value + step, 0, std::max<Index>(count, 1) - 1);
}

void add_training_commands(const CommandAdder& add, const AppState& state) {
    const Index done = learn_steps_done(state);
    const Index steps = learn_controls(state).a.steps;
    const bool recorded = is_recorded(state);
    if (recorded) {
        const Index shown = shown_learn_step(state);
        const bool plays = is_replaying(state);
        add(plays ? "Pause the recorded run" : "Continue the recorded run", Key::space,
            plays ? Action(ShowLearnStep{shown}) : Action(PlayRecordedRun{shown}),
            plays || !state.reduced_motion, "Motion is reduced: drag over the curve");
        add("Train the recorded run here", {}, TrainRecordedRun{});
    } else if (is_learning(state))
        add("Pause the training", Key::space, TrainTo{learn_pause_step(state)});
    else
        add("Train", Key::space,
            TrainTo{done < steps ? steps : std::min(done + steps, kMostLearnSteps)});
    add("One more step", shift(Key::right), TrainTo{std::min(done + 1, kMostLearnSteps)}, !recorded,
        "This run is recorded: train it here first");
    add(recorded ? "Close the recorded run" : "Restart with these settings", Key::n, NewTraining{});
    add("Play the recorded run", {}, PlayRecordedRun{},
        !is_trained(state) && learn_recording().has_value(),
        is_trained(state) ? "A training run is shown. Press N to discard it first"
                          : "The program's files have no recorded run");
    add("Copy the command for a clip of the recorded run", {}, CopyLearnClip{},
        learn_recording().has_value(), "The program's files have no recorded run");
    add("Train five seeds for the spread", Key::v, TrainSeeds{kSpreadSeeds}, is_trained(state),
        "Nothing is trained yet");
    const bool steps_there = done > 0 || recorded;
    add("Show the previous step", Key::left, beside(state, false), steps_there);
    add("Show the next step", Key::right, beside(state, true), steps_there);
    add("Show the initial weights", Key::home, ShowLearnStep{0}, steps_there);
    add("Show the latest step", Key::end, ShowLearnStep{std::nullopt}, steps_there);
}

void add_switch_commands(const CommandAdder& add, const AppState& state) {
    const LearnLook& look = learn_look(state);
    if (!look.plan) return;
    const Index step = shown_learn_step(state);
    for (std::size_t run = 0; run < look.plan->controls.count(); ++run) {
        const train::Spec& spec = look.plan->controls.of(run);
        const auto now = train::switches_at(spec, look.plan->switches[run], step);
        const std::string name(kLearnRunNames[run]);
        const char* letter = run == 0 ? "A" : "B";
        add(fmt::format("{}: {} scaling from this step on", letter,
                        now.scaling ? "without" : "with"),
            run == 0 ? plain(Key::s) : shift(Key::s), SwitchScaling{name, step, !now.scaling});
        if (look.layer >= spec.layers || look.head >= spec.heads) continue;
        const bool off = now.silenced[look.layer * spec.heads + look.head];
        add(fmt::format("{}: {} {} from this step on", letter, head_name({look.layer, look.head}),
                        off ? "on" : "off"),
            run == 0 ? plain(Key::x) : shift(Key::x),
            SwitchLearnHead{name, step, look.layer, look.head, off});
        add(fmt::format("Compare this step of {} with the open one", letter),
            run == 0 ? plain(Key::c) : shift(Key::c), OpenLearnMoment{name, "compare", step});
        for (const WorkspaceInfo* workspace : state.workspaces)
            if (workspace->shows_document && workspace->key != "compare")
                add(fmt::format("Open this step of {} in {}", letter, workspace->title), {},
                    OpenLearnMoment{name, std::string(workspace->key), step});
    }
}

/// B is as A but for the field in which it differs; "": it does.
std::string fault_of(const LearnRuns& controls) {
    if (controls.has_b() && std::ranges::count(kLearnDifferences, controls.differs) == 0)
        return fmt::format("has 'differs' = \"{}\": B cannot differ in it", controls.differs);
    Result<train::Spec> same = controls.a;
    if (controls.has_b())
        same = with_learn_value(controls.a, controls.differs,
                                learn_value(controls.b, controls.differs));
    if (same && *same == controls.b) return {};
    return fmt::format("has a 'b' that differs in more than {}",
                       controls.has_b() ? controls.differs : "nothing");
}

void enter_learn(AppState& state) {
    const LearnLook& now = learn_look(std::as_const(state));
    if (!now.plan && !now.recorded && learn_recording()) play_recording(state);
    if (is_recorded(state))
        return show_message(state, is_replaying(state) ? "Space pauses the recorded run."
                                                       : "Recorded. “Train it here” repeats it.");
    LearnLook& look = learn_look(state);
    if (!look.plan) look.plan = LearnPlan{learn_controls(state), {}, 0, 1, {}};
    clamp_learn(state);
    show_message(
        state, look.plan->until == 0 ? "" : "Space continues training, ← and → show other steps.");
}

void add_learn_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Learn"};
    add_training_commands(add, state);
    add_switch_commands(add, state);
    const LearnLook& look = learn_look(state);
    const Index layers = planned(state).layers();
    const Index heads = planned(state).heads();
    add("Next head", Key::period, ShowLearnHead{look.layer, next_of(look.head, 1, heads)},
        heads > 1);
    add("Previous head", Key::comma, ShowLearnHead{look.layer, next_of(look.head, -1, heads)},
        heads > 1);
    add("Next layer", Key::down, ShowLearnHead{next_of(look.layer, 1, layers), look.head},
        layers > 1);
    add("Previous layer", Key::up, ShowLearnHead{next_of(look.layer, -1, layers), look.head},
        layers > 1);
    const std::vector<LearnMeasure> all = learn_measures(state);
    const auto measure = [&](std::size_t step) {
        const auto n = std::ranges::find(all, shown_measure(state)) - all.begin();
        return ShowLearnMeasure{all[(static_cast<std::size_t>(n) + step) % all.size()]};
    };
    add("Next curve", Key::page_down, measure(1));
    add("Previous curve", Key::page_up, measure(all.size() - 1));
    const bool by_head = look.picture == LearnPicture::word;
    add(by_head ? "Show the map of one head" : "Show one word in every head", Key::w,
        ShowLearnPicture{by_head ? LearnPicture::head : LearnPicture::word},
        layers * heads > 1 && !is_recorded(state), "The recorded run has the weights of one word");
    const bool own = train::has_own_data(learn_controls(state).a);
    add("Measure the influence of each line", Key::f, ExplainLearnAnswer{},
        left_out_request_of(state).has_value(), "Train on your own lines first");
    add("Copy your lines", {}, CopyOwnData{}, own, "You have no data yet");
    add("Save the runs", Key::r, ShowPrompt{PromptKind::runs},
        learn_steps_done(state) > 0 && !is_recorded(state), "Nothing is trained yet");
    for (std::size_t n = 0; n < std::size(kNamesOf<LearnPage>); ++n)
        add(fmt::format("Panel: {}", kNamesOf<LearnPage>[n]), {},
            ShowLearnPage{static_cast<LearnPage>(n)});
    for (const LearnExperiment& each : learn_experiments())
        add(fmt::format("Experiment: {}", each.text), {}, LoadExperiment{std::string(each.key)});
}

std::optional<Action> escape_learn(const AppState& state) {
    if (learn_look(state).shown.step || is_replaying(state)) return ShowLearnStep{std::nullopt};
    return std::nullopt;
}

void add_own_sentences(std::vector<Command>& list, const AppState& state) {
    if (state.workspace == "learn") return;
    CommandAdder{list, "Learn"}("Train a model on your own sentences (my sentences)", {},
                                LoadExperiment{"lines"});
}

std::string learn_figure_name(const AppState& state) {
    return fmt::format("learn-{}",
                       kNamesOf<LearnMeasure>[static_cast<std::size_t>(shown_measure(state))]);
}

std::vector<Shot> learn_shots() {
    return {
        {"", {}},  // the recorded run: the same on every processor
        {"trained", {TrainTo{600}, ShowLearnHead{1, 0}}},
        {"back", {TrainTo{120}, ShowLearnStep{60}, ShowLearnMeasure{LearnMeasure::w_q}}},
        {"switched",
         {TrainTo{160}, ShowLearnStep{40}, SwitchScaling{"b", 40, true},
          ShowLearnPage{LearnPage::heads}}},
        {"pronouns", {LoadExperiment{"pronouns"}, TrainTo{256}}},
        {"lines", {LoadExperiment{"lines"}, TrainTo{200}, ShowLearnPage{LearnPage::lines}}},
        {"little", {LoadExperiment{"narrow"}, TrainTo{60}, ShowLearnPage{LearnPage::matrices}}}};
}

constexpr std::string_view kLearnMouse[] = {
    "Drag over a plot to choose the step of all plots and maps.",
    "Click a cell of a map to compare its row on the right.",
};
constexpr PersistedValue kValues[] = {persisted(learn_controls), persisted(learn_look)};
constexpr RequestKind kRequests[] = {
    {.name = "learning",
     .requested = request_kind<requested_learning>("learning").requested,
     .make = [](std::function<void()> wake) -> std::unique_ptr<Job> {
         return std::make_unique<LearnJob>(std::move(wake));
     }},
    request_kind<requested_left_out>("left_out"),
};

/// A training that was saved: it goes on in Learn. The document stays.
void take_run(AppState& state, const Opened& opened) {
    if (!opened.run) return;
    const train::Run& run = *opened.run;
    LearnControls controls{{run.spec, run.spec, ""}};
    edit_controls(state, controls, fmt::format("training of {}", train::info(run.spec.task).key));
    const Index steps = run.moments.back()->step;
    learn_look(state) = {};
    learn_look(state).plan = LearnPlan{std::move(controls), {}, steps, 1, opened.run};
    learn_look(state).plan->switches[0] = train::recorded_switches(run);
    if (train::has_own_data(run.spec)) learn_look(state).page = LearnPage::lines;
    state.workspace = kLearnWorkspace.key;
    show_message(state, "A training run of {}, at step {}. {}", train::info(run.spec.task).key,
                 grouped(steps), "Space continues it.");
}

std::vector<train::Run> runs_of(const AppState& state) {
    std::vector<train::Run> runs;
    if (!learn_look(state).series) return runs;
    const LearnControls& controls = learn_look(state).series->request.plan.controls;
    for (std::size_t n = 0; n < controls.count(); ++n) {
        const LearnSide& side = learn_look(state).series->sides[n];
        if (side.moments.empty()) continue;
        train::Run run{controls.of(n), side.records, side.moments};
        run.records.resize(side.moments.back()->step);
        runs.push_back(std::move(run));
    }
    return runs;
}

}  // namespace

void clamp_learn(AppState& state) {
    LearnLook& look = learn_look(state);
    const LearnControls& controls = planned(state);
    look.layer = std::clamp<Index>(look.layer, 0, controls.layers() - 1);
    look.head = std::clamp<Index>(look.head, 0, controls.heads() - 1);
    look.cell.row = std::clamp<Index>(look.cell.row, 0, controls.a.tokens - 1);
    look.cell.column = std::clamp<Index>(look.cell.column, 0, controls.a.tokens - 1);
    if (look.shown.step && (look.plan || is_recorded(state)))
        look.shown.step = std::clamp<Index>(*look.shown.step, 0, learn_until(state));
}

void describe(Visitor& visit, LearnRuns& runs) {
    std::optional<train::Spec> b;
    if (runs.has_b()) b = runs.b;
    visit("a", runs.a, {.needed = true});
    visit("b", b);
    visit("differs", runs.differs);
    if (!b && runs.has_b()) visit.complain("has no 'b'");
    runs.b = b.value_or(runs.a);
    if (!visit.reads()) return;
    if (const std::string fault = fault_of(runs); !fault.empty()) visit.complain(fault);
}

void describe(Visitor& visit, LearnControls& controls) {
    visit("settings", static_cast<LearnRuns&>(controls));
}

void describe(Visitor& visit, LearnPlan& plan) {
    visit("of", static_cast<LearnRuns&>(plan.controls));
    visit("until", plan.until, {.low = 0, .high = kMostLearnSteps});
    visit("seeds", plan.seeds, {.low = 1, .high = kMostLearnSeeds});
    for (std::size_t run = 0; run < 2; ++run)
        describe_switches(visit, kLearnRunNames[run], plan.switches[run], NoSwitches::left_out);
    if (!visit.reads()) return;
    for (std::size_t run = 0; run < 2; ++run)
        if (auto valid = train::check(plan.controls.of(run), plan.switches[run]); !valid)
            visit.complain(": " + valid.error().text());
}

void describe(Visitor& visit, LearnLook& look) {
    constexpr About kPlace{.low = 0.0, .high = static_cast<double>(kMostIndex)};
    visit("plan", look.plan);
    look.recorded = look.recorded && !look.plan;
    visit("recorded", look.recorded);
    look.recorded = look.recorded && !look.plan;
    visit("step", look.shown.step, About{.low = 0, .high = kMostLearnSteps});
    visit("sentence", look.shown.sentence);
    visit("layer", look.layer, {.low = 0, .high = 3});
    visit("head", look.head, {.low = 0, .high = 7});
    visit("measure", look.measure, kNamesOf<LearnMeasure>);
    visit("page", look.page, kNamesOf<LearnPage>);
    visit("picture", look.picture, kNamesOf<LearnPicture>);
    visit("row", look.cell.row, kPlace);
    visit("column", look.cell.column, kPlace);
    if (visit.reads()) look.draft = look.shown.sentence;
}

const WorkspaceInfo kLearnWorkspace{
    .key = "learn",
    .title = "Learn",
    .tip =
        "Two small transformers learn a task side by side, with and without scaling or any other "
        "setting.",
    .group = Group::why,
    .letter = Key::l,
    .shows_document = false,
    .actions = LearnActions::kTypes,
    .values = kValues,
    .requests = kRequests,
    .enter = enter_learn,
    .leave =
        [](AppState& state) {
            learn_look(state).hovered.reset();
            end_replay(state);
        },
    .add_commands = add_learn_commands,
    .add_commands_everywhere = add_own_sentences,
    .escape = escape_learn,
    .clear = [](AppState& state) { learn_look(state).cell = {}; },
    .clamp_to_document = clamp_learn,
    .follow = follow_learn,
    .opened = take_run,
    .tick = tick_recording,
    .still = end_replay,
    .progress =
        [](AppState& state, std::string_view request, double done) {
            if (request == "left_out") learn_look(state).left_out_done = done;
        },
    .reasons = learn_reasons,
    .has_side = [](const AppState&) { return true; },
    .inspector = learn_inspector,
    .runs = runs_of,
    .is_animating = is_replaying,
    .figure_name = learn_figure_name,
    .shots = learn_shots,
    .mouse = kLearnMouse,
};

}  // namespace attn::view
