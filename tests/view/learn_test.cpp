#include "app/common/document/intervention_effects.h"
#include "app/common/workspace.h"
#include "app/workspaces/learn/actions.h"
#include "app/workspaces/learn/recording.h"
#include "app/workspaces/learn/settings.h"
#include "app/workspaces/learn/text.h"
#include "app/workspaces/learn/training.h"
#include "app/workspaces/learn/view.h"
#include "core/cast.h"
#include "core/engine.h"
#include "core/train/evaluation.h"
#include "core/train/language.h"
#include "core/train/own_data.h"
#include "core/train/task_table.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// Tiny models: a step takes no time.
AppState small_learn_state(const Actions& actions = {}) {
    AppState state = after(initial_state(), {SetWorkspace{"learn"}});
    for (const auto& [field, value] : {std::pair{"tokens", "12"},
                                       {"symbols", "4"},
                                       {"d_model", "8"},
                                       {"d_k", "16"},
                                       {"batch", "4"}})
        view::apply(state, SetLearnField{"a", field, value});
    play(state, actions);
    return state;
}

std::vector<std::shared_ptr<const train::Record>> plain_records(const train::Spec& spec, Index n) {
    train::Trainer trainer = *train::Trainer::make(spec);
    std::vector<std::shared_ptr<const train::Record>> records;
    for (Index step = 0; step < n; ++step) records.push_back(trainer.step());
    return records;
}

}  // namespace

TEST_CASE("learn: both runs are those of their specifications, step by step") {
    const AppState state = small_learn_state({TrainTo{6}});
    REQUIRE(learn_look(state).series);
    const LearnControls& controls = learn_look(state).plan->controls;
    CHECK(controls.a.scaling);
    CHECK_FALSE(controls.b.scaling);
    CHECK(controls.a.d_k == 16);
    CHECK(controls.b.d_k == 16);
    for (std::size_t run = 0; run < 2; ++run) {
        const auto expected = plain_records(controls.of(run), 6);
        const auto& records = learn_look(state).series->sides[run].records;
        REQUIRE(records.size() == 6);
        for (std::size_t n = 0; n < 6; ++n) CHECK(*records[n] == *expected[n]);
    }
    CHECK(learn_look(state).series->complete);
    CHECK_FALSE(requested_learning(state));
    CHECK_FALSE(is_learning(state));
    AppState entered = small_learn_state({TrainTo{0}});
    learn_look(entered).series = nullptr;
    CHECK(requested_learning(entered));  // first weights, which is no training that could be paused
    CHECK_FALSE(is_learning(entered));
}

TEST_CASE("learn: a switch at a step leaves what was before it, and trains anew after it") {
    const AppState before = small_learn_state({TrainTo{8}});
    AppState state = before;
    play(state, {ShowLearnStep{3}});
    CHECK(shown_learn_step(state) == 3);
    play(state, {SwitchScaling{"b", 3, true}});
    const auto& was = learn_look(before).series->sides[1].records;
    const auto& now = learn_look(state).series->sides[1].records;
    REQUIRE(now.size() == 8);
    for (std::size_t n = 0; n < 3; ++n) CHECK(*now[n] == *was[n]);
    CHECK(now[3]->loss != was[3]->loss);
    CHECK(now[3]->switches.scaling);
    REQUIRE(learn_look(state).before);
    REQUIRE(learn_look(state).before->sides[1].records.size() == 8);
    CHECK(*learn_look(state).before->sides[1].records[7] == *was[7]);
    const LearnView view = build_learn_view(state);
    const auto dashed = [](const CurveView& curve) { return curve.dashed; };
    CHECK(std::ranges::count_if(view.plots[0].curves, dashed) == 1);
    CHECK(std::ranges::any_of(view.notes, [](const std::string& note) {
        return has(note, "Switched in B: with scaling from step 3");
    }));
    // The way back: the switch is taken away again.
    play(state, {SwitchScaling{"b", 3, false}});
    CHECK(learn_look(state).plan->switches[1].empty());
    for (std::size_t n = 0; n < 8; ++n)
        CHECK(*learn_look(state).series->sides[1].records[n] == *was[n]);
}

TEST_CASE("learn: a head that is off counts as 0 and gets no gradient") {
    const AppState state = small_learn_state({TrainTo{4}, SwitchLearnHead{"a", 1, 0, 0, false}});
    const auto& records = learn_look(state).series->sides[0].records;
    const auto& matrices = learn_look(state).series->sides[0].matrices;
    const auto w_q = std::ranges::find(matrices, "layers.0.w_q", &train::Matrix::name);
    REQUIRE(w_q != matrices.end());
    const auto m = static_cast<std::size_t>(w_q - matrices.begin());
    CHECK(records[0]->gradient_norms[m] > 0.0F);
    CHECK(records[1]->gradient_norms[m] == 0.0F);
    CHECK_FALSE(build_learn_view(state).runs[0].head_on);
    CHECK(build_learn_view(state).runs[1].head_on);
}

TEST_CASE("learn: maps are the model's weights on the sequence, of the moment that is looked at") {
    AppState state = small_learn_state({TrainTo{8}, ShowLearnStep{2}});
    const LearnView view = build_learn_view(state);
    REQUIRE(view.maps.size() == 2);
    const LearnSide& side = learn_look(state).series->sides[0];
    REQUIRE(side.probe);
    CHECK(side.probe->step == 2);
    const auto expected =
        train::probe(learn_look(state).plan->controls.a, *moment_at(side.moments, 2),
                     train::Sequences(learn_look(state).plan->controls.a).fixed());
    for (const auto [i, j] : each_cell(12, 12))
        CHECK(view.maps[0].at(i, j).value == expected.weights[0](0, 0, i, j));
    CHECK(view.maps[0].at(0, 1).look == CellLook::masked);
    play(state, {SetLearnSentence{"a 1 b 2 a 3 b 0 a b a b"}});
    CHECK(build_learn_view(state).maps[0].row_labels[2] == "b");
    play(state, {SetLearnSentence{"a 1 zebra"}});
    CHECK(state.message.severity == Severity::error);
    CHECK(build_learn_view(state).maps[0].row_labels[2] == "b");
}

TEST_CASE("learn: the headline says what the numbers say, also that there is no difference") {
    train::Ending a{0, 50, 0.5, 0.9, 0.1}, b{0, 50, 0.51, 0.91, 0.1};
    CHECK(is_no_difference(a, b));
    b.accuracy = 0.95;
    CHECK_FALSE(is_no_difference(a, b));
    b = {0, 50, 0.6, 0.9, 0.1};
    CHECK_FALSE(is_no_difference(a, b));
    AppState same = small_learn_state(
        {SetLearnDifference{"seed"}, SetLearnField{"b", "seed", "1"}, TrainTo{3}});
    CHECK(has(learn_point(same), "no clear difference"));
    play(same, {ShowLearnStep{1}});
    CHECK(learn_point(same).starts_with("Step 1 of 3: "));  // no verdict before the runs are done
    CHECK_FALSE(has(learn_point(same), "no clear difference"));
    play(same, {ShowLearnStep{0}});
    CHECK(has(learn_point(same), "Before training"));  // Space goes on from step 3
    AppState one = small_learn_state({SetLearnDifference{""}, TrainTo{3}});
    CHECK(has(learn_point(one), "After 3 steps: "));
    CHECK_FALSE(has(learn_point(one), "scaling"));
    CHECK(build_learn_view(one).maps.size() == 1);
    CHECK(has(learn_point(small_learn_state()), "Space trains them"));
}

namespace {

/// The run of `state` with weights of two known heads on a b c a b c …: layer 0 looks at the previous token, layer 1 at the
/// token after the earlier copy.
std::shared_ptr<LearnSeries> with_known_heads(const AppState& state) {
    auto series = std::make_shared<LearnSeries>(*learn_look(state).series);
    auto probe = std::make_shared<train::Probe>(*series->sides[0].probe);
    const auto n = std::ssize(probe->example.tokens);
    for (Tensor& weights : probe->weights) weights = Tensor({1, 1, n, n});
    for (Index i = 0; i < n; ++i) {
        probe->example.tokens[static_cast<std::size_t>(i)] = i % 3;
        probe->weights[0](0, 0, i, std::max<Index>(i - 1, 0)) = 1.0F;
        probe->weights[1](0, 0, i, i < 3 ? 0 : i - 2) = 1.0F;
    }
    series->sides[0].probe = probe;
    return series;
}

}  // namespace

TEST_CASE(
    "learn: once trained the headline names the heads that learned a pattern, and one is shown") {
    AppState state = small_learn_state({TrainTo{3}});
    const auto known = with_known_heads(state);
    const auto labels = learn_head_labels(*known, 0);
    REQUIRE(labels.size() == 2);
    CHECK(labels[0].label.name == HeadMeasure::previous);
    CHECK(labels[1].label.name == HeadMeasure::induction);
    CHECK(labels[1].weight == doctest::Approx(1.0));
    CHECK(clearest_head(labels) == &labels[1]);
    // Rows without probabilities have no pattern: no head is named.
    auto empty = std::make_shared<LearnSeries>(*known);
    auto zeros = std::make_shared<train::Probe>(*known->sides[0].probe);
    for (Tensor& weights : zeros->weights) weights = Tensor(weights.shape());
    empty->sides[0].probe = zeros;
    CHECK(learn_head_labels(*empty, 0).empty());
    CHECK(clearest_head({}) == nullptr);
    learn_look(state).series = nullptr;
    const AppState ended = after(state, {LearnProgress{known}});
    CHECK(learn_look(ended).layer == 1);
    CHECK(learn_look(ended).cell == large::Cell{11, 9});
    CHECK(
        learn_point(ended).starts_with("A: L0 H0 looks at the previous token (1.00), L1 H0 at "
                                       "the token after an earlier copy (1.00)."));
    CHECK(has(learn_notes(ended).front(), "After 3 steps: "));
    // A choice of the reader stays.
    const AppState chosen = after(state, {ShowLearnHead{0, 0}, LearnProgress{known}});
    CHECK(learn_look(chosen).layer == 0);
}

TEST_CASE("learn: a click on a row of the heads selects the head") {
    const AppState state = small_learn_state({TrainTo{3}, ShowLearnPage{LearnPage::heads}});
    const InspectorView view = learn_inspector(state);
    REQUIRE(view.table);
    REQUIRE(view.table->rows.size() == 2);
    const Actions& click = view.table->rows[1].cells.front().on_click;
    REQUIRE(click.size() == 1);
    CHECK(learn_look(after(state, click)).layer == 1);
}

TEST_CASE("learn: after a switch the names say what holds, and means are of the steps since") {
    AppState state = small_learn_state({TrainTo{8}, SwitchScaling{"a", 5, false}});
    const LearnSeries& series = *learn_look(state).series;
    CHECK(learn_name(series.request.plan, 0) == "with scaling, then without scaling");
    CHECK(learn_name(series.request.plan, 1) == "without scaling");
    CHECK(has(learn_notes(state)[0], "means over the last 3 steps"));
    const auto mean = train::ending_of(series.sides[0].records, 8, 3);
    CHECK(has(learn_notes(state)[0], percent(mean.saturated) + " at this step"));
    play(state, {SwitchLearnHead{"b", 6, 0, 0, false}});
    CHECK(learn_name(learn_look(state).series->request.plan, 1) ==
          "without scaling, heads switched");
    play(state, {SwitchScaling{"a", 5, true}});
    CHECK(learn_name(learn_look(state).series->request.plan, 0) == "with scaling");
}

TEST_CASE("learn: three measures are drawn, each once, and shares are percentages") {
    AppState state = small_learn_state({TrainTo{3}});
    for (const LearnMeasure measure :
         {LearnMeasure::accuracy, LearnMeasure::saturated, LearnMeasure::w_q}) {
        learn_look(state).measure = measure;
        const std::vector<PlotView> plots = build_learn_view(state).plots;
        REQUIRE(plots.size() == 3);
        CHECK(plots[0].title != plots[1].title);
        CHECK(plots[0].title != plots[2].title);
        CHECK(plots[1].title != plots[2].title);
        CHECK(plots[0].marker_texts[0].ends_with("%") == (measure != LearnMeasure::w_q));
    }
}

TEST_CASE("learn: how wide first logits are is measured, whatever norm, spread and temperature") {
    for (const char* norm : {"\"pre\"", "\"none\""})
        for (const char* spread : {"1", "0.5"}) {
            const AppState state = small_learn_state({SetLearnField{"a", "norm", norm},
                                                      SetLearnField{"a", "initial_spread", spread},
                                                      SetLearnField{"a", "temperature", "3"}});
            const LearnControls& controls = learn_controls(state);
            std::string expected;
            for (std::size_t run = 0; run < 2; ++run) {
                const train::Trainer trainer = *train::Trainer::make(controls.of(run));
                const auto layers = train::layers_of(controls.of(run), *trainer.checkpoint(),
                                                     trainer.sequences().fixed());
                for (const auto& inputs : layers.inputs) {
                    const auto trace = attend_exact(cast<double>(*inputs), layers.spec).value();
                    const TensorD& z = trace[Stage::scaled];
                    std::vector<double> values;
                    for (const auto [h, i] : each_cell(z.shape().h, z.shape().t))
                        for (Index j = 0; j < (layers.spec.mask.causal ? i + 1 : z.shape().d); ++j)
                            values.push_back(z(0, h, i, j));
                    double mean = 0.0, squares = 0.0;
                    for (const double value : values)
                        mean += value / static_cast<double>(values.size());
                    for (const double value : values) squares += std::pow(value - mean, 2);
                    expected =
                        significant(std::sqrt(squares / static_cast<double>(values.size())), 3);
                    CAPTURE(expected);
                    const std::vector<std::string> notes = learn_notes(state);
                    CHECK(has(notes.back(), "at the initial weights"));
                    CHECK(has(notes.back(), " " + expected));
                }
            }
        }
}

TEST_CASE("learn: a longer gradient of W_Q without the division is explained where there is one") {
    const AppState state = small_learn_state({SetLearnField{"a", "d_k", "256"}, TrainTo{2}});
    const LearnSeries& series = *learn_look(state).series;
    const auto norm = [&](std::size_t run) {
        double squares = 0.0;
        for (std::size_t m = 0; m < series.sides[run].matrices.size(); ++m)
            if (series.sides[run].matrices[m].name.ends_with(".w_q"))
                squares += std::pow(series.sides[run].records[1]->gradient_norms[m], 2);
        return std::sqrt(squares);
    };
    const bool longer = norm(1) > 1.05 * norm(0);
    bool stated = false;
    for (const std::string& note : learn_notes(state))
        stated |= has(note, significant(norm(1), 3) + " against " + significant(norm(0), 3));
    CHECK(longer);
    CHECK(stated);
    for (const std::string& note :
         learn_notes(small_learn_state({SetLearnDifference{"seed"}, TrainTo{2}})))
        CHECK_FALSE(has(note, "is larger"));
}

TEST_CASE("learn: settings are undone, B keeps its difference, wrong ones change nothing") {
    AppState state = after(initial_state(), {SetWorkspace{"learn"}});
    const LearnControls first = learn_controls(state);
    CHECK(learn_controls(acted(state, {SetLearnField{"a", "d_k", "32"}})).a.d_k == 32);
    CHECK(learn_controls(state).b.d_k == 32);
    CHECK_FALSE(learn_controls(state).b.scaling);
    CHECK(learn_look(state).plan->controls.a.d_k == 32);  // nothing was trained: the plan follows
    CHECK(learn_controls(acted(state, {SetLearnDifference{"d_k"}})).b.scaling);
    CHECK(learn_controls(state).b.d_k == 8);
    CHECK(learn_controls(acted(state, {SetLearnField{"b", "d_k", "64"}})).a.d_k == 32);
    CHECK(learn_controls(state).b.d_k == 64);
    const LearnControls now = learn_controls(state);
    view::apply(state, SetLearnField{"b", "layers", "1"});
    CHECK(has(state.message.text, "B differs only in d_k"));
    CHECK(acted(state, {SetLearnField{"a", "d_k", "100000"}}).message.severity == Severity::error);
    acted(state, {SetLearnField{"a", "colour", "1"}, SetLearnField{"a", "d_k", "\"wide\""}});
    CHECK(learn_controls(acted(state, {SetLearnDifference{"task"}})) == now);
    for (int n = 0; n < 3; ++n) view::apply(state, Undo{});
    CHECK(learn_controls(state) == first);
}

TEST_CASE("learn: every experiment and every difference can be trained") {
    for (const LearnExperiment& each : learn_experiments()) {
        CAPTURE(each.key);
        REQUIRE(controls_of(each));
        const LearnControls controls = *controls_of(each);
        CHECK(train::check(controls.a));
        CHECK(train::check(controls.b));
        CHECK((controls.a != controls.b) == controls.has_b());
        for (const std::string_view field : kLearnDifferences) {
            CAPTURE(field);
            const auto other = with_difference(controls.a, field);
            REQUIRE(other);
            CHECK(other->a != other->b);
            CHECK(learn_run_text(*other, 0) != learn_run_text(*other, 1));
        }
    }
}

TEST_CASE("learn: the spread is that of the same training from the next seeds") {
    const AppState state = small_learn_state({TrainTo{3}, TrainSeeds{3}});
    const LearnSeries& series = *learn_look(state).series;
    REQUIRE(series.seeds.size() == 3);
    for (const LearnSeed& seed : series.seeds)
        for (std::size_t run = 0; run < 2; ++run) {
            train::Spec spec = learn_look(state).plan->controls.of(run);
            spec.seed = seed.seed;
            CHECK(seed.endings[run].loss == train::ending_of(plain_records(spec, 3), 3).loss);
        }
    CHECK(series.seeds[1].endings[0].loss != series.seeds[0].endings[0].loss);
    CHECK(std::ranges::any_of(build_learn_view(state).notes,
                              [](const std::string& note) { return has(note, "Over 3 seeds"); }));
}

TEST_CASE("learn: a session brings back settings, plan and place, and trains to the same numbers") {
    AppState state = small_learn_state({TrainTo{5}, ShowLearnStep{2},
                                        SwitchLearnHead{"b", 2, 1, 0, false}, ShowLearnStep{4},
                                        ShowLearnHead{1, 0}, ShowLearnMeasure{LearnMeasure::w_q}});
    const std::string text = session_to_json(state);
    AppState read = reopened_alike(state);
    answer_all(read);
    for (std::size_t run = 0; run < 2; ++run)
        for (std::size_t n = 0; n < 5; ++n)
            CHECK(*learn_look(read).series->sides[run].records[n] ==
                  *learn_look(state).series->sides[run].records[n]);
    const auto with = [&](const char* from, const char* to) {
        return session_from_json(replaced(text, from, to), "session");
    };
    CHECK_FALSE(with("\"until\":5", "\"until\":-5"));
    CHECK_FALSE(with("\"differs\":\"scaling\"", "\"differs\":\"task\""));
    CHECK_FALSE(with("[[2,1,0]]", "[[2,9,0]]"));
}

TEST_CASE("learn: what cannot be said leaves everything as it is") {
    AppState state = small_learn_state({TrainTo{2}});
    const LearnPlan plan = *learn_look(state).plan;
    for (const Action& action :
         Actions{TrainTo{-1}, TrainTo{kMostLearnSteps + 1}, SwitchScaling{"c", 0, true},
                 SwitchScaling{"a", 99, false}, SwitchLearnHead{"a", 0, 9, 0, false}, TrainSeeds{0},
                 TrainSeeds{99}, OpenLearnMoment{"a", "learn", 0}, OpenLearnMoment{"a", "attic", 0},
                 OpenLearnMoment{"a", "step", 3}, LoadExperiment{"attic"}}) {
        CHECK(acted(state, {action}).message.severity == Severity::warning);
        CHECK(*learn_look(state).plan == plan);
    }
}

namespace {

/// The experiment with tiny models.
AppState small_experiment(const char* key, const Actions& actions = {}) {
    AppState state = after(initial_state(), {SetWorkspace{"learn"}, LoadExperiment{key}});
    for (const auto& [field, value] : {std::pair{"d_model", "8"}, {"d_k", "4"}, {"batch", "4"}})
        view::apply(state, SetLearnField{"a", field, value});
    play(state, actions);
    return state;
}

}  // namespace

TEST_CASE(
    "learn: the models that come with the program are trained from nothing, by their recipes") {
    for (const char* key : {"pronouns", "translate", "stories"}) {
        CAPTURE(key);
        const AppState state = small_experiment(key, {TrainTo{9}});
        const LearnControls& controls = learn_look(state).plan->controls;
        CHECK(controls.a.scaling);
        CHECK_FALSE(controls.b.scaling);
        REQUIRE(has_held_out(controls.a));
        for (std::size_t run = 0; run < 2; ++run) {
            const LearnSide& side = learn_look(state).series->sides[run];
            const auto expected = plain_records(controls.of(run), 9);
            for (std::size_t n = 0; n < 9; ++n) CHECK(*side.records[n] == *expected[n]);
            // Steps 0, 4 and 8, and the last one, each of the model after that number of steps.
            std::vector<Index> steps;
            for (const LearnHeldOut& each : side.held_out) steps.push_back(each.step);
            CHECK(steps == std::vector<Index>{0, 4, 8, 9});
            train::Trainer trainer = *train::Trainer::make(controls.of(run));
            for (int n = 0; n < 8; ++n) trainer.step();
            CHECK(side.held_out[2].right ==
                  train::evaluate(controls.of(run), *trainer.checkpoint())->answers_right);
        }
    }
}

TEST_CASE("learn: pronouns shows the word “it” in every head, and says what it is read as") {
    AppState state = small_experiment("pronouns", {TrainTo{6}});
    const LearnLook& look = learn_look(state);
    CHECK(look.cell.row == 7);
    CHECK(look.picture == LearnPicture::word);
    CHECK(look.measure == LearnMeasure::held_out);
    LearnView view = build_learn_view(state);
    REQUIRE(view.maps.size() == 2);
    CHECK(view.by_head);
    CHECK(view.maps[0].rows == 4);
    CHECK(view.maps[0].columns == 11);
    CHECK(view.maps[0].row_labels == std::vector<std::string>{"L0 H0", "L0 H1", "L1 H0", "L1 H1"});
    const train::Probe& probe = *look.series->sides[1].probe;
    for (const auto [head, key] : each_cell(4, 11))
        CHECK(view.maps[1].at(head, key).value == probe.weights[head / 2](0, head % 2, 7, key));
    CHECK(has(view.notes[0], "At “it” the models answer: with scaling “"));
    CHECK(has(view.notes[1], "Held-out texts after 6 steps: with scaling "));
    CHECK(view.plots[0].title == "held-out answers");
    // The map of one head is one key away, and stays.
    play(state, {ShowLearnPicture{LearnPicture::head}});
    CHECK(build_learn_view(state).maps[0].rows == 11);
    const AppState read = reopened(state);
    CHECK(learn_look(read).picture == LearnPicture::head);
    CHECK(learn_look(read).plan->controls == learn_look(state).plan->controls);
    // Back to an earlier step: the numbers are those of that step.
    play(state, {ShowLearnStep{4}});
    CHECK(has(learn_notes(state)[1], "Held-out texts after 4 steps"));
    // A switch drops later measurements.
    play(state, {SwitchScaling{"b", 4, true}});
    CHECK(learn_look(state).series->sides[1].held_out.size() == 3);
    // Another task has no held-out texts, and no language.
    play(state, {SetLearnField{"a", "task", "\"grammar\""}});
    CHECK(learn_controls(state).a.language.empty());
}

namespace {

constexpr const char* kOwnLines =
    "the dog slept because it was tired | dog\nthe cat slept because it was tired | cat\n"
    "the dog saw the road because it was wide | road";

}  // namespace

TEST_CASE("learn: own lines are trained on, a test sentence is answered, and its lines are found") {
    AppState state = after(initial_state(), {SetWorkspace{"learn"}});
    play(state, {SetOwnData{kOwnLines}});
    const train::Spec spec = learn_look(state).plan->controls.a;
    CHECK(spec.language->own_text() == kOwnLines);
    CHECK_FALSE(learn_controls(state).has_b());
    CHECK(learn_steps_done(state) == spec.steps);
    play(state, {SetLearnSentence{"the dog saw the road because it was wide and long"}});
    LearnLinesView lines = build_learn_view(state).lines;
    const LearnSide& side = learn_look(state).series->sides[0];
    REQUIRE(side.answer);
    const auto expected = train::own_answer(spec, *side.moments.back(),
                                            "the dog saw the road because it was wide and long");
    REQUIRE(expected);
    CHECK(side.answer->probability == expected->probability);
    CHECK(has(lines.answer, "“" + spec.language->vocabulary()[expected->predictions[0].token]));
    CHECK(lines.unknown == "Not in your lines: and, long. The model reads [?] instead.");
    // The models without each line trained by themselves.
    REQUIRE(shown_influences(state));
    CHECK_FALSE(lines.can_explain);
    const train::LeftOut models = *train::leave_out_each(spec, {}, spec.steps, {});
    const auto found =
        train::influences_of(spec, models, "the dog saw the road because it was wide and long");
    REQUIRE(found);
    for (std::size_t n = 0; n < 3; ++n) {
        CHECK(shown_influences(state)->lines[n].line == found->lines[n].line);
        CHECK(shown_influences(state)->lines[n].probability == found->lines[n].probability);
    }
    const auto right = std::ranges::count_if(models.not_read, &train::LineAnswer::right);
    REQUIRE(right < 3);
    REQUIRE(lines.scores.size() == 2);
    CHECK(lines.scores[0] == "Lines it was trained on: 3 of 3 right.");
    CHECK(lines.scores[1] ==
          fmt::format("Each line, answered by a model trained without it: {} of 3 "
                      "right.",
                      right));
    REQUIRE(std::ssize(lines.failures) == 3 - right);
    CHECK(has(lines.failures.back(), "3 the dog saw the road because it was wide | road → “"));
    const InspectorView page = learn_inspector(state);
    REQUIRE(page.table);
    CHECK(page.table->rows.size() == 3);
    // Another sentence has other lines, of the same models.
    play(state, {SetLearnSentence{"the cat slept because it was tired"}});
    CHECK_FALSE(requested_left_out(state));
    REQUIRE(shown_influences(state));
    CHECK(shown_influences(state)->answer.terms.size() == 7);
    // Another step has other models, by hand alone.
    play(state, {ShowLearnStep{0}});
    CHECK(shown_influences(state) == nullptr);
    play(state, {ShowLearnStep{100}});
    CHECK_FALSE(requested_left_out(state));
    CHECK(build_learn_view(state).lines.can_explain);
    CHECK(learn_inspector(state).empty);
    play(state, {ExplainLearnAnswer{}});
    CHECK(shown_influences(state));
    play(state, {ShowLearnStep{std::nullopt}});
    // A session has the lines, and undo takes them away.
    CHECK(learn_look(reopened(state)).plan->controls.a.language->own_text() == kOwnLines);
    view::apply(state, CopyOwnData{});
    CHECK(state.effects.clipboard == kOwnLines);
    play(state, {Undo{}});
    CHECK_FALSE(train::has_own_data(learn_controls(state).a));
}

TEST_CASE("learn: lines that are wrong change nothing, and the message says which line") {
    AppState state = after(initial_state(), {SetWorkspace{"learn"}});
    const LearnControls before = learn_controls(state);
    view::apply(state, SetOwnData{"a dog it | dog\nthe cat slept | cat"});
    CHECK(state.message.severity == Severity::error);
    CHECK(has(state.message.text, "2: it has no “it”"));
    CHECK(learn_controls(state) == before);
    view::apply(state, ExplainLearnAnswer{});
    CHECK(state.message.severity == Severity::warning);
    CHECK_FALSE(requested_left_out(state));
    view::apply(state, CopyOwnData{});
    CHECK(state.message.severity == Severity::warning);
}

namespace {

/// Learn in a window, whose clock ticks.
AppState entered_in_window() { return after(initial_state(), {Tick{0.0}, SetWorkspace{"learn"}}); }

/// The recorded weights from “it” at a sample, in one run.
void check_shows(const AppState& state, std::size_t sample) {
    const LearnRecording& recording = *learn_recording();
    const LearnView view = build_learn_view(state);
    REQUIRE(view.maps.size() == 2);
    for (std::size_t run = 0; run < 2; ++run) {
        const train::Probe& probe = *recording.probes[run][sample];
        CHECK(view.maps[run].rows == 4);
        for (const auto [head, key] : each_cell(4, 11))
            CHECK(view.maps[run].at(head, key).value ==
                  probe.weights[head / 2](0, head % 2, recording.word, key));
    }
}

}  // namespace

TEST_CASE("learn: a recorded run plays on entry for six seconds and rests; nothing is trained") {
    REQUIRE(learn_recording());
    const LearnRecording& recording = *learn_recording();
    CHECK(recording.steps == 500);
    AppState state = entered_in_window();
    CHECK(is_animating(state));
    CHECK(shown_learn_step(state) == 0);
    CHECK(has(build_learn_view(state).progress, "recorded run, step 0 of 500"));
    Index last = 0;
    std::size_t shown = 0;
    double seconds = 0.0;
    while (is_animating(state) && seconds < 20.0) {
        view::apply(state, Tick{0.05});
        seconds += 0.05;
        if (!is_animating(state)) break;
        const Index step = shown_learn_step(state);
        CHECK(step >= last);
        shown += step > last ? 1 : 0;
        last = step;
        CHECK_FALSE(requested_learning(state));
        check_shows(state, static_cast<std::size_t>(step / recording.every));
        CHECK(learn_steps_done(state) == step);  // the curve grows
    }
    CHECK(seconds == doctest::Approx(kReplaySeconds).epsilon(0.02));
    CHECK(shown == 99);
    // It rests where the models differ most; at the end both are alike: which was first?
    const auto gap = [&](Index step) {
        double right[2] = {};
        for (std::size_t run = 0; run < 2; ++run)
            for (const LearnHeldOut& each : recording.sides[run].held_out)
                if (each.step == step) right[run] = each.right;
        return std::abs(right[0] - right[1]);
    };
    const Index widest = widest_gap(recording), rest = shown_learn_step(state);
    CHECK(rest >= widest);
    CHECK(rest < widest + recording.every);
    CHECK(gap(widest) > 0.2);
    for (const LearnHeldOut& each : recording.sides[0].held_out)
        CHECK(gap(each.step) <= gap(widest));
    CHECK(learn_point(state).starts_with(fmt::format("Step {} of 500: ", rest)));
    CHECK(learn_steps_done(state) == 500);
    state = after(state, {ShowLearnStep{std::nullopt}});
    CHECK(shown_learn_step(state) == 500);
    CHECK(learn_point(state).starts_with("90 % right is first reached at step "));
    CHECK(has(learn_point(state), " with scaling and at step "));
    const LearnView view = build_learn_view(state);
    CHECK(view.recorded);
    CHECK(has(view.notes[0], "After 500 steps: with scaling "));
    CHECK(has(view.notes[1], "At “it” the models answer: with scaling “animal”"));
    CHECK(view.plots[0].title == "held-out answers");
    CHECK(view.plots[0].curves[0].y.size() == recording.sides[0].held_out.size());
    CHECK_FALSE(state.history.size() > 1);  // nothing to undo
    CHECK_FALSE(learn_look(state).plan);
    // Away and back: it rests.
    CHECK_FALSE(is_animating(after(state, {SetWorkspace{"step"}, SetWorkspace{"learn"}})));
    CHECK(is_animating(after(state, {PlayRecordedRun{}})));
}

TEST_CASE("learn: the recorded run rests at once without a clock and with reduced motion") {
    const AppState still = after(initial_state(), {SetWorkspace{"learn"}});
    CHECK_FALSE(is_animating(still));
    const Index widest = widest_gap(*learn_recording()), every = learn_recording()->every;
    CHECK(shown_learn_step(still) / every == (widest + every - 1) / every);
    CHECK(is_animating(after(still, {Tick{0.0}})));  // the window came later
    const AppState reduced =
        after(initial_state(), {Tick{0.0}, SetReducedMotion{true}, SetWorkspace{"learn"}});
    CHECK_FALSE(is_animating(reduced));
    CHECK(shown_learn_step(reduced) == shown_learn_step(still));
    CHECK_FALSE(build_learn_view(reduced).can_replay);
    CHECK_FALSE(is_animating(after(reduced, {PlayRecordedRun{}})));
}

TEST_CASE("learn: the curve of the recorded run is scrubbed like another") {
    AppState state = after(entered_in_window(), {Tick{1.0}, ShowLearnStep{252}});
    CHECK_FALSE(is_animating(state));
    CHECK(shown_learn_step(state) == 250);
    check_shows(state, 50);
    CHECK(learn_steps_done(state) == 500);
    CHECK(learn_point(state).starts_with("Step 250 of 500: "));
    CHECK(shown_learn_step(pressed(state, plain(Key::right))) == 255);
    CHECK(shown_learn_step(pressed(state, plain(Key::left))) == 245);
    CHECK(shown_learn_step(pressed(state, plain(Key::home))) == 0);
    CHECK(shown_learn_step(pressed(state, plain(Key::end))) == 500);
    CHECK(shown_learn_step(pressed(after(state, {ShowLearnStep{0}}), plain(Key::left))) == 0);
    CHECK(has(learn_point(after(state, {ShowLearnStep{0}})), "Before training"));
    for (const LearnMeasure measure : learn_measures(state))
        for (const PlotView& plot :
             build_learn_view(after(state, {ShowLearnMeasure{measure}})).plots)
            for (const CurveView& curve : plot.curves) CHECK(curve.y.size() > 10);
    // Numbers that were not recorded are not shown.
    CHECK(shown_measure(after(state, {ShowLearnMeasure{LearnMeasure::gradient}})) ==
          LearnMeasure::held_out);
    for (const LearnPage page : {LearnPage::heads, LearnPage::matrices})
        CHECK(learn_inspector(after(state, {ShowLearnPage{page}})).empty);
    CHECK(shown_workspace(state).runs(state).empty());
    // A session has the recorded run and the step, and not the playback.
    const AppState read = reopened(state);
    CHECK(is_recorded(read));
    CHECK_FALSE(is_animating(read));
    CHECK(shown_learn_step(read) == 250);
}

TEST_CASE("learn: Space pauses the recorded run and continues it, and never trains") {
    AppState state = after(entered_in_window(), {Tick{2.0}});
    REQUIRE(is_animating(state));
    const Index step = shown_learn_step(state);
    CHECK(step > 0);
    AppState paused = pressed(state, plain(Key::space));
    CHECK_FALSE(is_animating(paused));
    CHECK(shown_learn_step(paused) == step);
    CHECK(shown_learn_step(after(paused, {Tick{1.0}})) == step);
    paused = after(paused, {ShowLearnHead{0, 1}});
    AppState on = pressed(paused, plain(Key::space));
    CHECK(is_animating(on));
    CHECK(shown_learn_step(on) == step);
    CHECK(learn_look(on).layer == 0);  // what is selected stays
    CHECK(shown_learn_step(after(on, {Tick{1.0}})) > step);
    const AppState ended = after(on, {Tick{kReplaySeconds}});
    const Index rest = shown_learn_step(ended);
    CHECK(rest < 500);
    CHECK(shown_learn_step(pressed(ended, plain(Key::space))) == rest);  // it goes on
    const AppState last = after(ended, {ShowLearnStep{std::nullopt}});
    CHECK(shown_learn_step(pressed(last, plain(Key::space))) == 0);  // from its first step
    for (const AppState& each : {state, paused, on, ended}) {
        CHECK(is_recorded(each));
        CHECK_FALSE(learn_look(each).plan);
        CHECK_FALSE(requested_learning(each));
    }
    CHECK(shown_learn_step(after(state, {through_journal(PlayRecordedRun{250})})) == 250);
    const auto former = from_journal(R"({"action": "play_recorded_run"})");
    REQUIRE(former);
    CHECK(shown_learn_step(after(state, {*former})) == 0);
}

TEST_CASE("learn: “Train it here” trains the recorded run, with the numbers of the recording") {
    AppState state = entered_in_window();
    const LearnControls before = learn_controls(state);
    view::apply(state, TrainRecordedRun{});
    REQUIRE(learn_look(state).plan);
    CHECK_FALSE(is_recorded(state));
    CHECK(learn_look(state).plan->until == 500);
    CHECK(learn_controls(state) == learn_recording()->controls);
    CHECK(learn_look(state).picture == LearnPicture::word);
    const auto request = requested_learning(state);
    REQUIRE(request);
    LearnRequest part = *request;
    part.plan.until = 40;  // a first part of the same training
    Training training;
    training.request(part);
    while (training.work({})) {
    }
    const auto series = training.series();
    const LearnRecording& recording = *learn_recording();
    const double tolerance = 1e-3;  // of another processor's kernels over 40 steps
    for (std::size_t run = 0; run < 2; ++run) {
        const LearnSide& side = series->sides[run];
        const LearnSide& stored = recording.sides[run];
        for (std::size_t n = 0; n < 40; ++n) {
            CHECK(side.records[n]->loss ==
                  doctest::Approx(stored.records[n]->loss).epsilon(tolerance));
            CHECK(side.records[n]->accuracy ==
                  doctest::Approx(stored.records[n]->accuracy).epsilon(0.02));
        }
        for (std::size_t n = 0; n < side.held_out.size(); ++n) {
            CHECK(side.held_out[n].step == stored.held_out[n].step);
            CHECK(side.held_out[n].right ==
                  doctest::Approx(stored.held_out[n].right).epsilon(0.05));
        }
        const train::Probe& now = *side.probe;
        const train::Probe& then = *recording.probes[run][40 / recording.every];
        CHECK(now.step == then.step);
        CHECK(now.answers[7] == then.answers[7]);
        for (const auto [head, key] : each_cell(4, 11))
            CHECK(std::abs(now.weights[head / 2](0, head % 2, 7, key) -
                           then.weights[head / 2](0, head % 2, 7, key)) <= 1e-3F);
    }
    view::apply(state, Undo{});
    CHECK(learn_controls(state) == before);
}

TEST_CASE("learn: what was journaled on entry before there was a recorded run does the same") {
    const train::Spec first = first_learn_spec(0);
    AppState state = after(entered_in_window(), {TrainTo{2}});
    CHECK(learn_look(state).plan->controls.a == first);
    CHECK(learn_look(state).plan->until == 2);
    CHECK_FALSE(is_recorded(state));
    CHECK_FALSE(is_animating(state));
    CHECK(learn_look(state).layer == 0);
    const AppState switched = after(entered_in_window(), {SwitchScaling{"a", 0, false}});
    CHECK(learn_look(switched).plan->switches[0].size() == 1);
    const AppState field = after(entered_in_window(), {SetLearnField{"a", "d_k", "32"}});
    CHECK(learn_look(field).plan->controls.a.task == first.task);
    CHECK(learn_look(field).plan->controls.a.d_k == 32);
    CHECK(has(learn_point(after(entered_in_window(), {NewTraining{}})), "Space trains them"));
    CHECK(acted(state, {PlayRecordedRun{}}).message.severity == Severity::warning);
    CHECK_FALSE(is_recorded(state));
    CHECK(is_recorded(after(state, {NewTraining{}, PlayRecordedRun{}})));
}
