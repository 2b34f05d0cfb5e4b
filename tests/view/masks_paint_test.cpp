#include "app/common/document/mask_rules.h"
#include "app/common/document/paint.h"
#include "app/common/document/reference.h"
#include "app/common/workspace.h"
#include "app/workspaces/masks/actions.h"
#include "app/workspaces/masks/view.h"
#include "core/bias.h"
#include "tests/view/sample_states.h"
#include "tests/view/view_test.h"

#include <nlohmann/json.hpp>

using namespace attn::view;

namespace {

/// "1111/1101/…": the mask, row by row.
std::string drawn(const AppState& state) {
    const auto pairs = pairs_allowed_by(state, state.document().spec.mask);
    std::string text;
    for (std::size_t n = 0; n < pairs.size(); ++n) {
        if (n > 0 && static_cast<Index>(n) % state.document().size.tk == 0) text += '/';
        text += pairs[n] != 0 ? '1' : '0';
    }
    return text;
}

PaintMask one(Index row, Index column, bool allowed = false) {
    return {row, column, row, column, PaintShape::line, allowed};
}
PaintMask rectangle(Index row, Index column, Index to_row, Index to_column, bool allowed = false) {
    return {row, column, to_row, to_column, PaintShape::rectangle, allowed};
}

PaintBias bias(Index row, Index column, double value) {
    return {row, column, row, column, PaintShape::line, value};
}
/// The bias of the head shown, row by row.
std::vector<double> bias_of(const AppState& state) {
    std::vector<double> values;
    for (Index i = 0; i < state.document().size.tq; ++i)
        for (Index j = 0; j < state.document().size.tk; ++j)
            values.push_back(bias_at(state.document().spec.mask, state.batch, state.head, i, j));
    return values;
}
/// A file whose call has a bias [1,2,1,3] of one number a key.
Document biased_file() {
    Document document = call_document(
        [](Inputs&, AttentionSpec& spec) {
            spec.mask.bias = make_bias(Tensor({1, 2, 1, 3}, {0, 1, 2, 3, 4, 5}));
        },
        {1, 2, 3, 4});
    document.origin = FileOrigin{"biased.npz"};
    return with_size(std::move(document)).value();
}

AppState pressed(AppState state, std::initializer_list<Chord> chords) {
    for (const Chord& chord : chords) state = view::pressed(state, chord);
    return state;
}

}  // namespace

TEST_CASE("what is painted is the document's mask; a drag is one step of undo, all on its way") {
    AppState state = masks_state({one(1, 2)});
    CHECK(drawn(state) == "1111/1101/1111/1111");
    CHECK((*state.trace)[Stage::masked](0, 0, 1, 2) == -HUGE_VALF);
    CHECK((*state.trace)[Stage::weights](0, 0, 1, 2) == 0.0F);
    CHECK(state.history.back().text == "Painted: cat → sat forbidden");
    const AppState again = after(state, {one(1, 2, true)});
    CHECK(drawn(again) == "1111/1111/1111/1111");
    CHECK_FALSE(again.document().spec.mask.any());
    state = masks_state({BeginGesture{}, one(0, 0), PaintMask{0, 0, 3, 3, PaintShape::line, false},
                         PaintMask{3, 3, 3, 1, PaintShape::line, false}, EndGesture{}});
    CHECK(drawn(state) == "0111/1011/1101/1000");
    CHECK(state.history.size() == 2);
    CHECK(state.history.back().text == "Painted: 6 pairs forbidden");
    CHECK(drawn(after(state, {Undo{}})) == "1111/1111/1111/1111");
    CHECK(drawn(after(state, {Undo{}, Redo{}})) == drawn(state));
    CHECK(after(state, {BeginGesture{}, one(0, 1), EndGesture{}}).history.size() == 3);
}

TEST_CASE("within a drag a rectangle replaces the one before, and the brush keeps its first pair") {
    const AppState before = masks_state({one(3, 3)});
    AppState state = after(before, {BeginGesture{}, one(0, 0), rectangle(0, 0, 2, 2),
                                    rectangle(0, 0, 1, 1), EndGesture{}});
    CHECK(drawn(state) == "0011/0011/1111/1110");
    CHECK(state.history.size() == 3);
    CHECK(drawn(after(state, {Undo{}})) == "1111/1111/1111/1110");
    const AppState back = after(before, {BeginGesture{}, one(1, 1), rectangle(1, 1, 0, 0),
                                         rectangle(1, 1, 1, 1), EndGesture{}});
    CHECK(drawn(back) == "1111/1011/1111/1110");
    state = masks_state({BeginGesture{}, one(0, 1)});
    REQUIRE(masks_look(state).brush);
    CHECK_FALSE(masks_look(state).brush->allowed);
    state = after(std::move(state), {PaintMask{0, 1, 2, 1, PaintShape::line, false}});
    CHECK(masks_look(state).brush->first == Pair{0, 1});
    CHECK(masks_look(state).brush->last == Pair{2, 1});
    CHECK(masks_look(state).pair == Pair{2, 1});
    CHECK_FALSE(masks_look(after(state, {EndGesture{}})).brush);
}

TEST_CASE("paint cannot allow what a rule forbids; rules become paint, which is cleared alone") {
    AppState state = masks_state({SetCausalMask{CausalChoice::top_left}, one(0, 2, true)});
    CHECK(drawn(state) == "1000/1100/1110/1111");
    CHECK(state.history.size() == 2);
    CHECK(state.message.text ==
          "The → sat stays forbidden by the causal rule, j = 2 > i = 0. Paint cannot allow this "
          "pair: press B to convert the rules into paint.");
    const AppState ruled =
        masks_state({SetCausalMask{CausalChoice::top_left}, SetBlock{3}, one(2, 0)});
    const AppState painted = after(ruled, {PaintRules{}});
    CHECK(drawn(painted) == drawn(ruled));
    CHECK_FALSE(painted.document().spec.mask.causal);
    CHECK_FALSE(painted.document().spec.mask.block);
    CHECK(drawn(after(painted, {one(0, 2, true)})) == "1010/1100/0110/0001");
    CHECK(after(painted, {Undo{}}).document().spec.mask.causal);
    state = masks_state({SetCausalMask{CausalChoice::top_left}, one(2, 0), ClearPaint{}});
    CHECK(drawn(state) == "1000/1100/1110/1111");
    CHECK(after(state, {ClearPaint{}}).message.text == "Nothing is painted.");
}

TEST_CASE("a session holds every rule and the paint, and a journal plays them again") {
    const Actions actions{SetCausalMask{CausalChoice::bottom_right},
                          SetWindowSides{2, 1},
                          SetGlobalTokens{1},
                          SetBlock{3},
                          SetPadding{3},
                          SetEmptyRows{true},
                          rectangle(1, 0, 2, 0),
                          SelectPair{1, 0, false},
                          SelectPair{3, 2, true},
                          ShowMasksTab{MasksTab::conventions},
                          SetConvention{0, "nan"},
                          SetConvention{1, "after"},
                          SetConventionGain{4}};
    const AppState state = masks_state(actions);
    const AppState read = reopened_alike(state);
    const MaskSpec& mask = read.document().spec.mask;
    CHECK(drawn(read) == drawn(state));
    CHECK(mask.causal == CausalAlign::bottom_right);
    CHECK(mask.window_left == 2);
    CHECK(mask.window_right == 1);
    CHECK(mask.global_tokens == 1);
    CHECK(mask.block == 3);
    CHECK(mask.padding == std::vector<Index>{3});
    CHECK(read.document().spec.empty_rows == EmptyRows::nan);
    CHECK(read.document().painted);
    CHECK(shown_workspace(read).key == "masks");
    CHECK(masks_look(read).tab == MasksTab::conventions);
    CHECK(masks_look(read).pair == Pair{3, 2});
    CHECK(masks_look(read).corner == Pair{1, 0});
    CHECK(masks_look(read).conventions[0] == "nan");
    CHECK(masks_look(read).conventions[1] == "after");
    CHECK(masks_look(read).gain == 4);

    CHECK(session_to_json(masks_state(through_journal(actions))) == session_to_json(state));
}

TEST_CASE("a painted bias is added to the score; a drag is one step of undo") {
    const AppState plain_state = masks_state();
    AppState state = after(plain_state, {bias(1, 2, 1.5)});
    const Tensor &scaled = (*state.trace)[Stage::scaled], &biased = (*state.trace)[Stage::biased];
    for (const auto [i, j] : each_cell(4, 4))
        CHECK(biased(0, 0, i, j) ==
              doctest::Approx(scaled(0, 0, i, j) + (i == 1 && j == 2 ? 1.5F : 0.0F)));
    CHECK((*state.trace)[Stage::weights](0, 0, 1, 2) >
          (*plain_state.trace)[Stage::weights](0, 0, 1, 2));
    CHECK(state.history.back().text == "Painted: bias of cat → sat = 1.50");
    CHECK(after(state, {bias(1, 2, 0.0)}).document().spec.mask.bias == nullptr);
    CHECK(after(state, {Undo{}}).document().spec.mask.bias == nullptr);
    state = masks_state({BeginGesture{}, bias(0, 0, -2.0),
                         PaintBias{0, 0, 3, 3, PaintShape::line, -2.0},
                         PaintBias{0, 0, 1, 1, PaintShape::rectangle, -2.0}, EndGesture{}});
    CHECK(bias_of(state) ==
          std::vector<double>{-2, -2, 0, 0, -2, -2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    CHECK(state.history.size() == 2);
    CHECK(state.history.back().text == "Painted: bias of 4 pairs = −2.00");
    CHECK(bias_of(after(state, {Undo{}, Redo{}})) == bias_of(state));
    CHECK(after(state, {BeginGesture{}, bias(3, 3, 1.0), EndGesture{}}).history.size() == 3);
    CHECK(after(state, {bias(4, 0, 1.0)}).message.severity == Severity::warning);
    CHECK(has(after(state, {bias(0, 0, std::nan(""))}).message.text, "The bias is "));
    CHECK(after(state, {bias(0, 0, 1e7)}).history.size() == 2);
}

TEST_CASE("the first grid shows the bias that is painted; Space and a second click set 0") {
    AppState state = masks_state({SetBiasBrush{0.5}, SelectPair{2, 1, false}});
    state = pressed(std::move(state), {plain(Key::space)});
    CHECK(bias_at(state.document().spec.mask, 0, 0, 2, 1) == 0.5);
    MasksView view = build_masks_view(state);
    CHECK(view.takes_bias);
    CHECK(view.bias_value == 0.5);
    CHECK(view.grids.front().title == "bias");
    CHECK(view.grids.front().at(2, 1).text == "0.50");
    CHECK(view.bias[2 * 4 + 1] == 0.5F);
    CHECK(has(masks_inspector(state).as_text, "bias: 0.50"));
    state = pressed(std::move(state), {plain(Key::space)});
    CHECK_FALSE(state.document().spec.mask.bias);
    state = pressed(std::move(state), {shift(Key::b)});
    CHECK_FALSE(masks_look(state).bias_value);
    view = build_masks_view(state);
    CHECK(view.grids.front().title == "mask");
    CHECK(view.bias.empty());
    CHECK(toggled_bias(0.1F, 0.1) == 0.0);  // a float that was painted
    CHECK(toggled_bias(0.1F, 0.2) == 0.2);
    CHECK(after(state, {SetBiasBrush{-1e7}}).message.severity == Severity::warning);
}

TEST_CASE("a file's bias is painted in the head shown, pair by pair, and a session keeps it") {
    AppState state = after(state_of(biased_file()).value(), {SetWorkspace{"masks"}, ShowHead{1}});
    CHECK(bias_of(state) == std::vector<double>{3, 4, 5, 3, 4, 5, 3, 4, 5});
    state = after(std::move(state),
                  {bias(1, 0, -1.0), PaintBias{1, 1, 2, 2, PaintShape::rectangle, 9}});
    const std::vector<double> painted{3, 4, 5, -1, 9, 9, 3, 9, 9};
    CHECK(bias_of(state) == painted);
    CHECK(bias_of(after(state, {ShowHead{0}})) == std::vector<double>{0, 1, 2, 0, 1, 2, 0, 1, 2});
    CHECK(bias_of(after(state, {bias(0, 0, 0.0)}))[0] == 0.0);
    const auto reference =
        reference_from_json(nlohmann::json::parse(document_to_json(state.document())), "session");
    REQUIRE(reference);
    AppState opened = state_of(resolved(biased_file(), *reference).value()).value();
    opened = after(std::move(opened), {ShowHead{1}});
    CHECK(bias_of(opened) == painted);
    CHECK(document_to_json(opened.document()) == document_to_json(state.document()));
    Document plain_file = biased_file();
    plain_file.spec.mask.bias.reset();
    CHECK(has(resolved(plain_file, *reference).error().text(), "has no bias[0, 1] from 1 → 0"));
    const AppState none =
        after(state_of(plain_file).value(), {SetWorkspace{"masks"}, bias(0, 0, 1)});
    CHECK(has(none.message.text, "This document has no bias to paint"));
    CHECK_FALSE(build_masks_view(none).takes_bias);
}

TEST_CASE("a sentence's painted bias is in session and journal, and stays with other words") {
    const Actions actions{bias(1, 2, 1.5), PaintBias{2, 0, 3, 1, PaintShape::rectangle, -0.25},
                          SetBiasBrush{-0.25}};
    const AppState state = masks_state(actions);
    const AppState read = reopened_alike(state);
    CHECK(bias_of(read) == bias_of(state));
    CHECK(masks_look(read).bias_value == -0.25);
    CHECK(session_to_json(masks_state(through_journal(actions))) == session_to_json(state));
    const AppState longer = after(state, {SetSentence{"The cat sat down there"}});
    CHECK(bias_at(longer.document().spec.mask, 0, 0, 1, 2) == 1.5);
    CHECK(bias_at(longer.document().spec.mask, 0, 0, 4, 4) == 0.0);
    CHECK(bias_of(reopened_alike(longer)) == bias_of(longer));
    CHECK_FALSE(after(state, {SetSentence{"The"}}).document().spec.mask.bias);
    const auto fault = document_from_json(
        R"({"title": "t", "note": "n", "sentence": "a b",
            "bias": [{"row": 0, "column": 2, "to_row": 0, "to_column": 2, "value": 1}]})",
        "it");
    REQUIRE_FALSE(fault);
    CHECK(has(fault.error().text(), "has no bias[0, 0] from 0 → 2"));
}

TEST_CASE("a wrong mask of a session is named") {
    const auto fault = [](const std::string& mask) {
        const auto read = document_from_json(
            "{\"title\": \"t\", \"note\": \"n\", \"sentence\": \"a b\", \"mask\": " + mask + "}",
            "it");
        REQUIRE_FALSE(read);
        return read.error().text();
    };
    CHECK(has(fault("[\"10\", \"1x\"]"), "expected a text of 2 digits"));
    CHECK(has(fault("[\"10\", \"101\"]"), "expected a text of 2 digits"));
    CHECK(has(fault("[\"101\", \"101\"]"), "does not broadcast"));
    CHECK(has(fault("7"), "expected a list of texts"));
    CHECK(has(fault("[]"), "expected a list of texts"));
    CHECK(has(fault("{\"heads\": 2}"), "has no 'rows'"));
}

TEST_CASE("a mask is painted in the head shown; another sentence keeps what is still there") {
    AppState state = json_state(
        R"("d_model": 4, "d_k": 2, "heads": 2,
           "mask": {"heads": 2, "rows": ["11", "10", "11", "11"]})",
        "a b");
    CHECK(drawn(state) == "11/10");
    CHECK(drawn(acted(state, {ShowHead{1}, one(0, 1)})) == "10/11");
    CHECK(drawn(after(state, {ShowHead{0}})) == "11/10");
    CHECK(drawn(reopened(state)) == "10/11");
    state = masks_state({one(1, 2), one(3, 3)});
    state = after(std::move(state), {SetSentence{"The cat sat down there"}});
    CHECK(drawn(state) == "11111/11011/11111/11101/11111");
    CHECK(drawn(acted(state, {SetSentence{"The cat sat"}})) == "111/110/111");
    CHECK(drawn(acted(state, {SetSentence{"The"}})) == "1");
    CHECK_FALSE(state.document().spec.mask.any());
}

TEST_CASE("keys: arrows select, Shift extends a rectangle, Space toggles it") {
    AppState state = masks_state({SelectPair{1, 1, false}});
    state = pressed(std::move(state), {plain(Key::down), plain(Key::right)});
    CHECK(masks_look(state).pair == Pair{2, 2});
    state = pressed(std::move(state), {plain(Key::space)});
    CHECK(drawn(state) == "1111/1111/1101/1111");
    state = pressed(std::move(state), {shift(Key::up), shift(Key::left)});
    CHECK(masks_look(state).corner == Pair{2, 2});
    CHECK(masks_look(state).pair == Pair{1, 1});
    state = pressed(std::move(state), {plain(Key::space)});  // as the first one: allowed again
    CHECK(drawn(state) == "1111/1111/1111/1111");
    state = pressed(std::move(state), {plain(Key::space)});
    CHECK(drawn(state) == "1111/1001/1001/1111");
    CHECK(masks_look(state).corner);
    state = pressed(std::move(state), {plain(Key::escape)});
    CHECK_FALSE(masks_look(state).corner);
    state = pressed(std::move(state), {plain(Key::left), plain(Key::left)});
    CHECK(masks_look(state).pair.key == 0);  // no farther than the edge
    state = pressed(std::move(state), {plain(Key::del)});
    CHECK(drawn(state) == "1111/1111/1111/1111");
}

TEST_CASE("the pair is the one that Step looks at, and Step's is the one of Masks") {
    AppState state =
        after(initial_state(),
              {GoToStage{Stage::scores}, SelectCell{{Stage::scores, 2, 1}}, SetWorkspace{"masks"}});
    CHECK(masks_look(state).pair == Pair{2, 1});
    state = after(std::move(state), {SelectPair{3, 0, false}, SetWorkspace{"step"}});
    CHECK(state.selected == CellRef{Stage::scores, 3, 0});
    state = after(after(initial_state(), {SetWorkspace{"masks"}}),
                  {SelectPair{1, 3, false}, SetWorkspace{"step"}, GoToStage{Stage::weights}});
    CHECK(state.selected == CellRef{Stage::weights, 1, 3});
}

TEST_CASE("the hovered pair tells every rule, the selected one its arithmetic, forbidden or not") {
    AppState state = masks_state({SetCausalMask{CausalChoice::top_left}, SetWindowSides{1, 1},
                                  SelectPair{3, 1, false}, HoverPair{Pair{0, 3}}});
    const MasksView view = build_masks_view(state);
    CHECK(view.hover_title == "The → down: forbidden");
    CHECK(view.hover_text == "causal forbids: j = 3 > i = 0\nwindow forbids: |i − j| = 3 > 1");
    InspectorView inspector = shown_workspace(state).inspector(state);
    CHECK(inspector.title == "down → cat");
    CHECK(inspector.value == "forbidden");
    REQUIRE(inspector.lines.size() >= 4);
    CHECK(inspector.lines[0].label == "causal allows");
    CHECK(inspector.lines[1].label == "window forbids");
    CHECK(inspector.lines[1].pieces.front().text == "|i − j| = 2 > 1");
    CHECK(inspector.lines.back().pieces.front().text.ends_with("= 0.00"));
    REQUIRE(inspector.table);
    CHECK(inspector.table->rows.size() == 4);
    CHECK(inspector.table->rows[1].chosen);
    CHECK(inspector.table->rows[1].muted);
    CHECK_FALSE(inspector.table->rows[2].muted);
    state = masks_state({SetCausalMask{CausalChoice::top_left}, SelectPair{0, 0, false}});
    inspector = shown_workspace(state).inspector(state);
    CHECK(inspector.value == "allowed");
    CHECK(inspector.lines.back().label == "weight A");
    CHECK(inspector.lines.back().pieces.front().text == "1.00 ÷ 1.00 = 1.00");  // its only key
}
