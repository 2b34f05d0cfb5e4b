// Heads of a model that are switched off: an edit that comes as an answer, and what the Heads workspace says of it.

#include "app/common/document/document.h"
#include "app/common/document/intervention_actions.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/interventions.h"
#include "app/common/document/requests.h"
#include "app/common/explain/explain.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"
#include "core/train/run.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

using Off = std::vector<HeadPlace>;

/// What switching anything off does in the model below: L1 H0 by 0.25 nats in each of 4 rows, head 1 by ∞ in one.
InterventionEffects effects_by_hand() {
    InterventionEffects effects;
    effects.run.heads = {{{0, 0}}, {{0, 1}}, {{1, 0}}, {{1, 1}}};
    for (HeadEffect& each : effects.run.heads) each.finite = 4;
    effects.run.heads[2].kl_sum = 1.0;
    effects.run.heads[2].largest = 0.5;
    effects.run.heads[3].kl_sum = 0.3;
    effects.run.heads[3].finite = 3;
    effects.run.heads[3].infinite = 1;
    effects.run.heads[3].largest = 0.75;
    effects.run.next = NextTokenEffect{3, 3, 0.31, 0.22, 0.31, 0.22, 0.12};
    effects.before = effects.after = "the";
    return effects;
}

/// Stands for a model of two layers of two heads; a text of one word has another likeliest token then.
Result<Opened> run_by_fake(const OpenRequest& request, const RunControl&) {
    const auto* wanted = std::get_if<ModelText>(&request.what);
    if (wanted == nullptr) return bad_input("no files here");
    const ModelOrigin& model = wanted->model;
    for (const HeadPlace& at : model.changes.off)
        if (at.layer > 1 || at.head > 1) return bad_input("there is no such head");
    auto made = fake_document(model);
    if (!made) return tl::unexpected(made.error());
    Document document = *std::move(made);
    document.layers.clear();
    for (Index layer = 0; layer < 2; ++layer) {
        Inputs inputs = *document.inputs;
        for (const HeadPlace& at : model.changes.off)
            for (Index row = 4 * at.head; at.layer == layer && row < 4 * at.head + 4; ++row)
                std::ranges::fill(inputs.params[Param::w_o].matrix(0, 0).row(row), 0.0F);
        document.layers.push_back(std::make_shared<const Inputs>(std::move(inputs)));
    }
    document.inputs = document.layers[0];
    document.own_heads = 2;
    if (!model.changes.empty()) {
        InterventionEffects effects = effects_by_hand();
        if (document.tokens.size() == 1) {
            effects.run.next = NextTokenEffect{3, 4, 0.31, 0.22, 0.1, 0.4, 0.12};
            effects.after = "a";
        }
        document.effects = std::make_shared<const InterventionEffects>(std::move(effects));
    }
    return Opened{std::make_shared<const Document>(std::move(document)), nullptr, {}};
}

const Action kRunDone = DocumentReady{};

AppState run_with(AppState state, const Actions& actions) {
    play(state, actions, run_by_fake);
    return state;
}
AppState two_by_two(const std::string& text = "the cat sat down") {
    return run_with(initial_state(), {OpenFile{"fake", text}, kRunDone, SetWorkspace{"heads"}});
}

const Off& heads_off(const AppState& state) { return model_of(state.document())->changes.off; }

const HeadThumb& picture_of(const AllHeadsView& view, HeadPlace place) {
    return one_of(view.thumbs, place, &HeadThumb::place);
}

}  // namespace

TEST_CASE("switching a head off asks for the model's run without it; the answer is an edit") {
    AppState state = after(two_by_two(), {SwitchHead{0, 1, false}});
    REQUIRE(state.opening);
    const auto& wanted = std::get<ModelText>(state.opening->what);
    CHECK(wanted.typed);
    CHECK(wanted.model == ModelOrigin{"fake", "the cat sat down", "", {{{0, 1}}}});
    CHECK(state.message.text == "Running the model without L0 H1.");
    CHECK(heads_off(state).empty());  // until the answer is there
    CHECK(will_be_off(state, {0, 1}));
    CHECK_FALSE(is_off(state.document(), {0, 1}));

    state = run_with(state, {kRunDone});
    CHECK(heads_off(state) == Off{{0, 1}});
    CHECK(is_off(state.document(), {0, 1}));
    CHECK_FALSE(is_off(state.document(), {1, 1}));
    CHECK(has(
        state.message.text,
        "Without L0 H1 the next token stays “the”, p 0.31 → 0.22; KL(untouched‖now) 0.12 nats."));
    CHECK(heads_off(acted(state, {Undo{}})).empty());
    CHECK(heads_off(acted(state, {Redo{}})) == Off{{0, 1}});

    state = run_with(state, {SwitchHead{0, 0, false}, kRunDone});
    CHECK(heads_off(state) == Off{{0, 0}, {0, 1}});
    state = run_with(state, {SwitchHead{0, 1, true}, kRunDone});
    CHECK(heads_off(state) == Off{{0, 0}});
    state = run_with(state, {SwitchAllHeadsOn{}, kRunDone});
    CHECK(heads_off(state).empty());
    CHECK(state.message.text == "No intervention is left.");
    CHECK(heads_off(after(state, {Undo{}})) == Off{{0, 0}});
}

TEST_CASE("heads that are switched before the answer are one run; back again is none") {
    const AppState state = after(two_by_two(), {SwitchHead{1, 1, false}, SwitchHead{0, 0, false}});
    const AppState both = run_with(state, {kRunDone});
    CHECK(heads_off(both) == Off{{0, 0}, {1, 1}});
    CHECK(heads_off(after(both, {Undo{}})).empty());

    const AppState back = after(two_by_two(), {SwitchHead{1, 1, false}, SwitchHead{1, 1, true}});
    CHECK_FALSE(back.opening);
    CHECK(back.message.text == "Showing the model without interventions.");
}

TEST_CASE("what is typed is read without the heads that are off, those asked for too") {
    AppState state = run_with(two_by_two(), {SwitchHead{0, 1, false}, kRunDone});
    state = run_with(state, {TypeText{"a dog"}, kRunDone});
    CHECK(text_of(state.document()) == "a dog");
    CHECK(heads_off(state) == Off{{0, 1}});
    state = run_with(state, {SwitchHead{1, 0, false}, TypeText{"a cat"}, kRunDone});
    CHECK(text_of(state.document()) == "a cat");
    CHECK(heads_off(state) == Off{{0, 1}, {1, 0}});
    state = run_with(state, {TypeText{"a bird"}, SwitchAllHeadsOn{}, kRunDone});
    CHECK(text_of(state.document()) == "a bird");
    CHECK(heads_off(state).empty());
    // back to the text that is shown: the head that was asked for is still
    state = run_with(state, {SwitchHead{1, 0, false}, TypeText{"a bird"}, kRunDone});
    CHECK(heads_off(state) == Off{{1, 0}});
}

TEST_CASE("a row's own weights stay with their text while another is typed and left again") {
    AppState state = run_with(two_by_two(), {ReplaceRow{0, 1, 0, {1.0, 0.0, 0.0, 0.0}}, kRunDone});
    REQUIRE(model_of(state.document())->changes.rows.size() == 1);
    state = after(state, {TypeText{"a dog"}});
    REQUIRE(requested_document(state));
    CHECK_FALSE(requested_document(after(state, {TypeText{"the cat sat down"}})));
}

TEST_CASE("what cannot be switched says why, and nothing is asked for") {
    const auto refused = [](const AppState& state, const Action& action) {
        const AppState tried = after(state, {action});
        CHECK_FALSE(tried.opening);
        CHECK(tried.message.severity == Severity::warning);
        return tried.message.text;
    };
    CHECK(refused(initial_state(), SwitchHead{0, 0, false}) ==
          "Interventions need a trained model: open a model's folder.");
    CHECK(refused(initial_state(), SwitchAllHeadsOn{}) ==
          "Interventions need a trained model: open a model's folder.");
    CHECK(has(refused(two_by_two(), SwitchHead{2, 0, false}),
              "There is no layer 2: layers count from 0, and there are 2."));
    CHECK(has(refused(two_by_two(), SwitchHead{0, 2, false}), "There is no L0 H2"));
    CHECK(refused(two_by_two(), SwitchHead{0, 1, true}) == "L0 H1 is already on.");
    const AppState split = after(two_by_two(), {SetHeads{4}});
    CHECK(refused(split, SwitchHead{0, 1, false}) ==
          "W is split into 4 heads, but the model has 2: set 2 heads to change one.");
}

TEST_CASE("the first line names heads that are off, the output's numbers and the largest change") {
    AppState state = two_by_two();
    CHECK_FALSE(has(heads_point(state), "Without"));
    state = run_with(state, {SwitchHead{0, 1, false}, kRunDone});
    const std::string off_line =
        "Without L0 H1 the next token stays “the”, p 0.31 → 0.22; KL(untouched‖now) 0.12 nats. "
        "Most changed: L1 H0, mean KL(untouched‖now) of 4 rows 0.25 nats, largest |Δα| 0.50.";
    CHECK(heads_point(state) == off_line);
    const AppState sorted = after(state, {SortHeads{"entropy"}});
    CHECK(heads_point(sorted).starts_with(off_line + " "));
    CHECK(has(heads_point(sorted), ": from "));
    const AppState pinned = after(state, {PinHead{0, 0, true}, PinHead{1, 1, true}});
    CHECK(heads_point(pinned).starts_with(off_line + " "));

    state =
        run_with(two_by_two("cat"), {SwitchHead{0, 1, false}, SwitchHead{1, 0, false}, kRunDone});
    CHECK(heads_point(state).starts_with(
        "Without L0 H1 and L1 H0 the next token is “a”, p 0.10 → 0.40, no longer “the”, p 0.31 → "
        "0.22; KL(untouched‖now) 0.12 nats."));
}

TEST_CASE("many heads that are off are counted, the first by name; the colour bar marks 1/n") {
    Off many;
    for (Index head = 0; head < 12; ++head) many.push_back({3, head});
    CHECK(off_text(many) == "L3 H0, L3 H1, L3 H2, L3 H3, L3 H4, L3 H5, L3 H6, L3 H7 and 4 more");
    many.resize(3);
    CHECK(off_text(many) == "L3 H0, L3 H1 and L3 H2");
    const HeadsLegend legend = build_all_heads_view(two_by_two()).legend;
    REQUIRE(legend.even);
    // √ of the part of the largest weight
    CHECK(*legend.even == doctest::Approx(std::sqrt(0.25 / std::stod(legend.high))).epsilon(0.01));
    CHECK(has(legend.text, "mark: 1/n = .25"));
}

TEST_CASE("small pictures mark the head that is off, and how much each later one changed") {
    AppState state = two_by_two();
    AllHeadsView view = build_all_heads_view(state);
    CHECK(view.controls.model);
    CHECK(std::ranges::none_of(view.thumbs, &HeadThumb::off));
    CHECK(view.legend.change_text.empty());

    state = run_with(state, {SwitchHead{0, 1, false}, kRunDone, ShowHead{1, {}, 0}});
    view = build_all_heads_view(state);
    CHECK(view.controls.off);
    REQUIRE(view.controls.interventions.size() == 1);
    CHECK(view.controls.interventions[0].name == "L0 H1 off");
    CHECK(picture_of(view, {0, 1}).off);
    CHECK_FALSE(picture_of(view, {1, 1}).off);
    CHECK(picture_of(view, {0, 0}).change.empty());
    CHECK(picture_of(view, {1, 0}).change == "0.25");
    CHECK(picture_of(view, {1, 0}).change_share == 1.0F);
    CHECK(picture_of(view, {1, 1}).change == "0.10");
    CHECK(picture_of(view, {1, 1}).change_share == doctest::Approx(0.4));
    CHECK(view.legend.change_text ==
          "strip: mean KL(untouched‖now) of its rows, longest 0.25 nats");
    CHECK(has(heads_inspector(state).as_text, "switched off: its rows of W_O are 0"));
    view = build_all_heads_view(after(state, {HoverHead{HeadPlace{1, 1}}}));
    CHECK(has(
        view.hover_text,
        "change: mean KL(untouched‖now) of 3 rows 0.10 nats, KL ∞ in 1 row, largest |Δα| 0.75"));
    // heads of another number are not the model's
    view = build_all_heads_view(after(state, {SetHeads{4}}));
    CHECK(std::ranges::none_of(view.thumbs, &HeadThumb::off));
    CHECK(std::ranges::all_of(view.thumbs,
                              [](const HeadThumb& each) { return each.change.empty(); }));
    CHECK(view.point.starts_with("Without L0 H1"));
    // an only document's toy has no such switch
    CHECK_FALSE(
        build_all_heads_view(after(initial_state(), {SetWorkspace{"heads"}})).controls.model);
}

TEST_CASE("Step says that a row of W_O is 0 because its head is off") {
    const AppState state = run_with(two_by_two(), {SwitchHead{0, 1, false}, kRunDone});
    const auto reported = [&](Index row) {
        const Explanation explanation = explain(state, {Param::w_o, row, 0});
        return std::ranges::any_of(explanation.notes, [](const std::string& note) {
            return note == "Head 1 is switched off: its rows are 0 here, not in the model's file.";
        });
    };
    CHECK(reported(4));
    CHECK(reported(7));
    CHECK_FALSE(reported(3));
}

TEST_CASE("a journal and a session keep which heads are off") {
    const Actions actions{OpenFile{"fake", "the cat"}, kRunDone,
                          SetWorkspace{"heads"},       SwitchHead{1, 1, false},
                          SwitchHead{0, 0, false},     kRunDone};
    const AppState first = run_with(initial_state(), actions);
    CHECK(session_to_json(run_with(initial_state(), through_journal(actions))) ==
          session_to_json(first));
    const std::string session = session_to_json(first);
    CHECK(has(session, R"("off": [[0,0],[1,1]])"));
    CHECK(heads_off(reopened_alike(first, {.open = run_by_fake})) == Off{{0, 0}, {1, 1}});
    const std::string wrong =
        session_fault(replaced(session, "[[0,0],[1,1]]", "[[0,0],[1]]"), {.open = run_by_fake});
    CHECK(has(wrong, "'off' = "));
    CHECK(has(wrong, "expected a list of [layer, head]"));
}

TEST_CASE("a replaced row is an intervention beside heads off: in list, words and numbers") {
    AppState state = run_with(two_by_two(), {ReplaceRow{0, 1, 2, {0.0, 1.0, 0.0, 0.0}},
                                             SwitchHead{0, 0, false}, kRunDone});
    const ModelChanges& changes = model_of(state.document())->changes;
    REQUIRE(changes.rows.size() == 1);
    CHECK(changes.rows[0] == RowIntervention{{0, 1}, 2, {0.0, 1.0, 0.0, 0.0}});
    CHECK(changes.off == Off{{0, 0}});
    CHECK(heads_point(state).starts_with(
        "Without L0 H0, with row 2 of L0 H1 replaced the next token stays “the”"));
    const auto weights = heads_look(state).result->weights({0, 1});
    CHECK(weights(2, 1) == 1.0F);
    CHECK(weights(2, 0) == 0.0F);
    CHECK(weights(2, 2) == 0.0F);
    CHECK(weights(1, 1) != 1.0F);  // another row keeps softmax's
    state = after(state, {ShowHead{1, {}, 0}});
    CHECK(has(heads_inspector(state).as_text, "row 2 replaced: all on key 1 instead of softmax"));
    const AllHeadsView view = build_all_heads_view(state);
    REQUIRE(view.controls.interventions.size() == 2);
    CHECK(view.controls.interventions[0].name == "L0 H1 row 2");
    CHECK(view.controls.interventions[1].name == "L0 H0 off");

    state = run_with(state, {view.controls.interventions[0].remove, kRunDone});
    CHECK(model_of(state.document())->changes == ModelChanges{{{0, 0}}, {}, {}});
    CHECK(model_of(acted(state, {Undo{}}).document())->changes.rows.size() == 1);
    state = run_with(state, {RemoveInterventions{}, kRunDone});
    CHECK(model_of(state.document())->changes.empty());
    CHECK_FALSE(state.document().effects);
}

TEST_CASE("q, k and v are patched from a text that is asked for; one a head and part") {
    AppState state = after(two_by_two(), {AskPatch{1, 0, Stage::v}});
    REQUIRE(state.prompt);
    CHECK(state.prompt->kind == PromptKind::patch);
    CHECK(state.prompt->path == "the cat sat down");
    state = run_with(state, {PatchHead{1, 0, Stage::v, "a dog ran off"}, kRunDone});
    CHECK_FALSE(state.prompt);
    CHECK(has(heads_point(state), "With v of layer 1 key head 0 from “a dog ran off” the next"));
    state = run_with(state, {PatchHead{1, 0, Stage::v, "an ox ran off"},
                             PatchHead{1, 0, Stage::q, "a dog ran off"}, kRunDone});
    const std::vector<TextPatch> both{{{1, 0}, Stage::q, "a dog ran off"},
                                      {{1, 0}, Stage::v, "an ox ran off"}};
    CHECK(model_of(state.document())->changes.patches == both);
    state = run_with(state, {RemovePatch{1, 0, Stage::q}, kRunDone});
    CHECK(model_of(state.document())->changes.patches.size() == 1);
    CHECK_FALSE(acted(state, {PatchHead{1, 0, Stage::context, "a dog ran off"}}).opening);
}

TEST_CASE("another text keeps heads off and drops rows and patches, which are of its tokens") {
    AppState state =
        run_with(two_by_two(), {SwitchHead{0, 0, false}, ReplaceRow{0, 1, 0, {1.0, 0.0, 0.0, 0.0}},
                                PatchHead{1, 1, Stage::k, "a dog ran off"}, kRunDone});
    state = run_with(state, {TypeText{"a bird"}, kRunDone});
    CHECK(model_of(state.document())->changes == ModelChanges{{{0, 0}}, {}, {}});
    CHECK(has(state.message.text, "1 replaced row"));
    CHECK(has(state.message.text, "1 patch"));
    CHECK(model_of(acted(state, {Undo{}}).document())->changes.patches.size() == 1);
}

TEST_CASE("a journal and a session keep rows and patches") {
    const Actions actions{OpenFile{"fake", "the cat sat"},
                          kRunDone,
                          SetWorkspace{"heads"},
                          ReplaceRow{0, 1, 2, {0.25, 0.0, 0.75}},
                          PatchHead{1, 0, Stage::k, "a dog ran"},
                          kRunDone};
    const AppState first = run_with(initial_state(), actions);
    const std::string session = session_to_json(first);
    CHECK(session_to_json(run_with(initial_state(), through_journal(actions))) == session);
    const AppState read = reopened(first, {.open = run_by_fake});
    CHECK(model_of(read.document())->changes == model_of(first.document())->changes);
    const std::string wrong = replaced(session, R"("part":"k")", R"("part":"x")");
    CHECK(has(session_fault(wrong, {.open = run_by_fake}), "has the part 'x': expected q, k or v"));
}

TEST_CASE("change is a measure while there are interventions: it sorts, filters, is in the CSV") {
    AppState state = two_by_two();
    CHECK(std::ranges::none_of(heads_measures(state.document()), [](const HeadMeasureInfo& each) {
        return each.measure == HeadMeasure::change;
    }));
    CHECK_FALSE(has(heads_csv(*heads_look(state).result, ""), ",change"));
    state = run_with(state, {SwitchHead{0, 1, false}, kRunDone, SortHeads{"change"}});
    const auto order = heads_in_order(*heads_look(state).result, "change");
    REQUIRE(order.size() == 4);
    CHECK(order[0] == HeadPlace{1, 0});  // 0.25 nats
    CHECK(order[1] == HeadPlace{1, 1});  // 0.1
    CHECK(order[2] == HeadPlace{0, 0});  // 0
    CHECK(heads_look(state).result->find({1, 0})->measures[HeadMeasure::change] == 0.25);
    CHECK(heads_look(state).result->find({0, 0})->measures[HeadMeasure::change] == 0.0);
    CHECK(has(heads_csv(*heads_look(state).result, ""), "norm_share,change,rows,rows_excluded\n"));
    state = after(state, {FilterHeadsByMeasure{"change", 0.2}});
    CHECK(build_all_heads_view(state).controls.count == "1 of 4 shown");
}
