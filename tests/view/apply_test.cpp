#include "app/common/document/document.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/workspace.h"
#include "app/window/rail.h"
#include "app/workspaces/saturation/actions.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

bool contains(const AppState& state, std::string_view text) {
    return has(state.message.text, text);
}

constexpr CellRef kCell{Stage::x, 1, 1};

/// One of everything, chosen by `n`.
Action some_action(std::uint64_t n) {
    const auto pick = [&](std::uint64_t salt, std::uint64_t count) {
        return static_cast<Index>(mix(n, salt) % count);
    };
    const CellRef cell{Stage::x, pick(1, 5), pick(2, 5)};
    const Action all[] = {StepBy{static_cast<int>(pick(3, 5)) - 2},
                          GoToStage{static_cast<Stage>(pick(3, kStageCount))},
                          SelectCell{cell},
                          MoveSelection{static_cast<int>(pick(3, 3)) - 1, 1},
                          SetScaling{pick(3, 2) == 0},
                          SetCausal{pick(3, 2) == 0},
                          SetTemperature{0.1 + 0.1 * static_cast<double>(pick(3, 30))},
                          SetKeyWidth{pick(3, 70)},
                          SetHeads{pick(3, 10)},
                          SetModelWidth{pick(3, 20)},
                          SetSeed{mix(n, 4)},
                          SetSentence{pick(3, 3) == 0 ? "" : "a naïve “test” \\ of 词"},
                          SetCell{cell, uniform(n, 5) * 3.0},
                          Undo{},
                          Redo{},
                          EndGesture{},
                          LoadPreset{pick(3, 2) == 0 ? "three-heads" : "cross-attention"},
                          ShowHead{pick(3, 3)},
                          SetSaturationWidth{pick(3, 5000)},
                          BeginCellEdit{cell},
                          DraftCell{"-0.25"},
                          CommitCellEdit{}};
    return all[pick(0, std::size(all))];
}

}  // namespace

TEST_CASE("scaling off says what it did to the weights") {
    const AppState state = after(initial_state(), {SetScaling{false}});
    CHECK(contains(state,
                   "Scaling off: scores are no longer divided by √4 = 2; scaled scores, weights, "
                   "context and output change; Q, K, V and scores cannot change; largest weight of "
                   "row The: "));
    CHECK((*state.trace)[Stage::scaled] == (*state.trace)[Stage::scores]);
}

TEST_CASE("an edit changes all downstream in one undo step, and replaces what was undone") {
    const AppState first = initial_state();
    const AppState edited = after(first, {SetCell{kCell, 2.0}});
    CHECK(edited.document().inputs->x(0, 0, 1, 1) == 2.0F);
    CHECK((*edited.trace)[Stage::output] != (*first.trace)[Stage::output]);
    CHECK(edited.document().name == "custom");
    const AppState undone = after(edited, {Undo{}});
    CHECK((*undone.trace)[Stage::output] == (*first.trace)[Stage::output]);
    CHECK((*after(undone, {Redo{}}).trace)[Stage::output] == (*edited.trace)[Stage::output]);
    const AppState other = after(
        first, {SetCell{kCell, 2.0}, SetCell{kCell, 3.0}, Undo{}, Undo{}, SetCell{kCell, 4.0}});
    CHECK(other.history.size() == 2);
    CHECK(other.now == 1);
    const AppState redone = after(other, {Redo{}});
    CHECK(contains(redone, "Nothing to redo."));
    CHECK(redone.document().inputs->x(0, 0, 1, 1) == 4.0F);
    CHECK(after(other, {Undo{}}).document().inputs == first.document().inputs);
}

TEST_CASE("what is typed must be a number; else the old one stays") {
    const AppState wrong =
        after(initial_state(), {BeginCellEdit{kCell}, DraftCell{"1.2.3"}, CommitCellEdit{}});
    CHECK(contains(wrong,
                   "'1.2.3' is not a number; X[cat, 1] stays 0.51. Escape keeps the old number."));
    CHECK(wrong.message.severity == Severity::error);
    CHECK(wrong.history.size() == initial_state().history.size());
    const auto steps_after = [](const char* text) {
        return after(initial_state(), {BeginCellEdit{kCell}, DraftCell{text}, CommitCellEdit{}})
            .now;
    };
    for (const char* text : {"nan", "inf", " -1e-3 ", "−∞", "+2"}) CHECK(steps_after(text) == 1);
    for (const char* text : {"", "1e39", "1e999", "0x", "1,5", "--1"})
        CHECK(steps_after(text) == 0);
}

TEST_CASE("whatever leaves a cell that is typed into keeps what was typed, if it is a new number") {
    const CellRef other{Stage::x, 0, 0};
    for (const Action& leaving : std::vector<Action>{
             SelectCell{other}, GoToStage{Stage::q}, StepBy{1}, BeginCellEdit{other},
             ClearSelection{}, SetScaling{false}, SetWorkspace{"large"}, ShowGradients{true},
             SetHeads{2}, SetSentence{"another sentence here"}}) {
        CAPTURE(to_journal(leaving).value());
        AppState state = after(initial_state(), {BeginCellEdit{kCell}, DraftCell{"2.5"}});
        REQUIRE(acted(state, {leaving}).now >= 1);
        CHECK(state.history[1].document->inputs->x(0, 0, 1, 1) == 2.5F);
        CHECK((!step_look(state).editing || step_look(state).editing->cell == other));
    }
    for (const char* draft : {"0.51", "2.5.1", ""}) {
        const AppState state = after(initial_state(), {BeginCellEdit{kCell}, DraftCell{draft},
                                                       SelectCell{{Stage::x, 0, 0}}});
        CHECK(state.now == 0);
        CHECK_FALSE(step_look(state).editing);
    }
    const AppState cancelled = after(
        initial_state(), {BeginCellEdit{kCell}, DraftCell{"2.5"}, CancelCellEdit{}, StepBy{1}});
    CHECK(cancelled.now == 0);
}

TEST_CASE("pointing and looking do not end the typing; computed numbers cannot be edited") {
    AppState state =
        after(initial_state(), {BeginCellEdit{kCell}, DraftCell{"2.5"}, HoverCell{kCell}, Tick{0.1},
                                SetTheme{ThemeName::light}, TakeScreenshot{}});
    REQUIRE(step_look(state).editing);
    CHECK(step_look(state).editing->draft == "2.5");
    state = after(initial_state(), {BeginCellEdit{{Stage::scores, 0, 0}}});
    CHECK_FALSE(step_look(state).editing);
    CHECK(contains(state, "scores[The, The] is computed: change X[The], W_Q or W_K"));
}

TEST_CASE("an edit of a later head's W changes that head's columns") {
    const AppState state =
        after(two_heads_state(), {ShowHead{1}, SetCell{{Param::w_q, 0, 1}, 9.0}});
    const Index column = state.document().d_k + 1;
    CHECK(state.document().inputs->params[Param::w_q](0, 0, 0, column) == 9.0F);
}

TEST_CASE("a drag is one undo step, two are two; a press is one, also of the same action again") {
    AppState state =
        after(initial_state(), {BeginGesture{}, SetTemperature{1.1}, HoverCell{},
                                SetTemperature{1.2}, SetTemperature{1.3}, EndGesture{}});
    CHECK(state.now == 1);
    CHECK(acted(state, {BeginGesture{}, SetTemperature{1.4}, SetTemperature{1.5}}).now == 2);
    CHECK(after(state, {Undo{}}).document().spec.temperature == 1.3);
    CHECK(after(state, {SetKeyWidth{5}}).now == 3);
    state = initial_state();
    for (std::uint64_t seed = 2; seed < 7; ++seed) view::apply(state, SetSeed{seed});
    CHECK(state.now == 5);
    state = after(state,
                  {SetWorkspace{"saturation"}, SetSaturationWidth{128}, SetSaturationWidth{256}});
    CHECK(state.now == 7);
}

TEST_CASE("undo remembers 500 steps, and drops some older ones at once") {
    AppState state = initial_state();
    std::size_t most = 0;
    for (int n = 0; n < 1200; ++n) {
        apply(state, SetCell{{Stage::x, 0, 0}, n + 1.0});
        CHECK(state.history.size() >= std::min<std::size_t>(n + 2, 500));
        CHECK(state.now + 1 == state.history.size());
        most = std::max(most, state.history.size());
    }
    CHECK(most < 550);
    for (int n = 0; n < 499; ++n) apply(state, Undo{});
    CHECK(state.document().inputs->x.values()[0] == 701.0F);
}

TEST_CASE("undo keeps no more tensors than it may") {
    AppState state = initial_state();
    Document heavy = state.document();
    Inputs inputs;                                   // without V: nothing is computed of it
    inputs.q = Tensor({1, 1, Index{1} << 20, 150});  // 600 MiB
    inputs.k = Tensor({1, 1, 1, 150});
    heavy.origin = FileOrigin{"heavy.npz"};
    set_inputs(heavy, std::move(inputs));
    for (int n = 0; n < 2; ++n) {
        Document copy = heavy;
        set_inputs(copy, Inputs(*heavy.inputs));
        state.history.emplace_back().document = std::make_shared<const Document>(std::move(copy));
        state.now = state.history.size() - 1;
    }
    view::apply(state, SetTemperature{2.0});  // shares its tensors with the last
    CHECK(state.history.size() == 2);
    CHECK(state.document().spec.temperature == 2.0);
}

TEST_CASE("limits are named and change nothing, in journals and sessions neither") {
    struct Refused {
        Action action;
        std::string text;
    };
    for (const Refused& refused :
         std::vector<Refused>{{SetHeads{17}, "Heads is 17: it must be 1 to 16."},
                              {SetKeyWidth{129}, "d_k is 129: it must be 1 to 128"},
                              {SetModelWidth{0}, "d_model is 0: it must be 1 to 128"},
                              {SetTemperature{0.0}, "Temperature is 0"},
                              {SetSentence{"  "}, "The sentence is empty"},
                              {SetSaturationWidth{0}, "d_k = 0"},
                              {SetSaturationWidth{4097}, "d_k = 4097: it must be 1 to 4096"},
                              {LoadPreset{"nope"}, "There is no preset 'nope'"},
                              {SetBackend{"gpu"}, "There is no backend 'gpu'"}}) {
        const AppState before = initial_state();
        AppState state = after(before, {refused.action});
        CHECK(contains(state, refused.text));
        state.message = before.message;
        CHECK(session_to_json(state) == session_to_json(before));
    }
    const AppState before = after(
        initial_state(), {SetSaturationModel{SaturationModel::sampled}, SetSaturationKeys{256}});
    CHECK(contains(after(before, {SetSaturationKeys{257}}), "Keys = 257: it must be 2 to 256."));
    std::string text = session_to_json(before);
    CHECK(session_from_json(text, "session"));
    text.replace(text.find("\"keys\":256"), 10, "\"keys\":999");
    CHECK_FALSE(session_from_json(text, "session"));
}

TEST_CASE("a place of a session that is no cell is refused") {
    std::string text = session_to_json(
        after(initial_state(), {GoToStage{Stage::context}, SelectCell{{Stage::context, 2, 1}}}));
    const std::string place = R"({"tensor":"context","row":2,"column":)";
    const std::size_t at = text.find(place, text.find("\"places\":["));
    REQUIRE(at != text.npos);
    CHECK(session_from_json(text, "session"));
    text.insert(at + place.size(), "-");  // a column of another head: no place
    const auto opened = session_from_json(text, "session");
    REQUIRE_FALSE(opened);
    CHECK(has(opened.error().text(), "'places': expected cells of stages"));
}

TEST_CASE("undo is offered once something was done") {
    const auto offers_undo = [](const AppState& state) {
        const auto found = find_commands(state, "undo");
        return std::ranges::count(found, "Undo", &Command::text) == 1;
    };
    CHECK_FALSE(offers_undo(initial_state()));
    CHECK(offers_undo(after(initial_state(), {SetScaling{false}})));
}

TEST_CASE(
    "a workspace with nothing to show opens its example once, if nobody has changed anything") {
    AppState state = after(initial_state(), {SetWorkspace{"large"}});
    REQUIRE(due_actions(state).size() == 1);
    CHECK(due_actions(state).front().is<OpenExample>());
    state = after(state, due_actions(state));
    REQUIRE(state.opening != nullptr);
    const auto* const spec = std::get_if<large::PlantedSpec>(&state.opening->what);
    REQUIRE(spec != nullptr);
    CHECK(spec->tokens == 16384);
    CHECK(due_actions(state).empty());
    state.opening.reset();
    CHECK(due_actions(state).empty());
    CHECK(due_actions(after(initial_state(), {SetScaling{false}, SetWorkspace{"large"}})).empty());
    CHECK(due_actions(after(initial_state(), {StartTour{""}, SetWorkspace{"large"}})).empty());
    CHECK(due_actions(after(initial_state(), {SetWorkspace{"generate"}})).size() == 1);
    CHECK(due_actions(after(initial_state(), {SetWorkspace{"heads"}})).empty());
}

TEST_CASE("Masks opens with a causal mask as an example, if the document has none") {
    const AppState first = after(initial_state(), {SetWorkspace{"masks"}});
    REQUIRE_FALSE(first.document().spec.mask.any());
    AppState state = after(first, due_actions(first));
    CHECK(state.document().spec.mask.causal);
    CHECK(due_actions(state).empty());
    CHECK(due_actions(after(state, {SetWorkspace{"large"}})).size() == 1);  // it was not changed
    state = after(state, {Undo{}});
    CHECK_FALSE(state.document().spec.mask.any());
    CHECK(due_actions(state).empty());
    const Actions painted{PaintMask{1, 1, 1, 1, PaintShape::line, false}, SetWorkspace{"masks"}};
    CHECK(due_actions(after(initial_state(), painted)).empty());
}

TEST_CASE("play steps to the last stage; the selection follows the result to the same place") {
    AppState state = after(initial_state(), {TogglePlay{}});
    int steps = 0;
    for (int frame = 0; frame < 2000 && is_animating(state); ++frame) {
        apply(state, Tick{0.05});
        for (const Action& action : due_actions(state)) {
            view::apply(state, action);
            ++steps;
        }
    }
    CHECK(steps == 9);
    CHECK(state.stage == Stage::output);
    CHECK_FALSE(step_look(state).playing);
    state = after(initial_state(),
                  {GoToStage{Stage::scores}, SelectCell{{Stage::scores, 2, 1}}, StepBy{1}});
    CHECK(state.selected == CellRef{Stage::scaled, 2, 1});
}

TEST_CASE("random actions through the journal give the same state") {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        CAPTURE(seed);
        AppState direct = initial_state();
        AppState replayed = initial_state();
        for (std::uint64_t n = 0; n < 60; ++n) {
            const Action action = some_action(mix(seed, n));
            view::apply(direct, action);
            view::apply(replayed, through_journal(action));
        }
        CHECK(session_to_json(direct) == session_to_json(replayed));
        reopened_alike(direct);
    }
}

TEST_CASE("a journal line is JSON with the action's name, and exact; a wrong one names its fault") {
    CHECK(to_journal(SetScaling{false}).value() == R"({"action":"set_scaling","on":false})");
    CHECK_FALSE(to_journal(Tick{0.1}));
    const SetCell cell{{Param::w_o, 1, 2}, 0.1 + 0.2};
    CHECK(to_journal(through_journal(cell)) == to_journal(cell));
    CHECK(has(to_journal(SetCell{kCell, std::nan("")}).value(), "\"nan\""));
    const auto fault = [](const char* line) { return from_journal(line).error().text(); };
    CHECK(has(fault(R"({"action":"fly"})"), "unknown action 'fly'"));
    CHECK(has(fault(R"({"action":"set_scaling"})"), "has no 'on'"));
    CHECK(has(fault(R"({"action":"set_scaling","on":1})"), "expected true or false"));
    CHECK(has(fault(R"({"action":"set_scaling","on":true,"of":1})"), "unknown key 'of'"));
    CHECK(has(fault(R"({"action":"go_to_stage","stage":"softmax"})"), "one of x, "));
    CHECK(has(fault("{"), "not valid JSON"));
    CHECK(has(fault("[]"), "expected an object"));
    CHECK(has(fault(R"({"on":true})"), "has no 'action'"));
}

TEST_CASE("no two commands share a key, each can be journaled; every key has its name") {
    for (const WorkspaceInfo* workspace : workspaces()) {
        const auto list = commands(after(initial_state(), {go_to(*workspace)}));
        for (const Command& a : list) {
            CHECK((to_journal(a.action) || kind_of(a.action) == Kind::moment));
            for (const Command& b : list)
                for (const Chord& chord : {a.chord, a.also})
                    if (&a != &b && chord.key != Key::none)
                        CHECK_FALSE((chord == b.chord || chord == b.also));
        }
    }
    CHECK(to_string(Chord{Key::z, true, true}) == "Ctrl+Shift+Z");
    CHECK(find_commands(initial_state(), "scal off")[0].text == "Scaling off");
    CHECK(to_string(Chord{Key::a}) == "A");
    CHECK(to_string(Chord{Key::digit9, true}) == "Ctrl+9");
    CHECK(to_string(Chord{Key::page_down}) == "PgDn");
    CHECK(to_string(Chord{Key::del, false, true}) == "Shift+Delete");
    CHECK(to_string(Chord{}).empty());
}

TEST_CASE("copying asks for the clipboard") {
    const AppState state =
        after(initial_state(), {SelectCell{kCell}, CopyArithmetic{CopyAs::text}});
    REQUIRE(state.effects.clipboard);
    CHECK(state.effects.clipboard->find("X[cat, 1] = 0.51") != std::string::npos);
}

TEST_CASE("commands go round the heads and the sequences of a batch") {
    const auto pressed = [](const AppState& state, std::string_view text) {
        const auto list = commands(state);
        const Command& command = one_of(list, text, &Command::text);
        REQUIRE(command.enabled);
        return after(state, {command.action});
    };
    const AppState first = two_sequences_state();
    const AppState second = pressed(first, "Next sequence of the batch");
    CHECK(second.batch == 1);
    CHECK(second.head == 0);
    CHECK(pressed(second, "Next sequence of the batch").batch == 0);
    const AppState head = pressed(second, "Next head");
    CHECK(head.head == 1);
    CHECK(head.batch == 1);
    CHECK(pressed(head, "Next head").head == 0);
    CHECK(pressed(head, "Previous head").head == 0);
    CHECK(pressed(first, "Previous head").head == 1);
    const AppState four = after(initial_state(), {SetHeads{4}});
    CHECK(pressed(four, "Previous head").head == 3);
    CHECK(pressed(pressed(four, "Next head"), "Previous head").head == 0);
}
