#include "app/workspaces/kinds/online.h"
#include "app/workspaces/kinds/state.h"
#include "core/tex.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// Row mat of cat sat mat, two keys a chunk: scores 0.71, 0.71, 1.41.
AppState online_state(const Actions& actions = {}) {
    return after(after(preset_state("cat-sat-mat"),
                       {SetWorkspace{"kinds"}, SelectKindsPair{2, 0}, ShowOnline{true}}),
                 actions);
}

std::string cell(const GridView& grid, Index row, Index column) {
    return grid.at(row, column).text;
}

}  // namespace

TEST_CASE("nothing of a chunk is shown before it is stepped to") {
    for (Index taken = 0; taken <= 2; ++taken) {
        const OnlineView view =
            build_online_view(online_state({StepOnline{static_cast<int>(taken)}}));
        CHECK(view.taken == taken);
        CHECK(view.chunks == 2);
        for (std::size_t j = 0; j < 3; ++j) {
            const bool seen = static_cast<Index>(j) < 2 * taken;
            CHECK((view.keys[j].when != OnlineKey::When::later) == seen);
            CHECK(view.keys[j].score_text.empty() == !seen);
            if (!seen) CHECK(view.keys[j].score == 0.0);
            if (!seen) CHECK(view.keys[j].term == 0.0);
        }
        CHECK(view.result.has_value() == (taken == 2));
    }
    const OnlineView start = build_online_view(online_state());
    CHECK_FALSE(start.largest);
    for (const std::string& tex : start.tex) CHECK_FALSE(has(tex, "1.41"));
}

TEST_CASE("each step says in words and numbers what it did; what is kept does not grow") {
    AppState state = online_state();
    CHECK(build_online_view(state).sentence == "Before the first chunk: m = −∞, ℓ = 0, O = 0.");
    state = after(state, {StepOnline{1}});
    OnlineView view = build_online_view(state);
    CHECK(view.sentence ==
          "Keys cat and sat: the first scores set m = 0.7071, and nothing is rescaled.");
    CHECK(view.largest == doctest::Approx(std::sqrt(0.5)));
    CHECK(view.keys[0].term == 1.0);
    CHECK(cell(view.state, 3, 0) == "2");
    state = after(state, {StepOnline{1}});
    view = build_online_view(state);
    CHECK(view.sentence ==
          "Key mat: m grows from 0.7071 to 1.4142, so ℓ and O are multiplied by α = 0.4931.");
    CHECK(view.keys[0].term == doctest::Approx(0.493068691395));  // under the new m
    CHECK(view.state.rows == 4);
    CHECK(view.state.columns == 3);
    CHECK(cell(view.state, 0, 0) == "2.000");
    CHECK(cell(view.state, 1, 0) == "0.986");
    CHECK(cell(view.state, 2, 0) == "1.000");
    CHECK(cell(view.state, 3, 0) == "1.986");
    REQUIRE(view.result);
    CHECK(cell(*view.result, 0, 0) == "0.752");
    CHECK(cell(*view.result, 1, 1) == "0.752");
    CHECK(tex::plain_text(view.tex[1]).ends_with("= 0.4931"));
    CHECK(state.message.text == view.sentence);
    CHECK(build_online_view(online_state()).memory ==
          "Memory for each row: m, ℓ and O, so d_v + 2 = 4 numbers for any n. Stored weights would "
          "need n = 3.");
}

TEST_CASE("any size of chunk ends at the ordinary softmax but for rounding") {
    for (const AppState& sample : sample_states())
        for (const Index keys : {1, 2, 3, 64}) {
            AppState state = after(sample, {SetWorkspace{"kinds"}, ShowOnline{true},
                                            SetOnlineChunk{keys}, GoToOnlineEnd{true}});
            const OnlineView view = build_online_view(state);
            if (!view.fault.empty()) continue;
            CAPTURE(view.result_text);
            REQUIRE(view.result);
            const GridView& grid = *view.result;
            for (Index c = 0; c < grid.columns; ++c) {
                const double own = grid.at(0, c).value;
                const double ordinary = grid.at(1, c).value;
                if (std::isnan(ordinary))
                    CHECK(std::isnan(own));
                else
                    CHECK(std::abs(own - ordinary) <= 1e-6 * std::max(1.0, std::abs(ordinary)));
            }
            CHECK_FALSE(has(view.result_text, "one side"));
        }
}

TEST_CASE("a wholly masked chunk leaves m, l and O, and says so; an empty row follows its rule") {
    AppState state = online_state({SetKind{KindsSide::a, "mask", "causal"}, SelectKindsPair{0, 0},
                                   SetOnlineChunk{1}, StepOnline{2}});
    OnlineView view = build_online_view(state);
    CHECK(view.sentence == "Key sat: masked, so m, ℓ and O stay the same.");
    CHECK(view.keys[1].masked);
    CHECK(cell(view.state, 0, 0) == cell(view.state, 3, 0));
    const AppState empty = json_state(R"("padding": 0)", "a b c");
    view = build_online_view(
        after(empty, {SetWorkspace{"kinds"}, ShowOnline{true}, GoToOnlineEnd{true}}));
    CHECK(
        view.result_text ==
        "The mask leaves no key for this row: ℓ = 0, and the row follows the rule for empty rows.");
    CHECK_FALSE(view.largest);
}

TEST_CASE("a sink is there before the first chunk; a side without scores says what it is") {
    OnlineView view = build_online_view(online_state({SetKind{KindsSide::a, "sink", "0.5"}}));
    CHECK(view.sentence == "The sink comes first: m is its logit, ℓ = 1, O = 0.");
    CHECK(view.largest == 0.5);
    view = build_online_view(online_state({SetKind{KindsSide::a, "operation", "linear"}}));
    CHECK(view.fault == "A has no row of scores: it is linear attention.");
}

TEST_CASE("playing steps until the last chunk, stepping stops at both ends") {
    AppState state = online_state({PlayOnline{}});
    CHECK(is_animating(state));
    CHECK(due_actions(state).empty());
    REQUIRE(due_actions(acted(state, {Tick{1.3}})).size() == 1);
    state = after(state, due_actions(state));
    CHECK(kinds_look(state).taken == 1);
    state = after(state, {Tick{1.3}});
    state = after(state, due_actions(state));
    CHECK(kinds_look(state).taken == 2);
    CHECK_FALSE(is_animating(state));
    CHECK(kinds_look(after(state, {StepOnline{1}})).taken == 2);
    CHECK(kinds_look(after(state, {StepOnline{-9}})).taken == 0);
    CHECK(kinds_look(after(state, {PlayOnline{}})).taken == 0);  // from the start again
}

TEST_CASE("another row, chunk or side begins before the first chunk; the document is kept inside") {
    const AppState state = online_state({SetOnlineChunk{1}, StepOnline{2}});
    CHECK(kinds_look(after(state, {SelectKindsPair{1, 0}})).taken == 0);
    CHECK(kinds_look(after(state, {SelectKindsPair{2, 1}})).taken == 2);
    CHECK(kinds_look(after(state, {SetOnlineSide{KindsSide::b}})).taken == 0);
    CHECK(kinds_look(after(state, {SetOnlineChunk{3}})).taken == 0);
    CHECK(kinds_controls(after(state, {SetOnlineChunk{0}})).chunk == 1);
    CHECK(after(state, {SetOnlineChunk{65}}).message.severity == Severity::error);
    CHECK(kinds_look(after(state, {SetSentence{"cat"}})).taken == 1);
}
