#include "app/workspaces/learn/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/common/document/heads.h"
#include "app/common/format.h"
#include "app/common/pair_grid.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/learn/actions.h"
#include "app/workspaces/learn/recording.h"
#include "app/workspaces/learn/settings.h"
#include "app/workspaces/learn/text.h"
#include "app/workspaces/learn/training.h"
#include "core/train/language.h"
#include "core/train/own_data.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr Index kPauseMargin = 3;             // steps that may be on their way when somebody pauses
constexpr std::size_t kMostShownTokens = 12;  // of a sequence in one line

std::vector<std::string> learn_tokens(const LearnSeries& series, const train::Example& example) {
    std::vector<std::string> tokens;
    for (const Index token : example.tokens)
        tokens.push_back(shown_token(series.vocabulary[token]));
    return tokens;
}

/// The weights from one word in every head, a row each.
GridView learn_word_map(const AppState& state, std::size_t run) {
    const LearnLook& look = learn_look(state);
    const train::Probe& probe = *look.series->sides[run].probe;
    const LearnPlan& plan = look.series->request.plan;
    const train::Spec& spec = plan.controls.of(run);
    const Index word = shown_word(state);
    std::vector<float> weights;
    Sheet sheet;
    for (const auto [layer, head] : each_cell(spec.layers, spec.heads)) {
        const auto row = probe.weights[layer].matrix(0, head).row(word);
        weights.insert(weights.end(), row.begin(), row.end());
        sheet.row_labels.push_back(head_name({layer, head}));
    }
    const Index tokens = std::ssize(probe.example.tokens);
    sheet.id = Stage::weights;
    sheet.values = {weights.data(), spec.layers * spec.heads, tokens, tokens};
    sheet.column_labels = learn_tokens(*look.series, probe.example);
    sheet.role = Role::weight;
    GridStyle style{ColorScale::unit, false, {}};
    const bool causal = train::info(spec.task).causal;
    for (Index i = 0; causal && i < sheet.values.rows; ++i)
        for (Index j = 0; j < tokens; ++j) style.masked.push_back(j > word);
    GridView grid = make_grid(state, sheet, style);
    grid.title = learn_title(plan, run);
    if (probe.step != look.series->sides[0].probe->step)
        grid.title += fmt::format(", step {}", grouped(probe.step));
    grid.tooltip = fmt::format(
        "softmax weights from “{}” over the keys\nA row is a head: L0 H1 is head 1 of layer 0.",
        sheet.column_labels[word]);
    grid.rows_scaled.reset();
    const bool has_head = look.layer < spec.layers && look.head < spec.heads;
    look_at(grid, {has_head ? look.layer * spec.heads + look.head : 0, look.cell.column},
            look.hovered);
    return grid;
}

GridView learn_map(const AppState& state, std::size_t run) {
    const LearnLook& look = learn_look(state);
    const LearnSide& side = look.series->sides[run];
    const LearnControls& controls = look.series->request.plan.controls;
    const train::Spec& spec = controls.of(run);
    const train::Probe& probe = *side.probe;
    Sheet sheet;
    sheet.id = Stage::weights;
    sheet.values = probe.weights[look.layer].matrix(0, look.head);
    sheet.row_labels = sheet.column_labels = learn_tokens(*look.series, probe.example);
    sheet.role = Role::weight;
    GridStyle style{ColorScale::unit, false, {}};
    const bool causal = train::info(spec.task).causal;
    for (Index i = 0; causal && i < sheet.values.rows; ++i)
        for (Index j = 0; j < sheet.values.columns; ++j) style.masked.push_back(j > i);
    GridView grid = make_grid(state, sheet, style);
    grid.title = learn_title(look.series->request.plan, run);
    if (probe.step != look.series->sides[0].probe->step)
        grid.title += fmt::format(", step {}", grouped(probe.step));
    grid.tooltip = fmt::format("softmax weights of {} over the keys, row by row",
                               head_name({look.layer, look.head}));
    grid.rows_scaled.reset();
    look_at(grid, look.cell, look.hovered);
    return grid;
}

void add_learn_maps(const AppState& state, LearnView& view) {
    const LearnLook& look = learn_look(state);
    if (!look.series) return;
    const LearnSeries& series = *look.series;
    const LearnControls& controls = series.request.plan.controls;
    for (std::size_t run = 0; run < controls.count(); ++run) {
        const LearnSide& side = series.sides[run];
        if (!side.probe) continue;
        if (std::ssize(side.probe->example.tokens) > kMostLearnTokens) {
            view.map_text = fmt::format(
                "Maps of {} tokens are not drawn here: open the step in Heads or Long context.",
                side.probe->example.tokens.size());
            continue;
        }
        if (view.by_head) {
            view.maps.push_back(learn_word_map(state, run));
            view.map_heads.push_back(controls.of(run).heads);
            continue;
        }
        const train::Spec& spec = controls.of(run);
        if (look.layer >= spec.layers || look.head >= spec.heads) {
            view.map_text = fmt::format("{} has no {}.", run == 0 ? "A" : "B",
                                        head_name({look.layer, look.head}));
            continue;
        }
        view.maps.push_back(learn_map(state, run));
    }
    if (view.maps.size() == 2) share_range({&view.maps[0], &view.maps[1]}, state.theme);
    if (!view.map_text.empty() || !series.sides[0].probe) return;
    std::vector<std::string> tokens = learn_tokens(series, series.sides[0].probe->example);
    if (view.by_head) {
        view.map_text =
            view.recorded
                ? fmt::format("Weights from “{}” in every head", tokens[view.word])
                : fmt::format("Step {}, weights from “{}” in every head. A row is a head.",
                              grouped(series.sides[0].probe->step), tokens[view.word]);
        return;
    }
    const bool cut = tokens.size() > kMostShownTokens;
    if (cut) tokens.resize(kMostShownTokens);
    view.map_text = fmt::format("Step {}, “{}{}”.", grouped(series.sides[0].probe->step),
                                fmt::join(tokens, " "), cut ? " …" : "");
}

void add_learn_runs(const AppState& state, LearnView& view) {
    const LearnLook& look = learn_look(state);
    const LearnControls& controls = planned(state);
    for (std::size_t run = 0; run < controls.count(); ++run) {
        const train::Spec& spec = controls.of(run);
        LearnRunView row;
        row.name = run == 0 ? "A" : "B";
        row.has_head = look.layer < spec.layers && look.head < spec.heads;
        const std::vector<train::Switch> none;
        const auto switches = train::switches_at(spec, look.plan ? look.plan->switches[run] : none,
                                                 shown_learn_step(state));
        row.scaling = switches.scaling;
        if (row.has_head) row.head_on = !switches.silenced[look.layer * spec.heads + look.head];
        view.runs.push_back(row);
    }
    view.layers = controls.layers();
    view.heads = controls.heads();
}

void add_learn_progress(const AppState& state, LearnView& view) {
    const LearnLook& look = learn_look(state);
    const LearnControls& controls = learn_controls(state);
    view.recorded = is_recorded(state);
    view.steps = view.recorded ? planned(state).a.steps : controls.a.steps;
    view.done = learn_steps_done(state);
    view.until = learn_until(state);
    view.training = is_learning(state);
    view.started = is_trained(state);
    view.changed = look.plan && look.plan->controls != controls;
    view.scrubbed = look.shown.step.has_value();
    view.shown = shown_learn_step(state);
    view.pause_at = learn_pause_step(state);
    view.seeds_requested = look.plan && look.plan->seeds > 1;
    if (view.recorded) {
        view.replaying = is_replaying(state);
        view.can_replay = !view.replaying && !state.reduced_motion;
        view.stride = learn_recording()->every;
        view.progress =
            fmt::format("recorded run, step {} of {}", grouped(view.shown), grouped(view.until));
        return;
    }
    if (!view.started) return;
    view.progress = fmt::format("step {} of {}", grouped(view.done), grouped(view.until));
    if (view.training && look.series && look.series->steps_per_second > 0.0)
        view.progress += fmt::format(", {} steps/s", significant(look.series->steps_per_second, 3));
    const bool spread =
        look.series && !look.series->complete && look.series->request.plan.seeds > 1;
    if (!view.training && spread)
        view.progress += fmt::format(", seed {} of {}", look.series->seeds.size() + 1,
                                     look.series->request.plan.seeds);
}

void add_experiments(const AppState& state, LearnView& view) {
    const LearnControls& controls = is_recorded(state) ? planned(state) : learn_controls(state);
    for (const LearnExperiment& each : learn_experiments()) {
        view.experiment_names.emplace_back(each.text);
        view.experiment_keys.emplace_back(each.key);
        if (controls_of(each) && controls == *controls_of(each))
            view.experiment = static_cast<int>(view.experiment_keys.size()) - 1;
    }
}

void add_differences(const LearnControls& controls, LearnView& view) {
    view.difference_names.emplace_back("nothing: only A");
    for (const std::string_view key : kLearnDifferences) {
        view.difference_names.emplace_back(find_learn_field(key)->label);
        if (key == controls.differs)
            view.difference = static_cast<int>(view.difference_names.size()) - 1;
    }
}

/// Whether the field says anything about this training.
bool counts(const train::Spec& spec, std::string_view field) {
    const train::TaskInfo& task = train::info(spec.task);
    if (field == "symbols") return task.symbols;
    if (field == "text") return task.takes_text;
    return true;
}

LearnFieldView learn_field_view(const LearnControls& controls, const LearnFieldInfo& info,
                                std::size_t run) {
    LearnFieldView field;
    field.run = kLearnRunNames[run];
    field.key = info.key;
    const bool own = controls.differs == info.key;
    field.label =
        own ? fmt::format("{} {}", run == 0 ? "A:" : "B:", info.label) : std::string(info.label);
    field.tip = info.tip;
    field.kind = static_cast<int>(info.kind);
    field.log = info.log;
    field.value = learn_value(controls.of(run), info.key);
    const auto json = nlohmann::json::parse(field.value);
    if (json.is_number()) field.number = json.get<double>();
    if (json.is_string() && info.kind == LearnFieldKind::text)
        field.value = json.get<std::string>();
    for (const train::Limits& each : train::limits())
        if (each.field == info.key) field.low = each.least, field.high = each.most;
    field.names = learn_names(info.key);
    // A language comes with an experiment, so its task is in no list of choices.
    if (info.key == "task" && train::info(controls.of(run).task).takes_language)
        field.names.emplace_back(train::info(controls.of(run).task).key);
    for (std::size_t n = 0; n < field.names.size(); ++n)
        if (json == field.names[n]) field.current = static_cast<int>(n);
    if (info.kind == LearnFieldKind::whole)
        field.tip += fmt::format(". {} to {}", grouped(static_cast<Index>(field.low)),
                                 grouped(static_cast<Index>(field.high)));
    return field;
}

}  // namespace

std::vector<LearnFieldView> learn_field_views(const LearnControls& controls) {
    std::vector<LearnFieldView> fields;
    for (const LearnFieldInfo& info : learn_fields()) {
        if (!counts(controls.a, info.key)) continue;
        fields.push_back(learn_field_view(controls, info, 0));
        if (controls.differs == info.key) fields.push_back(learn_field_view(controls, info, 1));
    }
    return fields;
}

const LearnControls& planned(const AppState& state) {
    if (is_recorded(state)) return learn_recording()->controls;
    return learn_look(state).plan ? learn_look(state).plan->controls : learn_controls(state);
}

Index learn_pause_step(const AppState& state) {
    const Index done = learn_steps_done(state);
    return std::min(done + kPauseMargin, std::max(learn_until(state), done));
}

Index learn_until(const AppState& state) {
    if (is_recorded(state)) return learn_recording()->steps;
    return learn_look(state).plan ? learn_look(state).plan->until : 0;
}

bool is_trained(const AppState& state) {
    return learn_look(state).plan && learn_look(state).plan->until > 0;
}

Index learn_steps_done(const AppState& state) {
    const LearnLook& look = learn_look(state);
    if (!look.series) return 0;
    Index done = std::ssize(look.series->sides[0].records);
    if (look.series->request.plan.controls.has_b())
        done = std::min<Index>(done, std::ssize(look.series->sides[1].records));
    return done;
}

bool is_learning(const AppState& state) {
    const LearnLook& look = learn_look(state);
    if (!is_trained(state) || !requested_learning(state)) return false;
    if (look.series && !look.series->fault.empty()) return false;
    if (!failure_of(state, "learning").empty()) return false;
    const bool current = look.series && look.series->request.plan.switches == look.plan->switches;
    return !current || learn_steps_done(state) != look.plan->until;
}

Index shown_learn_step(const AppState& state) {
    const LearnLook& look = learn_look(state);
    const Index done = learn_steps_done(state);
    if (is_recorded(state) && look.series) return look.series->sides[0].probe->step;
    if (!look.shown.step || !look.series) return done;
    const auto& moments = look.series->sides[0].moments;
    if (moments.empty()) return done;
    return std::min(train::moment_at(moments, look.shown.step)->step, done);
}

namespace {

constexpr std::array<std::string_view, kLearnMeasureCount> kMeasureNames{
    "right answers",
    "loss",
    "saturated rows",
    "entropy of the head",
    "mean largest weight of the head",
    "gradient of all weights",
    "gradient of W_Q and W_K",
    "gradient of W_V and W_O",
    "held-out answers"};

constexpr std::string_view kLineForms =
    "One text per line: “the dog barked because it was hungry | dog”, “the cat = le chat”, or "
    "plain "
    "text.";

/// The predicted words, without the sign that ends a pair.
std::string predicted_text(const train::Language& language, const train::OwnAnswer& answer) {
    std::vector<std::string> predicted;
    for (const train::OwnPrediction& each : answer.predictions)
        if (each.token != language.end())
            predicted.push_back(shown_token(language.vocabulary()[each.token]));
    return fmt::format("{}", fmt::join(predicted, " "));
}

/// “dog” 97.1 %; of several words their product.
std::string own_answer_text(const train::Language& language, const train::OwnAnswer& answer) {
    return fmt::format("“{}”, probability {}", predicted_text(language, answer),
                       percent_text(answer.probability));
}

/// Whether the model of the shown step knows its lines, and those that it did not read.
void add_left_out(const AppState& state, LearnLinesView& view) {
    view.can_explain = left_out_request_of(state).has_value() && !shown_left_out(state);
    if (requested_left_out(state))
        view.progress = fmt::format("Training again without each line: {}",
                                    percent_text(learn_look(state).left_out_done));
    const LearnLeftOut* const shown = shown_left_out(state);
    if (shown == nullptr || !shown->models) return;
    const auto right = [](const std::vector<train::LineAnswer>& answers) {
        return std::ranges::count_if(answers, &train::LineAnswer::right);
    };
    const auto& [all, without, read, not_read] = *shown->models;
    view.scores = {
        fmt::format("Lines it was trained on: {} of {} right.", right(read), read.size()),
        fmt::format("Each line, answered by a model trained without it: {} of {} right.",
                    right(not_read), not_read.size())};
    const auto data = train::read_own_data(shown->request.spec.language->own_text());
    for (std::size_t line = 0; line < not_read.size(); ++line)
        if (!not_read[line].right)
            view.failures.push_back(fmt::format(
                "{} {} → “{}” {}", data->lines[line].number, data->lines[line].typed,
                predicted_text(*shown->request.spec.language.value, not_read[line].answer),
                percent_text(not_read[line].answer.probability)));
}

LearnLinesView learn_lines_view(const AppState& state) {
    const LearnLook& look = learn_look(state);
    const train::Spec& spec = learn_controls(state).a;
    LearnLinesView view;
    view.learnt = train::has_own_data(spec);
    const std::string own = view.learnt ? spec.language->own_text() : std::string();
    view.draft = look.lines_draft.value_or(own);
    view.summary = kLineForms;
    const train::Spec& planned_spec = planned(state).a;
    if (!train::has_own_data(planned_spec)) return view;
    view.sentence = planned_spec.language->text();
    add_left_out(state, view);
    if (!look.draft.empty()) {  // the answer is of the sentence that was entered last
        const auto typed = train::own_sentence(planned_spec, look.draft);
        if (!typed) view.unknown = typed.error().text();
        if (!typed || *typed != look.shown.sentence) return view;
    }
    if (!look.series || shown_learn_step(state) == 0 || !look.series->sides[0].answer) return view;
    const train::OwnAnswer& answer = *look.series->sides[0].answer;
    view.answer = own_answer_text(*planned_spec.language.value, answer);
    if (!answer.unknown.empty())
        view.unknown = fmt::format("Not in your lines: {}. The model reads [?] instead.",
                                   fmt::join(answer.unknown, ", "));
    return view;
}

}  // namespace

bool has_held_out(const train::Spec& spec) {
    return train::info(spec.task).takes_language && !spec.language.empty() &&
           spec.language->holds_out();
}

const LearnHeldOut* held_out_at(const LearnSide& side, Index step) {
    const auto after = std::ranges::upper_bound(side.held_out, step, {}, &LearnHeldOut::step);
    return after == side.held_out.begin() ? nullptr : &*(after - 1);
}

LearnMeasure shown_measure(const AppState& state) {
    const LearnMeasure measure = learn_look(state).measure;
    const std::vector<LearnMeasure> all = learn_measures(state);
    if (std::ranges::find(all, measure) != all.end()) return measure;
    return is_recorded(state) ? LearnMeasure::held_out : LearnMeasure::accuracy;
}

std::vector<LearnMeasure> learn_measures(const AppState& state) {
    if (is_recorded(state))
        return {LearnMeasure::accuracy, LearnMeasure::loss, LearnMeasure::saturated,
                LearnMeasure::held_out};
    std::vector<LearnMeasure> all;
    for (std::size_t n = 0; n < kLearnMeasureCount; ++n)
        all.push_back(static_cast<LearnMeasure>(n));
    if (!has_held_out(planned(state).a)) all.pop_back();
    return all;
}

Index shown_word(const AppState& state) {
    const LearnLook& look = learn_look(state);
    if (!look.series || !look.series->sides[0].probe) return 0;
    if (is_recorded(state)) return learn_recording()->word;
    return std::clamp<Index>(look.cell.row, 0,
                             std::ssize(look.series->sides[0].probe->example.tokens) - 1);
}

LearnView build_learn_view(const AppState& state) {
    const LearnLook& look = learn_look(state);
    LearnView view;
    view.point = learn_point(state);
    view.notes = learn_notes(state);
    view.missing_data =
        job_status_text(state, "learning", look.series ? look.series->fault : std::string());
    add_experiments(state, view);
    add_learn_runs(state, view);
    add_learn_progress(state, view);
    view.measure_keys = learn_measures(state);
    for (const LearnMeasure each : view.measure_keys) {
        if (each == shown_measure(state)) view.measure = static_cast<int>(view.measures.size());
        view.measures.emplace_back(kMeasureNames[static_cast<std::size_t>(each)]);
    }
    add_learn_plots(state, view);
    view.layer = look.layer;
    view.head = look.head;
    view.by_head =
        view.recorded || (look.picture == LearnPicture::word && view.layers * view.heads > 1);
    view.word = shown_word(state);
    if (view.layers * view.heads > 1 && !view.recorded)
        view.picture_names = {"one head", "one word"};
    view.picture = static_cast<int>(look.picture);
    add_learn_maps(state, view);
    view.sentence = look.draft;
    view.hovered = look.hovered;
    view.page_names = {"settings", "row", "heads", "matrices", "lines"};
    view.lines = learn_lines_view(state);
    view.page = static_cast<int>(look.page);
    view.fields = learn_field_views(learn_controls(state));
    add_differences(learn_controls(state), view);
    const train::TaskInfo& task = train::info(planned(state).a.task);
    view.sentence_hint = fmt::format("a sequence of your own: {}", task.layout);
    return view;
}

}  // namespace attn::view
