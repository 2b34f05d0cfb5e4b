// The Heads workspace: all heads of all layers.

#include "app/common/document/document.h"
#include "app/common/document/heads.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/number_style.h"
#include "app/common/pair.h"
#include "app/common/workspace.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/grids.h"
#include "app/workspaces/heads/shown.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"
#include "core/train/run.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

AppState shown(AppState state, const Actions& actions = {}) {
    return after(after(std::move(state), {SetWorkspace{"heads"}}), actions);
}

AppState three_heads(const Actions& actions = {}) {
    return shown(preset_state("three-heads"), actions);
}

std::shared_ptr<const Inputs> layer_of(Index heads, Index tokens, std::uint64_t seed) {
    return normal_inputs({1, heads, tokens, 4}, seed);
}

/// Layers of two, three and one heads over "a b a c".
AppState three_layers() {
    Document document =
        document_of({layer_of(2, 4, 1), layer_of(3, 4, 11), layer_of(1, 4, 21)}, "layers.npz");
    document.tokens = {"a", "b", "a", "c"};
    return state_of(std::move(document)).value();
}

/// V of ones.
AppState pointing(const std::vector<std::vector<Index>>& keys) {
    const std::vector<float> ones(keys.front().size(), 1.0F);
    return state_of(document_of({pointing_inputs(keys, ones)}, "pointing.npz")).value();
}

const HeadFacts& facts(const AppState& state, Index layer, Index head) {
    return *heads_look(state).result->find({layer, head});
}

}  // namespace

TEST_CASE("every head of every layer has the weights that Step shows of it") {
    AppState state = shown(three_layers());
    REQUIRE(heads_look(state).result);
    CHECK(heads_look(state).result->heads.size() == 6);
    for (const HeadFacts& each : heads_look(state).result->heads) {
        state = after(state, {ShowHead{each.place.head, {}, each.place.layer}});
        CHECK(state.document().layer == each.place.layer);
        CHECK(state.head == each.place.head);
        const auto step = (*state.trace)[Stage::weights].matrix(0, state.head);
        const auto mine = heads_look(state).result->weights(each.place);
        for (const auto [i, j] : each_cell(4, 4))
            CHECK(mine(i, j) == doctest::Approx(step(i, j)).epsilon(1e-6));
    }
}

TEST_CASE("another layer of the same document computes nothing anew; an edit does") {
    AppState state = shown(three_layers());
    const auto before = heads_look(state).result;
    CHECK(heads_look(acted(state, {ShowHead{2, {}, 1}})).result == before);
    CHECK(heads_look(acted(state, {SetCausal{true}})).result != before);
    CHECK(heads_look(state).result->weights({0, 0})(0, 3) == 0.0F);
    const auto causal = heads_look(state).result;
    CHECK(heads_look(acted(state, {Undo{}})).result != causal);
    CHECK(heads_look(state).result->weights({0, 0})(0, 3) > 0.0F);
}

TEST_CASE("three heads with a job get their names, and the first line says so") {
    const AppState state = three_heads();
    REQUIRE(facts(state, 0, 0).label);
    CHECK(facts(state, 0, 0).label->name == HeadMeasure::previous);
    REQUIRE(facts(state, 0, 1).label);
    CHECK(facts(state, 0, 1).label->name == HeadMeasure::sink);
    const HeadFacts& same = facts(state, 0, 2);
    CHECK(same.measures[HeadMeasure::duplicate].value_or(0) +
              same.measures[HeadMeasure::diagonal].value_or(0) >
          0.8);
    const std::string point = build_all_heads_view(state).point;
    CAPTURE(point);
    CHECK(point.starts_with("L0 H"));
    CHECK(has(point, "the most of the 3 heads"));
}

TEST_CASE("measures by hand: one head at the token before, one at the first, ties are no more") {
    const AppState state = shown(pointing({{0, 0, 1, 2, 3}, {0, 0, 0, 0, 0}, {0, 0, 1, 2, 3}}));
    CHECK(facts(state, 0, 0).measures[HeadMeasure::previous].value() == doctest::Approx(1.0));
    CHECK(facts(state, 0, 1).measures[HeadMeasure::previous].value() == doctest::Approx(0.25));
    CHECK(facts(state, 0, 1).measures[HeadMeasure::sink].value() == doctest::Approx(1.0));
    CHECK(facts(state, 0, 0).measures[HeadMeasure::entropy].value() == doctest::Approx(0.0));
    CHECK(facts(state, 0, 0).measures[HeadMeasure::norm_share].value() == doctest::Approx(1.0 / 3));
    CHECK(build_all_heads_view(state).point ==
          "L0 H0 gives a mean weight of 1.00 to the previous token.");
}

TEST_CASE("the heads of an only layer stand in several rows, those of several in one row each") {
    const auto many = [](Index heads) {
        return build_all_heads_view(shown(initial_state(), {SetHeads{heads}}));
    };
    CHECK(many(2).listed);
    const AllHeadsView sixteen = many(16);
    CHECK(sixteen.listed);
    REQUIRE(sixteen.thumbs.size() == 16);
    CHECK(sixteen.thumbs[7].title == "L0 H7");
    CHECK(sixteen.thumbs[7].place == HeadPlace{0, 7});
}

TEST_CASE("sorted by a measure: largest first, the line has both ends, thumbs their values") {
    const AppState state = shown(pointing({{0, 0, 0, 0, 0}, {0, 0, 1, 2, 3}, {4, 0, 0, 2, 3}}),
                                 {SortHeads{"previous"}});
    const AllHeadsView view = build_all_heads_view(state);
    REQUIRE(view.thumbs.size() == 3);
    CHECK(view.thumbs[0].title == "L0 H1  1.00");
    CHECK(view.thumbs[1].title == "L0 H2  0.75");
    CHECK(view.thumbs[2].title == "L0 H0  0.25");
    CHECK(view.point == "Previous token: from 1.00 (L0 H1) down to 0.25 (L0 H0).");
    CHECK(view.listed);
    const AllHeadsView none = build_all_heads_view(after(state, {SortHeads{"duplicate"}}));
    CHECK(none.point ==
          "Duplicate token is not defined for any head here: it needs a token that occurs twice.");
    CHECK(none.thumbs[0].title == "L0 H0  –");
    const AppState refused = after(state, {SortHeads{"attic"}});
    CHECK(heads_look(refused).sort == "previous");
    CHECK(refused.message.severity == Severity::error);
}

TEST_CASE("nothing stands out of even rows, and only NaN rows have no measure") {
    AppState state = shown(pointing({{0, 1, 2, 3, 4}}));
    auto inputs = std::make_shared<Inputs>(*state.document().inputs);
    std::ranges::fill(inputs->q.values(), 0.0F);
    state = shown(state_of(document_of({inputs}, "pointing.npz")).value());
    CHECK_FALSE(facts(state, 0, 0).label);
    CHECK(build_all_heads_view(state).point ==
          "L0 H0 spreads its weights: its mean evenness is 1.00.");
    auto broken = std::make_shared<Inputs>(*inputs);
    broken->q(0, 0, 2, 0) = std::nanf("");
    state = shown(state_of(document_of({broken}, "pointing.npz")).value());
    CHECK(build_all_heads_view(state).point ==
          "Q[2, 0] is NaN, so 1 row of weights here holds NaN.");
    CHECK(facts(state, 0, 0).measures.rows == 4);
    CHECK(facts(state, 0, 0).measures[HeadMeasure::norm_share] == 1.0);  // of those rows
    CHECK(build_all_heads_view(state).notes ==
          std::vector<std::string>{"Layer 0: 1 of 5 rows of weights is not a probability "
                                   "distribution; no measure counts it."});
    CAPTURE(heads_inspector(state).as_text);
    CHECK(has(heads_inspector(state).as_text, "4 of 5"));
    CHECK(has(hover_text(state.document(), facts(state, 0, 0)),
              "measured rows: 4 of 5; the weights of the others are not probabilities"));
    std::ranges::fill(broken->q.values(), std::nanf(""));
    state = shown(state_of(document_of({broken}, "pointing.npz")).value());
    CHECK(build_all_heads_view(state).point ==
          "Q[0, 0] is NaN, so 5 rows of weights here hold NaN.");
}

TEST_CASE("keys go by number where the tokens are of the queries alone") {
    auto inputs = std::make_shared<Inputs>();
    for (const auto& [queries, keys] : {std::pair<Index, Index>{2, 3}, {3, 2}}) {
        inputs->q = test::normal_tensor<float>({1, 1, queries, 4}, 1);
        inputs->k = test::normal_tensor<float>({1, 1, keys, 4}, 2);
        inputs->v = test::normal_tensor<float>({1, 1, keys, 4}, 3);
        Document document = document_of({std::make_shared<const Inputs>(*inputs)}, "cross.npz");
        document.tokens = {"a", "b", "c"};
        document.tokens.resize(static_cast<std::size_t>(queries));
        document.spec.query_offset = 0;
        AppState state = shown(state_of(std::move(document)).value(), {SelectHeadsPair{1, 1}});
        CAPTURE(queries);
        CHECK(pair_name(state, {1, 1}) == "b → 1");
        CHECK(axis_labels(state, Axis::key, keys).size() == static_cast<std::size_t>(keys));
        CHECK(axis_labels(state, Axis::key, keys)[1] == "1");
        CHECK(build_all_heads_view(state).grids.front().column_labels[1] == "1");
        CHECK(has(heads_inspector(state).as_text, "b → 1"));
    }
}

TEST_CASE("what a learned sink takes is said: equal scores of two keys and a sink are thirds") {
    auto inputs = std::make_shared<Inputs>();
    inputs->q = inputs->k = Tensor(Shape{1, 1, 2, 2});
    inputs->v = Tensor(Shape{1, 1, 2, 1}, {1.0F, 1.0F});
    inputs->params[Param::sinks] = Tensor(Shape{1, 1, 1, 1});
    Document document = document_of({inputs}, "sinks.npz");
    document.spec.dropout = 0.25;
    const AppState state = shown(state_of(document).value());
    CHECK(heads_look(state).result->weights({0, 0})(1, 0) == doctest::Approx(1.0 / 3));
    CHECK(build_all_heads_view(state).notes ==
          std::vector<std::string>{"Layer 0: dropout of 0.25 follows these weights; the output "
                                   "share is computed from the weights after dropout.",
                                   "Layer 0: 2 of 2 rows of weights do not sum to 1 (Σ = 0.6667): "
                                   "a learned sink takes the rest, which no measure counts."});
    document.spec.training = false;
    CHECK(build_all_heads_view(shown(state_of(document).value())).notes.size() == 1);
    auto broken = std::make_shared<Inputs>(*inputs);  // NaN is none of the sink's doing
    std::ranges::fill(broken->q.values(), std::nanf(""));
    document = document_of({broken}, "sinks.npz");
    CHECK(build_all_heads_view(shown(state_of(document).value())).notes ==
          std::vector<std::string>{"Layer 0: 2 of 2 rows of weights are not probability "
                                   "distributions; no measure counts them."});
}

TEST_CASE("rollout asks for queries at the positions of keys, α‖v‖ does not") {
    Document document = document_of({layer_of(1, 4, 1)}, "late.npz");
    document.spec.query_offset = 3;
    document.tokens = {"a", "b", "a", "c"};
    const AppState state = shown(state_of(document).value(), {ShowHeadsAs{"rollout"}});
    CHECK(build_all_heads_view(state).large_missing_data ==
          "rollout is not defined for L0 H0: query 0 of layer 0 is at position 3, and rollout "
          "needs queries at the positions of keys.");
    CHECK_FALSE(facts(state, 0, 0).measures[HeadMeasure::duplicate]);
    CHECK(
        build_all_heads_view(after(state, {ShowHeadsAs{"value_norm"}})).large_missing_data.empty());
    const AppState text = after(state, {ShowHeadsAs{"weights"}, SetHeadForm{"text"}});
    CHECK(build_all_heads_view(text).texts.at(0).queries.size() == 4);
}

TEST_CASE("more scores than Step computes are heads here, each a map") {
    const auto opened = [](Index tokens) {
        AppState state = state_of(document_of({layer_of(1, tokens, 1)}, "long.npz")).value();
        view::apply(state, SetWorkspace{"heads"});
        const auto request = requested_heads(state);
        REQUIRE(request);
        view::apply(state, run(*request, {}));
        return state;
    };
    AppState state = opened(300);
    CHECK_FALSE(stages_lack(state.document()).empty());
    AllHeadsView view = build_all_heads_view(state);
    CHECK(view.missing_data.empty());
    REQUIRE(view.maps.size() == 1);
    CHECK(heads_look(state).maps->cells[0]->values.rows == 300);
    CHECK(facts(state, 0, 0).measures[HeadMeasure::norm_share] == 1.0);

    state = opened(600);
    view = build_all_heads_view(state);
    CHECK(view.grids.empty());
    CHECK(view.thumbs.size() == 1);
    CHECK(view.maps.size() == 1);
    CHECK(view.large_missing_data.empty());
    const auto lines = build_all_heads_view(after(state, {SetHeadForm{"lines"}})).lines;
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].legend[0] == "drawn: the lines of the selected query and key, of 360,000 pairs");
    for (const HeadLine& line : lines[0].lines)
        CHECK((line.query == lines[0].query || line.key == lines[0].key));
    CHECK(build_all_heads_view(after(state, {SetHeadForm{"text"}})).texts.size() == 1);

    state = state_of(document_of({layer_of(1, 5000, 1)}, "long.npz")).value();
    CHECK(heads_missing_data(state) ==
          "All heads of all layers have 25,000,000 weights, more than the 16,777,216 that are "
          "held at once. The table shows their measures. Step shows one layer (1 S).");
}

TEST_CASE("two pinned heads: A, B, A − B, and KL of each row") {
    AppState state = shown(pointing({{0, 0, 1, 2, 3}, {0, 0, 0, 0, 0}}), {PinHead{0, 0, true}});
    CHECK(build_all_heads_view(state).grids.size() == 1);
    state = after(state, {PinHead{0, 1, true}, SelectHeadsPair{3, 2}});
    AllHeadsView view = build_all_heads_view(state);
    REQUIRE(view.grids.size() == 3);
    CHECK(view.grids[2].title == "A − B");
    CHECK(view.grids[2].at(3, 2).value == doctest::Approx(1.0));
    CHECK(view.grids[2].at(3, 0).value == doctest::Approx(-1.0));
    for (const GridView& grid : view.grids) CHECK(grid.selected == std::pair<Index, Index>{3, 2});
    REQUIRE(view.grids[2].sides.size() == 1);
    CHECK(view.grids[2].sides[0].cells == std::vector<std::string>{"0.00", "0.00", "∞", "∞", "∞"});
    CHECK(has(view.point, "It is ∞ in 3 rows: B is 0 at a key where A is not."));
    CHECK(heads_inspector(state).value == "A − B = 1.00");

    state = after(state, {SwapPins{}});
    CHECK(build_all_heads_view(state).grids[2].at(3, 2).value == doctest::Approx(-1.0));
    state = after(state, {PinHead{0, 1, false}});  // A leaves, B takes its place
    CHECK(heads_look(state).pinned[0] == HeadPlace{0, 0});
    CHECK_FALSE(heads_look(state).pinned[1]);
    CHECK_FALSE(heads_look(acted(state, {UnpinHeads{}})).pinned[0]);
}

TEST_CASE("while two are pinned the chosen head is B; a third pinned is B too") {
    AppState state =
        shown(three_layers(), {PinHead{0, 0, true}, PinHead{0, 1, true}, ShowHead{2, {}, 1}});
    CHECK(heads_look(state).pinned[0] == HeadPlace{0, 0});
    CHECK(heads_look(state).pinned[1] == HeadPlace{1, 2});
    CHECK(heads_look(acted(state, {PinHead{2, 0, true}})).pinned[1] == HeadPlace{2, 0});
    CHECK(heads_look(acted(state, {PinHead{2, 1, true}})).pinned[1] == HeadPlace{2, 0});
    CHECK(state.message.text.find("There is no L2 H1") == 0);
}

TEST_CASE("journals of earlier versions choose heads by another name") {
    const auto action = from_journal(R"({"action":"choose_head","layer":1,"head":2})");
    REQUIRE(action);
    const auto* const show = action->as<ShowHead>();
    REQUIRE(show);
    CHECK(show->head == 2);
    CHECK(show->layer == 1);
    CHECK_FALSE(show->batch);  // it stays
    CHECK(to_journal(*action) == R"({"action":"show_head","head":2,"batch":null,"layer":1})");
    const auto old = from_journal(R"({"action":"show_head","head":1,"batch":0})");
    REQUIRE(old);
    CHECK_FALSE(old->as<ShowHead>()->layer);
    const AppState state = shown(three_layers(), {*action});
    CHECK(state.document().layer == 1);
    CHECK(state.head == 2);
    CHECK(state.message.text.find("Layer 1, head 2: ") == 0);
    CHECK(after(state, {ShowHead{0, {}, 7}}).message.text.find("There is no layer 7") == 0);
}

TEST_CASE("KL in nats by hand") {
    const float a[] = {0.5F, 0.5F};
    const float b[] = {0.25F, 0.75F};
    const float zero[] = {0.0F, 0.0F};
    CHECK(divergence_text({a, 1, 2, 2}, {b, 1, 2, 2}, 0) == "0.14");  // ½ ln 2 + ½ ln ⅔
    CHECK(divergence_text({zero, 1, 2, 2}, {b, 1, 2, 2}, 0) == "–");
    CHECK(divergence_text({a, 1, 2, 2}, {zero, 1, 2, 2}, 0) == "∞");
}

TEST_CASE("a pair that is chosen is Step's, and Step's is shown here") {
    AppState state = three_heads({SelectHeadsPair{4, 3}, GoToStage{Stage::weights}});
    CHECK(state.selected == CellRef{Stage::weights, 4, 3});
    CHECK(acted(state, {SelectHeadsPair{1, 5}}).selected == CellRef{Stage::weights, 1, 5});
    state = after(state,
                  {SetWorkspace{"step"}, SelectCell{{Stage::scores, 2, 1}}, SetWorkspace{"heads"}});
    CHECK(heads_look(state).pair == large::Cell{2, 1});
    CHECK(heads_look(acted(state, {SelectHeadsPair{6, 0}})).pair == large::Cell{2, 1});
    CHECK(state.message.text == "There is no pair 6 → 0: the weights are 6 × 6, counted from 0.");
}

TEST_CASE("the inspector has the label, the pair, and every measure with its formula") {
    const InspectorView view =
        heads_inspector(three_heads({ShowHead{0, {}, 0}, SelectHeadsPair{4, 3}}));
    CHECK(view.title == "L0 H0");
    CHECK(view.value == "previous token");
    for (const HeadMeasureInfo& each : head_measure_table()) {
        if (each.measure == HeadMeasure::change) continue;  // asks for interventions
        CAPTURE(each.key);
        CHECK(has(view.as_text, "\n" + std::string(each.title) + ": "));
    }
    CHECK(has(view.as_text, "score: "));
    CHECK(view.as_latex.find("A_{4,3}") == 0);
}

TEST_CASE("CSV: one line a head with every measure, empty where it is not defined") {
    const AppState state =
        shown(pointing({{0, 0, 1, 2, 3}, {0, 0, 0, 0, 0}}), {CopyHeadMeasures{}});
    REQUIRE(state.effects.clipboard);
    const std::string& csv = *state.effects.clipboard;
    std::string header = "layer,head,label,";
    for (const HeadMeasureInfo& each : head_measure_table())
        if (each.measure != HeadMeasure::change) header += std::string(each.key) + ",";
    header += "rows,rows_excluded\n";
    CHECK(csv.find(header + "0,0,previous token,0") == 0);
    CHECK(has(csv, "\n0,1,first token,"));
    CHECK(has(csv, ",,,"));  // no token occurs twice: no tokens are known
    CHECK(std::ranges::count(csv, '\n') == 3);
    CHECK(std::ranges::count(csv, ',') == 3 * std::ranges::count(header, ','));
    CHECK(has(csv, ",5,0\n"));
}

TEST_CASE("colours: of all heads up to the largest weight, or of each up to its own") {
    AppState state = shown(three_layers());
    AllHeadsView view = build_all_heads_view(state);
    CHECK(view.legend.high == legend_tick(heads_look(state).shown->largest_of_all));
    const std::uint64_t same = view.picture.key;
    CHECK(view.grids[0].range.high == heads_look(state).shown->largest_of_all);
    CHECK(build_all_heads_view(after(state, {SetWeightsToOne{true}})).grids[0].range.high == 1.0);
    state = after(state, {SetHeadsRange{true}});
    view = build_all_heads_view(state);
    CHECK(view.legend.high == "largest");
    CHECK(view.picture.key != same);
    CHECK(view.grids[0].range.high == doctest::Approx(heads_look(state).shown->largest[0]));
}

TEST_CASE("the picture of all heads has each weight where its part says") {
    const AppState state = shown(pointing({{0, 0, 1, 2, 3}, {4, 4, 4, 4, 4}}));
    const AllHeadsView view = build_all_heads_view(state);
    const Image image = view.picture.paint();
    CHECK(image.width == 10);
    CHECK(image.height == 5);
    const Part& part = view.thumbs[1].part;
    CHECK(part.low.x == 0.5F);
    const auto pixel = [&](int x, int y) { return image.rgba[4 * (y * 10 + x)]; };
    const Color full = color_at(ColorScale::unit, 1.0, state.theme);
    const Color none = color_at(ColorScale::unit, 0.0, state.theme);
    CHECK(pixel(9, 2) == full.r);
    CHECK(pixel(8, 2) == none.r);
    CHECK(pixel(1, 2) == full.r);  // head 0, query 2 at key 1
}

TEST_CASE("layers of other sizes: no difference, and it says why; layers that lack heads") {
    Document document = three_layers().document();
    document.layers.push_back(layer_of(1, 3, 31));
    const AppState state =
        shown(state_of(document).value(), {PinHead{0, 0, true}, PinHead{3, 0, true}});
    const AllHeadsView view = build_all_heads_view(state);
    CHECK(view.grids.size() == 2);
    CHECK(view.point ==
          "A is 4 × 4 and B is 3 × 3: heads of different sizes cannot be subtracted.");
}

TEST_CASE("the session keeps order, colours, pins and pair; a wrong one is refused") {
    const AppState state = shown(preset_state("three-heads"),
                                 {SortHeads{"sink"}, SetHeadsRange{true}, PinHead{0, 2, true},
                                  PinHead{0, 0, true}, SelectHeadsPair{3, 2}});
    const std::string text = session_to_json(state);
    const AppState read = reopened_alike(state);
    CHECK(heads_look(read).sort == "sink");
    CHECK(heads_look(read).own_range);
    CHECK(heads_look(read).pinned[0] == HeadPlace{0, 2});
    CHECK(heads_look(read).pinned[1] == HeadPlace{0, 0});
    CHECK(heads_look(read).pair == large::Cell{3, 2});
    CHECK(heads_look(read).result != nullptr);
    const auto wrong = [&](const char* from, const char* to) {
        return session_fault(replaced(text, from, to));
    };
    CHECK(has(wrong("\"sort\":\"sink\"", "\"sort\":\"attic\""), "unknown measure 'attic'"));
    CHECK(has(wrong("\"a\":{\"layer\":0,\"head\":2}", "\"a\":{\"layer\":1,\"head\":2}"),
              "which the document does not have"));
}

TEST_CASE("a document of fewer heads and tokens drops what is gone") {
    AppState state = three_heads({PinHead{0, 2, true}, PinHead{0, 1, true}, SelectHeadsPair{5, 5}});
    AppState fewer = after(state, {SetHeads{2}});
    CHECK(heads_look(fewer).pinned[0] == HeadPlace{0, 1});
    CHECK_FALSE(heads_look(fewer).pinned[1]);
    CHECK_FALSE(heads_look(acted(state, {LoadPreset{"the-cat-sat-down"}})).pinned[0]);
    CHECK(heads_look(state).pair == large::Cell{3, 3});  // the last of four tokens
    REQUIRE(heads_look(state).result);
    CHECK(heads_look(state).result->heads.size() == 1);
}

TEST_CASE("any document is shown without a fault, and what lacks heads says why") {
    for (AppState state : sample_states()) {
        CAPTURE(state.document().title);
        state = shown(std::move(state));
        const AllHeadsView view = build_all_heads_view(state);
        const bool missing_data = !heads_missing_data(state).empty();
        CHECK(missing_data == view.grids.empty());
        CHECK(missing_data == !has_current_heads(state));
        if (missing_data) continue;
        CHECK_FALSE(view.point.empty());
        CHECK_FALSE(heads_inspector(state).empty);
        view.picture.paint();
    }
    CHECK(heads_missing_data(shown(preset_state("empty"))).find("There is no sentence yet") == 0);
}

TEST_CASE("of more weights than are held the measures are shown, as a table") {
    const std::vector layers(300, layer_of(4, 128, 1));
    AppState state =
        after(state_of(document_of(layers, "many.npz")).value(), {SetWorkspace{"heads"}});
    CHECK(head_cells(heads_input(state.document())) == 300 * 4 * 128 * 128);
    CHECK(has(heads_missing_data(state), "19,660,800 weights, more than the 16,777,216"));
    AllHeadsView view = build_all_heads_view(state);
    CHECK(view.missing_data.empty());
    CHECK(view.pending == "Measuring the heads of 300 layers: 0.0 %.");
    CHECK_FALSE(shown_workspace(state).is_idle(state));
    const auto request = requested_heads(state);
    REQUIRE(request);
    CHECK(request->only_measures);
    apply(state, run(*request, {}));
    CHECK_FALSE(requested_heads(state));
    CHECK(shown_workspace(state).is_idle(state));
    CHECK_FALSE(heads_look(state).result);
    view = build_all_heads_view(state);
    CHECK(view.pending.empty());
    CHECK(has(view.large_missing_data, "The table shows their measures."));
    REQUIRE(view.table);
    CHECK(view.table->rows.size() == 1200);
    CHECK(view.table->rows[5].name == "L1 H1");
    const HeadsInput one = {std::span(layers).first(1), {}, state.document().spec, {}, {}};
    const auto should = compute_heads(one, {state.backends});
    const auto entropy = current_measures(state)->heads[3].measures[HeadMeasure::entropy];
    REQUIRE(entropy);
    CHECK(*entropy == should.heads[3].measures[HeadMeasure::entropy]);
    CHECK(after(state, {CopyHeadMeasures{}}).message.text ==
          "Copied the measures of 1200 heads as CSV.");
}
