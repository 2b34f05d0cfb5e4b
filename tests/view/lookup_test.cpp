#include "app/common/document/document.h"
#include "app/common/inspector.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/view.h"
#include "core/rows.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

AppState lookup_state(const Actions& actions = {}) { return in_workspace("lookup", actions); }

AppState on_page(LookupPage page, const Actions& actions = {}) {
    return after(lookup_state({ShowLookupPage{page}}), actions);
}

}  // namespace

TEST_CASE("the memory's view has the read's numbers: values move no weight, long keys win") {
    AppState state = lookup_state();
    MemoryView view = build_memory_view(state);
    const MemoryRead read = memory_read(lookup_controls(state));
    REQUIRE(view.keys.size() == 5);
    CHECK(view.keys[0].name == "France");
    CHECK(view.values[0].name == "Paris");
    CHECK(view.rows[0].score == "3.38");  // 1.6 · 2.0 + 0.3 · 0.6
    CHECK(view.keys[0].weight == read.weights[0]);
    CHECK(view.rows[0].best);
    CHECK(view.rows[0].most_similar);
    CHECK(view.output[0] == read.output[0]);
    CHECK(view.hard == PlanePoint{0.05, 2.17});
    CHECK(view.hull.size() == 5);
    CHECK(view.point.starts_with("The query attends 6"));
    CHECK(has(view.point, " % to “France” and "));
    CHECK(view.numbers.size() == 2);
    CHECK(view.preset == 0);
    const AppState before = lookup_state();
    const auto weights = memory_read(lookup_controls(before)).weights;
    const AppState value = after(before, {MoveLookupValue{0, -3.0, -3.0}});
    CHECK(memory_read(lookup_controls(value)).weights == weights);
    CHECK(memory_read(lookup_controls(value)).output !=
          memory_read(lookup_controls(before)).output);
    const AppState key = after(before, {MoveLookupKey{0, -2.0, 0.0}});
    CHECK(memory_read(lookup_controls(key)).weights != weights);
    CHECK(has(build_memory_view(before).notes[1], "no weight depends on V"));
    const AppState same = after(before, {LoadMemory{"keys-as-values"}});
    CHECK(has(build_memory_view(same).notes[1], "Here V = K"));
    state = lookup_state({LoadMemory{"long-key"}});
    view = build_memory_view(state);
    CHECK(view.rows[0].best);
    CHECK(view.rows[1].most_similar);
    CHECK(view.notes[0].starts_with(
        "“Similar” is not “largest dot product”: “first token” wins with q·k = 4.50"));
    CHECK(has(build_memory_view(lookup_state({LoadMemory{"tie"}})).notes[0],
              "2 keys share the largest q·k"));
    CHECK(has(build_memory_view(lookup_state({MoveLookupQuery{0.0, 0.0}})).notes[0], "length 0"));
}

TEST_CASE("points stay in the plane, names readable; a drag of the query is one step of undo") {
    AppState state = lookup_state({MoveLookupQuery{1e30, -0.004}});
    CHECK(lookup_controls(state).query == PlanePoint{4.0, 0.0});
    state = after(std::move(state), {NameLookupPair{0, "  Spain ", ""}});
    CHECK(lookup_controls(state).pairs[0].key == "Spain");
    CHECK(lookup_controls(state).pairs[0].value == "Paris");
    state = after(std::move(state), {RemoveLookupPair{7}});
    CHECK(state.message.text == "There is no pair 7: pairs are numbered 0 to 4.");
    CHECK(acted(state, {SetLookupTemperature{0.0}}).message.severity == Severity::error);
    CHECK(lookup_controls(state).temperature == 1.0);
    for (std::size_t n = lookup_controls(state).pairs.size(); n <= kMostLookupPairs; ++n) {
        const auto [x, y] = build_memory_view(state).free;
        for (const LookupPair& pair : lookup_controls(state).pairs) {
            CHECK(std::hypot(pair.k[0] - x, pair.k[1] - y) > 0.5);
            CHECK(std::hypot(pair.v[0] - x, pair.v[1] - y) > 0.5);
        }
        apply(state, AddLookupPair{x, y});
    }
    CHECK(state.message.text == "A memory has at most 12 pairs.");
    CHECK(lookup_controls(state).pairs.size() == kMostLookupPairs);
    CHECK(lookup_controls(state).pairs[5].key == "key 5");
    for (int n = 0; n < 20; ++n) apply(state, RemoveLookupPair{0});
    CHECK(lookup_controls(state).pairs.size() == 1);
    CHECK(lookup_look(state).pair == 0);
    CHECK(build_memory_view(state).point.starts_with("The only pair has the weight 100 %"));
    state = lookup_state();
    const std::size_t now = state.now;
    state = after(std::move(state), {BeginGesture{}, MoveLookupQuery{1.0, 1.0},
                                     MoveLookupQuery{1.5, 1.0}, EndGesture{}});
    CHECK(state.now == now + 1);
    CHECK(lookup_controls(state).query == PlanePoint{1.5, 1.0});
    CHECK(lookup_controls(acted(state, {Undo{}})).query == PlanePoint{1.6, 0.3});
}

TEST_CASE("a session keeps memory, order and page; wrong ones are refused with what was expected") {
    const AppState state =
        on_page(LookupPage::permutation,
                {LoadMemory{"tie"}, NameLookupPair{1, "a", "b"}, SetLookupTemperature{0.5},
                 OrderTokens{TokenOrder::reversed}, SelectLookupCell{1, 2}});
    const std::string text = session_to_json(state);
    const AppState read = reopened_alike(state);
    CHECK(lookup_controls(read) == lookup_controls(state));
    CHECK(lookup_look(read).page == LookupPage::permutation);
    const auto broken = [&](const char* from, const char* to) {
        return session_fault(replaced(text, from, to));
    };
    CHECK(has(broken("\"order\":[3,2,1,0]", "\"order\":[3,2,2,0]"),
              "expected each number from 0 up exactly once"));
    CHECK(has(broken("\"temperature\":0.5", "\"temperature\":-1"), "expected 0.01 to 100"));
    CHECK(has(broken("\"kx\":1.0", "\"kx\":9"), "beyond ±4"));
    CHECK(has(broken("\"page\":\"permutation\"", "\"page\":\"attic\""), "page"));
}

TEST_CASE("without positions attention is permutation-equivariant, with positions it is not") {
    const AppState none = on_page(LookupPage::permutation, {OrderTokens{TokenOrder::reversed}});
    const PermutationResult& result = *lookup_look(none).permutation;
    REQUIRE(result.fault.empty());
    CHECK(result.order == std::vector<Index>{3, 2, 1, 0});
    CHECK(result.largest <= 1e-6);
    CHECK(result.largest_float64 <= 1e-15);
    CHECK(result.raw(0, 0, 3, 2) == result.after(0, 0, 0, 1));
    CHECK(result.before(0, 0, 0, 1) != result.before(0, 0, 3, 2));
    for (const PermutationPosition position :
         {PermutationPosition::sinusoidal, PermutationPosition::rope, PermutationPosition::alibi,
          PermutationPosition::causal}) {
        // Not the reverse order: ALiBi's distances are the same in it.
        const AppState with = after(none, {SetPermutationPosition{position},
                                           OrderTokens{TokenOrder::document}, MoveToken{0, 2}});
        CAPTURE(static_cast<int>(position));
        CHECK(lookup_look(with).permutation->largest > 1e-4);
        CHECK(has(build_permutation_view(with).body.point, "this order changes weights by up to"));
    }
    const PermutationView view = build_permutation_view(none);
    CHECK(view.chips[0].token == 3);
    CHECK(view.chips[0].moved);
    CHECK(view.body.grids.size() == 3);
    CHECK(view.body.point.starts_with("Without positions, 4 of the tokens moved: "));
}

TEST_CASE("the sinusoidal waves in the document's order are the document's own X") {
    const AppState state = on_page(
        LookupPage::permutation,
        {SetSentence{"red green blue"}, SetPermutationPosition{PermutationPosition::sinusoidal}});
    const Tensor& own = (*state.trace)[Stage::weights];
    const Tensor& before = lookup_look(state).permutation->before;
    REQUIRE(before.shape() == own.shape());
    for (const auto [i, j] : each_cell(3, 3))
        CHECK(before(0, 0, i, j) == doctest::Approx(own(0, 0, i, j)).epsilon(1e-5));
}

TEST_CASE("an order of tokens is changed, and one of another length is that of the document") {
    AppState state = on_page(LookupPage::permutation, {MoveToken{0, 2}});
    CHECK(token_order(state) == std::vector<Index>{1, 2, 0, 3});
    CHECK(acted(state, {MoveToken{9, 0}}).message.text ==
          "There is no token 9: tokens are numbered 0 to 3.");
    state = after(std::move(state), {OrderTokens{TokenOrder::sorted}});
    CHECK(std::ranges::is_permutation(token_order(state), std::vector<Index>{0, 1, 2, 3}));
    state = after(std::move(state), {ShuffleTokens{2}});
    CHECK(std::ranges::is_permutation(token_order(state), std::vector<Index>{0, 1, 2, 3}));
    CHECK(token_order(state) ==
          token_order(after(state, {OrderTokens{TokenOrder::document}, ShuffleTokens{2}})));
    state = after(std::move(state), {LoadPreset{"three-heads"}});
    CHECK(token_order(state).size() == static_cast<std::size_t>(state.document().size.tk));
}

TEST_CASE("similarity says what merging W_Q and W_K would cost, and when they cannot be merged") {
    const AppState state = on_page(LookupPage::similarity);
    const Dimensions& size = state.document().size;
    const auto last = [](const AppState& of) {
        return build_similarity_view(of).body.notes.back();
    };
    const Index model = size.d_model;
    CHECK(has(last(state), "W_Q W_Kᵀ"));
    CHECK(has(last(state), " with " + std::to_string(model * model) +
                               " numbers; W_Q and W_K together have " +
                               std::to_string(2 * model * size.d_k) + "."));
    CHECK(has(last(state), "W_Q = W_K would make S symmetric."));
    const AppState own = after(state, {SetSimilarityOf{SimilarityOf::x}});
    for (const std::string& note : build_similarity_view(own).body.notes)
        CHECK_FALSE(has(note, "W_Q"));
}

TEST_CASE("similarity names what is not symmetric and where dot product and cosine disagree") {
    const AppState state = on_page(LookupPage::similarity);
    const SimilarityView view = build_similarity_view(state);
    REQUIRE(view.body.missing_data.empty());
    CHECK(view.body.grids.size() == 1);
    const SimilarityResult& result = *lookup_look(state).similarity;
    const Tensor& scores = (*state.trace)[Stage::scores];
    for (const auto [i, j] : each_cell(4, 4))
        CHECK(result.dot(0, 0, i, j) == doctest::Approx(scores(0, 0, i, j)).epsilon(1e-5));
    CHECK(has(view.body.notes[0], "S is not symmetric: max |S − Sᵀ| = "));
    const AppState own = after(state, {SetSimilarityOf{SimilarityOf::x}});
    CHECK(has(build_similarity_view(own).body.notes[0], "exactly 0"));
    const AppState rows = after(own, {SetSimilaritySoftmax{SimilaritySoftmax::rows}});
    const SimilarityView both = build_similarity_view(rows);
    CHECK(both.body.grids.size() == 2);
    CHECK(has(both.body.notes[2], "A is not symmetric"));
    const SimilarityResult& x = *lookup_look(rows).similarity;
    double row = 0.0;
    double column = 0.0;
    for (Index j = 0; j < 4; ++j) {
        row += x.dot_rows(0, 0, 1, j);
        column += x.dot_columns(0, 0, j, 1);
        CHECK(x.cosine(0, 0, j, j) == doctest::Approx(1.0));
    }
    CHECK(row == doctest::Approx(1.0));
    CHECK(column == doctest::Approx(1.0));
}

TEST_CASE("alignment of two sentences has the best key of every query") {
    const AppState state = on_page(LookupPage::alignment, {LoadPreset{"cross-attention"}});
    const AlignmentView view = build_alignment_view(state);
    REQUIRE(view.body.missing_data.empty());
    const auto dot = lookup_look(state).similarity->dot.matrix(0, 0);
    REQUIRE(std::ssize(view.rows) == dot.rows);
    CHECK(std::ssize(view.keys) == dot.columns);
    for (std::size_t n = 0; n < view.rows.size(); ++n)
        for (Index j = 0; j < dot.columns; ++j)
            CHECK(dot(static_cast<Index>(n), view.rows[n].dot) >= dot(static_cast<Index>(n), j));
    CHECK(has(view.body.point, "is aligned with"));
}

TEST_CASE("an empty document is said on the pages that need one, and the others go on") {
    for (const LookupPage page :
         {LookupPage::similarity, LookupPage::alignment, LookupPage::permutation}) {
        const AppState state = on_page(page, {LoadPreset{"empty"}});
        const LookupView view = build_lookup_view(state);
        const std::string all = view.similarity.body.missing_data +
                                view.alignment.body.missing_data +
                                view.permutation.body.missing_data;
        CAPTURE(static_cast<int>(page));
        REQUIRE(state.document().size.tk == 0);
        CHECK(has(all, "type one in Step (1 S)"));
    }
    CHECK_FALSE(build_lookup_view(lookup_state()).memory.point.empty());
}

TEST_CASE("capacity is requested once for its settings and says what it found") {
    AppState state = on_page(LookupPage::capacity, {SetCapacityPairs{16}});
    REQUIRE(requested_capacity(state));
    CHECK(build_capacity_view(state).stale);
    answer_all(state);
    CHECK_FALSE(requested_capacity(state));
    const CapacityView view = build_capacity_view(state);
    CHECK(view.point.starts_with("16 random keys of width d_k = 16"));
    CHECK(view.interference.curves.size() == 2);
    CHECK(view.interference.curves[0].y.size() == 9);
    CHECK(has(view.notes[1], "mean square 1/d_k = 0.0625"));
    state = after(std::move(state), {SetCapacityWidth{512}});
    CHECK_FALSE(requested_capacity(state));  // only another width is looked at
    CHECK(lookup_controls(state).width == 512);
    state = after(std::move(state), {SetCapacityWidth{100}});  // none of the widths that are drawn
    CHECK(lookup_controls(state).width == 128);
    CHECK(state.message.text == "d_k = 128.");
    state = after(std::move(state), {SetCapacityWidth{512}});
    CHECK(lookup_controls(acted(state, {SetCapacityWidth{1024}})).width == 512);
    CHECK(lookup_inspector(state).title == "16 pairs, d_k = 512");
}

TEST_CASE("the inspector writes the whole arithmetic of a pair") {
    const AppState state = lookup_state({LoadMemory{"tie"}, SelectLookupPair{0}});
    const InspectorView view = lookup_inspector(state);
    CHECK(view.title == "left → A");
    REQUIRE(view.table);
    CHECK(view.table->rows.size() == 3);
    CHECK(has(view.as_text, "1.60·1.00 + 0.00·1.50"));
    for (const LookupPage page :
         {LookupPage::similarity, LookupPage::alignment, LookupPage::permutation}) {
        CHECK_FALSE(lookup_inspector(on_page(page, {SelectLookupCell{1, 2}})).empty);
    }
}

TEST_CASE("similarity after RoPE is of the turned q and k; cosines are not W_Q W_Kᵀ alone") {
    const auto turned = [](Inputs&, AttentionSpec& spec) { spec.rope = Rope{}; };
    const AppState state =
        after(call_state("lookup", turned), {ShowLookupPage{LookupPage::similarity}});
    CHECK(build_similarity_view(state).body.grids.front().title == "S = q′_i · k′_j");
    const AppState toy = on_page(LookupPage::similarity);
    const AppState scaled = after(toy, {SetScaleOperands{true}});
    CHECK(build_similarity_view(scaled).body.grids.front().title == "S = q_i · k_j ÷ √d_k");
    CHECK(lookup_look(scaled).similarity->dot.matrix(0, 0).row(1)[2] ==
          doctest::Approx((*scaled.trace)[Stage::scores](0, 0, 1, 2)));
    CHECK(lookup_look(scaled).similarity->dot != lookup_look(toy).similarity->dot);
    CHECK(lookup_look(scaled).similarity->cosine == lookup_look(toy).similarity->cosine);
    const auto merges = [](const AppState& shown) {
        return std::ranges::any_of(build_similarity_view(shown).body.notes,
                                   [](const std::string& each) { return has(each, "W_Q W_Kᵀ"); });
    };
    CHECK(merges(toy));
    CHECK_FALSE(merges(after(toy, {SetSimilarityMeasure{SimilarityMeasure::cosine}})));
}
