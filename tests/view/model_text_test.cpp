// Typing into a model's document: an edit that comes as an answer, one step while typing goes on.

#include "app/common/document/document.h"
#include "app/common/document/opened.h"
#include "app/common/document/requests.h"
#include "app/common/inspector.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// Stands for a model: one token a word, two layers of seeded weights, and a similarity that says how many were compared.
Result<Opened> read_by_fake(const OpenRequest& request, const RunControl&) {
    const auto* wanted = std::get_if<ModelText>(&request.what);
    if (wanted == nullptr) return bad_input("no files here");
    const ModelOrigin& model = wanted->model;
    if (model.text.size() > 40) return bad_input("the text has 9 tokens; this model takes 8");
    auto made = fake_document(model);
    if (!made) return tl::unexpected(made.error());
    Document document = *std::move(made);
    document.layers = {document.inputs, document.inputs};
    document.read_out.has_vector = true;
    if (!model.before.empty()) document.read_out.similarity = 0.25;
    return Opened{std::make_shared<const Document>(std::move(document)), nullptr, {}};
}

AppState played(AppState state, const Actions& actions) {
    for (const Action& action : actions) {
        if (is_awaited(action))
            answer_all(state, read_by_fake);
        else
            view::apply(state, action);
    }
    return state;
}

AppState fake_state() {
    return played(initial_state(), {OpenFile{"fake", "the cat sat down"}, DocumentReady{}});
}

const Action kAnswer = DocumentReady{};

std::string text(const AppState& state) { return text_of(state.document()); }

}  // namespace

TEST_CASE("a text that is typed is read when the answer comes, and the screen waits for it") {
    const AppState opened = fake_state();
    CHECK(text(opened) == "the cat sat down");
    CHECK(opened.sentence_draft == "the cat sat down");
    AppState state = after(opened, {TypeText{"the cat sat"}});
    CHECK(text(state) == "the cat sat down");
    CHECK(state.sentence_draft == "the cat sat");
    const auto request = requested_document(state);
    REQUIRE(request);
    const auto& wanted = std::get<ModelText>(request->what);
    CHECK(wanted.model == ModelOrigin{"fake", "the cat sat", "the cat sat down"});
    CHECK(wanted.typed);
    state = played(state, {kAnswer});
    CHECK(text(state) == "the cat sat");
    CHECK_FALSE(requested_document(state));
    CHECK((*state.trace)[Stage::weights].shape().t == 3);
    CHECK(state.history.size() == opened.history.size() + 1);
    CHECK(state.message.text ==
          "“the cat sat”: 3 tokens; the model's cosine similarity to “the cat sat down”: 0.250.");
    CHECK(build_step_view(state).read_out ==
          "The model's cosine similarity to “the cat sat down”: 0.250.");
}

TEST_CASE("head, layer, stage, selection and options stay where the new text has them") {
    const CellRef cell{Stage::weights, 1, 1};
    const AppState before = played(
        fake_state(), {ShowLayer{1}, ShowHead{1, 0}, GoToStage{Stage::weights}, SelectCell{cell},
                       SetScaling{false}, SetCausal{true}, SetWorkspace{"masks"}});
    const AppState state = played(before, {TypeText{"one two"}, kAnswer});
    CHECK(text(state) == "one two");
    CHECK(state.document().layer == 1);
    CHECK(state.head == 1);
    CHECK(state.stage == Stage::weights);
    CHECK(state.selected == cell);
    CHECK(state.workspace == "masks");
    CHECK(state.document().spec.scale == ScaleKind::none);
    CHECK(state.document().spec.mask.causal == CausalAlign::top_left);
    // a cell that the new text has not comes back with a longer one
    const AppState shorter = played(state, {TypeText{"one"}, kAnswer});
    REQUIRE(shorter.selected);
    CHECK(shorter.selected->row == 0);
    CHECK(played(shorter, {TypeText{"one two three"}, kAnswer}).selected == cell);
}

TEST_CASE("typing is one step of undo until something else is done") {
    const AppState opened = fake_state();
    const AppState typed = played(
        opened, {TypeText{"a"}, kAnswer, TypeText{"a b"}, kAnswer, TypeText{"a b c"}, kAnswer});
    CHECK(text(typed) == "a b c");
    CHECK(typed.history.size() == opened.history.size() + 1);
    CHECK(model_of(typed.document())->before == "the cat sat down");
    const AppState undone = after(typed, {Undo{}});
    CHECK(text(undone) == "the cat sat down");
    CHECK(undone.sentence_draft == "the cat sat down");
    CHECK((*undone.trace)[Stage::weights].shape().t == 4);
    CHECK(text(after(undone, {Redo{}})) == "a b c");
    const AppState two = played(typed, {EndGesture{}, TypeText{"d"}, kAnswer});
    CHECK(two.history.size() == opened.history.size() + 2);
    CHECK(model_of(two.document())->before == "a b c");
    CHECK(text(after(two, {Undo{}})) == "a b c");
    // an edit between ends it, and is no part of it
    const AppState three = played(typed, {SetTemperature{2.0}, TypeText{"d"}, kAnswer});
    CHECK(text(after(three, {Undo{}})) == "a b c");
    CHECK(after(three, {Undo{}}).document().spec.temperature == 2.0);
    CHECK(after(typed, {SetTemperature{2.0}, SetTemperature{3.0}}).history.size() ==
          typed.history.size() + 2);
}

TEST_CASE("numbers that were edited, and a painted mask, are dropped with a word") {
    AppState state = played(fake_state(), {SetCell{{Stage::x, 0, 0}, 3.0}});
    REQUIRE(state.document().edits.size() == 1);
    state = played(state, {TypeText{"the cat ran home"}, kAnswer});
    CHECK(state.document().edits.empty());
    CHECK(state.document().inputs->x(0, 0, 0, 0) != 3.0F);
    CHECK(state.message.text.ends_with("dropped (made for the previous text): 1 edited number."));
    CHECK(after(state, {Undo{}}).document().edits.size() == 1);
}

TEST_CASE("an empty text, or one that cannot be read, leaves the last good result") {
    const AppState opened = fake_state();
    const AppState blank = after(opened, {TypeText{"the"}, TypeText{"  "}});
    CHECK_FALSE(requested_document(blank));
    CHECK(text(blank) == "the cat sat down");
    CHECK(blank.message.text == "The text is empty: the screen still shows “the cat sat down”.");
    CHECK(blank.message.severity == Severity::warning);
    const AppState failed =
        played(opened, {TypeText{"a text that is longer than this model can read"}, kAnswer});
    CHECK(text(failed) == "the cat sat down");
    CHECK(failed.history.size() == opened.history.size());
    CHECK(failed.message.text ==
          "The text has 9 tokens; this model takes 8; the screen still shows “the cat sat down”.");
    // the text that is there already asks for nothing
    CHECK_FALSE(requested_document(after(opened, {TypeText{"x"}, TypeText{"the cat sat down"}})));
}

TEST_CASE("what is not computed yet is left with the document that it was typed for") {
    const AppState pending = after(fake_state(), {EndGesture{}, TypeText{"a b"}});
    REQUIRE(requested_document(pending));
    CHECK_FALSE(requested_document(after(pending, {Undo{}})));
    CHECK_FALSE(requested_document(after(pending, {LoadPreset{"three-heads"}})));
    CHECK_FALSE(requested_document(after(pending, {Quit{}})));
    CHECK(text(played(pending, {SetScaling{false}, kAnswer})) == "a b");
    const AppState toy = after(initial_state(), {TypeText{"a b"}});
    CHECK_FALSE(requested_document(toy));
    CHECK(toy.message.severity == Severity::warning);
}

TEST_CASE("a journal of typing gives the same session again") {
    const Actions actions{OpenFile{"fake", "the cat sat down"},
                          kAnswer,
                          TypeText{"a"},
                          TypeText{"a b"},
                          kAnswer,
                          ShowLayer{1},
                          TypeText{"a b c"},
                          kAnswer,
                          Undo{},
                          TypeText{"a \"b\" c d"},
                          TypeText{"e f"},
                          kAnswer};
    const AppState first = played(initial_state(), actions);
    CHECK(text(first) == "e f");
    CHECK(session_to_json(played(initial_state(), through_journal(actions))) ==
          session_to_json(first));
    const AppState read = reopened_alike(first, {.open = read_by_fake});
    CHECK(from_journal(R"({"action":"open_file","path":"x"})"));  // as older ones have it
}
