// Every head changed in turn, in Heads: when it is asked for, what it shows and says.

#include <new>

#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/inspector.h"
#include "app/common/map/actions.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/view.h"
#include "core/large/weight_map.h"
#include "tests/view/swept_sample.h"

using namespace attn::view;

namespace {

std::string line_of(const InspectorView& view, std::string_view name) {
    for (const Line& line : view.lines)
        if (line.label == name) return line.pieces.front().text;
    return "";
}

/// Of so many tokens.
std::string long_text(Index tokens) {
    std::string text = "w";
    for (Index n = 1; n < tokens; ++n) text += " w";
    return text;
}

/// The present document, changed.
AppState edited(AppState state, const std::function<void(Document&)>& edit) {
    Document document = state.document();
    edit(document);
    REQUIRE(edit_document(state, document, "edited"));
    return state;
}

}  // namespace

TEST_CASE("a sweep is asked for while it is shown, of the text that is open, and once") {
    AppState state = swept_model();
    CHECK_FALSE(requested_head_sweep(state));
    state = after(state, {SetHeadsList{"sweep"}});
    CHECK(state.message.text == "The model's output with each part changed in turn.");
    const auto wanted = requested_head_sweep(state);
    REQUIRE(wanted);
    CHECK(wanted->model == SweepModel{"fake", "the cat sat down", false, Ablation::zero});
    CHECK(sweep_asked(wanted->options) == SweepAsked{});
    CHECK(has(build_all_heads_view(state).sweep->missing_data, "Changing each of 4 heads in turn"));
    CHECK_FALSE(build_all_heads_view(state).sweep->grid);
    CHECK_FALSE(requested_head_sweep(after(state, {SetWorkspace{"step"}})));
    CHECK_FALSE(requested_head_sweep(after(state, {SetHeadsList{"table"}})));
    state = swept_play(state, {});
    CHECK_FALSE(requested_head_sweep(state));
    CHECK(requested_head_sweep(after(state, {SweepHeads{"mean", "kl"}}))->model.ablation ==
          Ablation::mean);
    // what it shows of each head is no other sweep
    CHECK_FALSE(requested_head_sweep(after(state, {SweepHeads{"zero", "kl"}})));
}

TEST_CASE("its picture has a row a layer, signs by colour, and the head that is shown") {
    const AppState state =
        swept_play(after(swept_model(), {SetHeadsList{"sweep"}, ShowHead{1, {}, 1}}), {});
    const AllHeadsView view = build_all_heads_view(state);
    REQUIRE(view.sweep);
    CHECK(view.sweep->missing_data.empty());
    const GridView& grid = view.sweep->grid.value();
    CHECK(grid.rows == 2);
    CHECK(grid.columns == 2);
    CHECK(grid.title == "Δ(logit d − logit a)");
    CHECK(grid.row_labels == std::vector<std::string>{"L0", "L1"});
    CHECK(grid.column_labels == std::vector<std::string>{"H0", "H1"});
    CHECK(grid.at(0, 0).value == -2.0);
    CHECK(grid.at(1, 1).value == 1.0);
    CHECK(grid.range.scale == ColorScale::diverging);
    CHECK(grid.range.high == 2.0);
    CHECK(grid.selected == std::pair<Index, Index>{1, 1});
    CHECK(view.point ==
          "logit d − logit a changes most when the context of L0 H0 is replaced by 0: by −2.00 "
          "from 3.00, tied with 1 other.");
    CHECK(line_of(heads_inspector(state), "context set to 0") ==
          "logit d − logit a is 4.00, untouched 3.00; KL(untouched‖changed) 0.10 nats");
}

TEST_CASE("as KL its colours end at the largest, and it says which that is") {
    const AppState state = swept_play(after(swept_model(), {SweepHeads{"zero", "kl"}}), {});
    const AllHeadsView view = build_all_heads_view(state);
    CHECK(view.sweep->grid.value().title == "KL of the next token");
    CHECK(view.sweep->grid->range.scale == ColorScale::unit);
    CHECK(view.sweep->grid->range.high == 0.5);
    CHECK(view.point ==
          "KL(untouched‖changed) of the next token is largest when the context of L0 H0 is "
          "replaced by 0: 0.50 nats.");
    const AppState none = swept_play(after(state, {SweepHeads{"mean", "logits"}}), {});
    CHECK(
        build_all_heads_view(none).point ==
        "No head changes logit d − logit a if its context is replaced by its mean over positions.");
    CHECK(build_all_heads_view(swept_play(after(none, {SweepHeads{"mean", "kl"}}), {})).point ==
          "No head changes the next token's probabilities if its context is replaced by its mean "
          "over positions.");
}

TEST_CASE("what has no sweep says why: no model, a model without logits, a wrong name") {
    const AppState toy = after(initial_state(), {SetWorkspace{"heads"}, SetHeadsList{"sweep"}});
    CHECK_FALSE(requested_head_sweep(toy));
    CHECK(build_all_heads_view(toy).sweep->missing_data ==
          "A sweep changes each head of a trained model in turn: open a model's folder.");
    const AppState fault = swept_play(after(swept_model("a b"), {SetHeadsList{"sweep"}}), {});
    CHECK_FALSE(requested_head_sweep(fault));
    CHECK(build_all_heads_view(fault).sweep->missing_data == "This model gives no logits.");
    CHECK(after(toy, {SweepHeads{"median", "kl"}}).message.text ==
          "There is no ablation 'median': zero, mean, patch.");
    CHECK(after(toy, {SweepOver{"x"}}).message.text ==
          "There is no part of a sweep 'x': heads, residual, mlp.");
    CHECK(after(toy, {SweepHeads{"zero", "x"}}).message.text ==
          "There is no measure of a sweep 'x': logits, kl.");
}

TEST_CASE("what is refused for its second name changes nothing by its first") {
    const AppState state = after(swept_model(), {SelectCircuitCell{1, 1}});
    const HeadsLook& before = heads_look(state);
    const AppState refused = after(state, {SweepHeads{"mean", "x"}, ShowCircuit{"ov", "x"}});
    const HeadsLook& now = heads_look(refused);
    CHECK(now.ablation == before.ablation);
    CHECK(now.list == before.list);
    CHECK(now.circuit_show == before.circuit_show);
    CHECK(now.circuit_cell == before.circuit_cell);
    CHECK(now.form == before.form);
}

TEST_CASE("a sweep or a circuit that has no memory says so, and is not asked for again") {
    const Opener full = [](const OpenRequest&, const RunControl&) -> Result<Opened> {
        throw std::bad_alloc();
    };
    const AppState swept = after(swept_model(), {SetHeadsList{"sweep"}});
    AppState none = swept;
    answer_all(none, full);
    CHECK(build_all_heads_view(none).sweep->missing_data ==
          "Head sweep: there is not enough memory for it.");
    AppState circuit = after(swept_model(), {ShowCircuit{"qk", "text"}});
    answer_all(circuit, full);
    CHECK(build_all_heads_view(circuit).circuit->missing_data ==
          "Head circuit: there is not enough memory for it.");
    const AppState other = after(none, {SweepHeads{"mean", "logits"}});  // another request goes on
    CHECK(other.failures.empty());
    CHECK(has(build_all_heads_view(other).sweep->missing_data,
              " in turn, then running the rest of the model"));
}

TEST_CASE("a sweep over positions has a column a token; a cell of it is told in the inspector") {
    AppState state = after(swept_model("the cat"), {SweepOver{"residual"}});
    CHECK(sweep_asked(requested_head_sweep(state)->options).part == SweepPart::residual);
    CHECK(build_all_heads_view(state).sweep->missing_data ==
          "Changing each of 2 layers at each position, then running the rest of the model: 0.0 %.");
    state = swept_play(state, {SelectSwept{1, 1}});
    state = after(state, {SelectSwept{1, 1}});
    const AllHeadsView view = build_all_heads_view(state);
    CHECK(view.sweep->grid.value().column_labels == std::vector<std::string>{"the", "cat"});
    CHECK(view.sweep->grid->selected == std::pair<Index, Index>{1, 1});
    CHECK(view.point ==
          "logit d − logit a changes most when the input of layer 0 at the is replaced by 0: by "
          "−2.00 from 3.00, tied with 1 other.");
    CHECK(line_of(heads_inspector(state), "the input of layer 1 at cat") ==
          "logit d − logit a is 4.00, untouched 3.00; KL(untouched‖changed) 0.10 nats");
    CHECK(after(state, {SelectSwept{2, 0}}).message.text == "This sweep has no cell there.");
    const AppState wrong = after(state, {ShowCircuit{"ov", "x"}});
    CHECK(heads_look(wrong).circuit_show == heads_look(state).circuit_show);
    const AppState mlp = swept_play(after(state, {SweepOver{"mlp"}, SweepHeads{"zero", "kl"}}), {});
    CHECK(build_all_heads_view(mlp).point ==
          "KL(untouched‖changed) of the next token is largest when the MLP output of layer 0 at "
          "the is replaced by 0: 0.50 nats.");
    const AppState none = swept_play(after(mlp, {SweepHeads{"mean", "logits"}}), {});
    CHECK(build_all_heads_view(none).point ==
          "No MLP output at one position changes logit d − logit a if it is replaced by its mean "
          "over positions.");
}

TEST_CASE("a patch asks for a text, pairs tokens, and leaves out what is not paired") {
    AppState state =
        after(swept_model("the cat"), {SweepOver{"mlp"}, SweepHeads{"patch", "logits"}});
    CHECK_FALSE(requested_head_sweep(state));
    CHECK(build_all_heads_view(state).sweep->missing_data ==
          "A patch needs another text: type it after “from”.");
    state = swept_play(after(state, {PatchSweep{"the old dog"}}), {});
    AllHeadsView view = build_all_heads_view(state);
    CHECK(view.sweep->grid.value().at(0, 1).look == CellLook::masked);
    CHECK(view.sweep->grid->at(0, 0).value == -2.0);
    CHECK(view.point ==
          "logit d − logit a changes most when the MLP output of layer 0 at the is replaced by its "
          "counterpart in the other text: by −2.00 from 3.00, tied with 1 other.");
    const TokenPairs& pairs = view.sweep->pairs.value();
    CHECK(pairs.there == std::vector<std::string>{"the", "old", "dog"});
    CHECK(pairs.pairs == PairedTokens{{0, 0}});
    state = after(state, {SelectSwept{0, 1}});
    CHECK(line_of(heads_inspector(state), "the MLP output of layer 0 at cat") ==
          "not paired with a token of the other text");
    const AppState paired =
        after(state, {ChooseToPair{1}, PairTokens{repaired(pairs.pairs, 1, 2)}});
    CHECK(heads_look(paired).pairs == "0=0, 1=2");
    CHECK_FALSE(heads_look(paired).pairing);
    const auto asked = sweep_asked(requested_head_sweep(paired)->options);
    CHECK(asked.from == "the old dog");
    CHECK(asked.pairs == PairedTokens{{0, 0}, {1, 2}});
    CHECK(repaired({{0, 0}, {1, 2}}, 1, 0) == "1=0");
    CHECK(repaired({{0, 0}, {1, 2}}, 1, 2) == "0=0");
    CHECK(repaired({{0, 0}}, 0, 0).empty());
    CHECK(after(paired, {PairTokens{"-1=0"}}).message.severity == Severity::error);
    CHECK(after(paired, {PairTokens{"1"}}).message.severity == Severity::error);
    CHECK(heads_look(after(paired, {PairTokens{""}})).pairs.empty());
}

TEST_CASE("a circuit is asked for while it is shown, of the head and the tokens that are") {
    AppState state = after(swept_model("the cat"), {ShowHead{1, {}, 1}});
    CHECK_FALSE(requested_head_circuit(state));
    state = after(state, {SetHeadForm{"circuit"}});
    const auto wanted = requested_head_circuit(state);
    REQUIRE(wanted);
    CHECK(sweep_asked(wanted->options).circuit == HeadPlace{1, 1});
    CHECK_FALSE(sweep_asked(wanted->options).nearest);
    CHECK(
        has(build_all_heads_view(state).circuit->missing_data, "Multiplying the weights of L1 H1"));
    state = swept_play(state, {});
    CHECK_FALSE(requested_head_circuit(state));
    CHECK(requested_head_circuit(after(state, {ShowHead{0, {}, 1}})));
    CHECK(requested_head_circuit(after(state, {ShowCircuit{"qk", "vocabulary"}})));
    CHECK_FALSE(requested_head_circuit(after(state, {ShowCircuit{"ov", "text"}})));
    CHECK_FALSE(requested_head_circuit(after(state, {SetWorkspace{"step"}})));
    const AppState toy = after(initial_state(), {SetWorkspace{"heads"}, SetHeadForm{"circuit"}});
    CHECK_FALSE(requested_head_circuit(toy));
    CHECK(build_all_heads_view(toy).circuit->missing_data ==
          "QK and OV need the weights of a trained model: open a model's folder.");
    CHECK(after(toy, {ShowCircuit{"x", "text"}}).message.text ==
          "There is no part of a circuit 'x': qk, ov, composition, edges.");
}

TEST_CASE("QK and OV stand as a picture with singular values, and a cell as its products") {
    AppState state = swept_play(
        after(swept_model("the cat"), {ShowHead{1, {}, 1}, ShowCircuit{"qk", "text"}}), {});
    const auto circuit = build_all_heads_view(state).circuit;
    REQUIRE(circuit->grids.size() == 1);
    CHECK(circuit->grids[0].title == "QK of L1 H1");
    CHECK(circuit->grids[0].row_labels == std::vector<std::string>{"the", "cat"});
    CHECK(circuit->values.value().as_bars);
    CHECK(circuit->values->columns == 2);
    CHECK(circuit->text == "copying score Σλ / Σ|λ| = 0.25");
    // rows 0.25 0.5 and −0.75 1; columns 1 2 and −3 4
    CHECK(circuit->grids[0].at(0, 1).value == doctest::Approx(0.5 * (0.25 * -3 + 0.5 * 4)));
    CHECK(circuit->grids[0].at(1, 0).value == doctest::Approx(0.5 * (-0.75 * 1 + 1 * 2)));
    state = after(state, {SelectCircuitCell{1, 1}});
    CHECK(build_all_heads_view(state).circuit->grids[0].selected == std::pair<Index, Index>{1, 1});
    CHECK(build_all_heads_view(state).point ==
          "QK of L1 H1 is largest for query “cat” and key “cat”: 3.125.");
    const InspectorView cell = heads_inspector(state);
    CHECK(cell.title == "QK[cat, cat]");
    CHECK(cell.value == "3.125");
    REQUIRE(cell.table->rows.size() == 2);
    CHECK(cell.table->rows[0].cells[0].text == "−0.75");
    CHECK(cell.table->rows[0].cells[1].text == "−3.00");
    CHECK(cell.table->rows[1].cells[2].text == "4.00");
    CHECK(cell.table->total->cells[2].text == "6.25");
    CHECK(line_of(cell, "value") == "0.50 · 6.25 = 3.125");
    const AppState ov = swept_play(after(state, {ShowCircuit{"ov", "vocabulary"}}), {});
    const auto written = build_all_heads_view(ov).circuit;
    CHECK(written->grids[0].column_labels == std::vector<std::string>{"w0", "w1", "w2"});
    CHECK(heads_inspector(ov).title == "OV[the, w0]");
    CHECK(build_all_heads_view(ov).point.starts_with("Attending to "));
}

TEST_CASE("composition stands as three pictures of the earlier heads, with the norms behind it") {
    const AppState state = swept_play(
        after(swept_model("the cat"), {ShowHead{1, {}, 1}, ShowCircuit{"composition", "text"}}),
        {});
    const auto circuit = build_all_heads_view(state).circuit;
    REQUIRE(circuit->grids.size() == 3);
    CHECK(circuit->grids[1].title == "K composition");
    CHECK(circuit->grids[1].at(0, 0).value == doctest::Approx(0.4));
    CHECK(circuit->grids[2].range.high == doctest::Approx(0.4));
    CHECK(build_all_heads_view(state).point == "L1 H1 composes most with L0 H0: K 0.40.");
    // ‖OV‖ 5, ‖QK′‖ √(4² + 3²) = 5, ‖OV′‖ 2
    CHECK(line_of(heads_inspector(state), "K: ‖OV QK′ᵀ‖") == "10.00 / (5.00 · 5.00) = 0.40");
    CHECK(line_of(heads_inspector(state), "V: ‖OV OV′‖") == "3.00 / (5.00 · 2.00) = 0.30");
    const AppState first = swept_play(after(state, {ShowHead{0, {}, 0}}), {});
    CHECK(build_all_heads_view(first).circuit->missing_data ==
          "No head comes before L0 H0, so it composes with none.");
}

TEST_CASE("heads stand together: their mean as a matrix, each in its colour as lines") {
    const AppState state = after(swept_model("the cat"), {SetHeadsOf{"layer"}});
    const AllHeadsView mean = build_all_heads_view(state);
    REQUIRE(mean.grids.size() == 1);
    CHECK(mean.grids[0].title == "mean of 2 heads of layer 0");
    const HeadsResult& result = *heads_look(state).result;
    for (const auto [i, j] : each_cell(2, 2))
        CHECK(mean.grids[0].at(i, j).value ==
              doctest::Approx(
                  (double{result.weights({0, 0})(i, j)} + result.weights({0, 1})(i, j)) / 2));
    CHECK_FALSE(line_of(heads_inspector(state), "mean of 2 heads of layer 0").empty());
    const GridView own = build_all_heads_view(after(state, {SetHeadsRange{true}})).grids[0];
    double largest = 0.0;
    for (const CellView& cell : own.cells) largest = std::max(largest, double{cell.value});
    CHECK(own.range.high == doctest::Approx(largest));
    const AllHeadsView lines = build_all_heads_view(after(state, {SetHeadForm{"lines"}}));
    REQUIRE(lines.lines.size() == 1);
    REQUIRE(lines.lines[0].heads.size() == 2);
    CHECK(lines.lines[0].title == "2 heads overlaid");
    CHECK(lines.lines[0].heads[0].second != lines.lines[0].heads[1].second);
    const AppState one = after(state, {SetHeadForm{"lines"}, SetHeadsOf{"head"}});
    const std::size_t alone = build_all_heads_view(one).lines[0].lines.size();
    const std::size_t other =
        build_all_heads_view(after(one, {ShowHead{1, {}, 0}})).lines[0].lines.size();
    CHECK(lines.lines[0].lines.size() == alone + other);
    CHECK(build_all_heads_view(after(state, {SetHeadsOf{"filter"}})).grids[0].title ==
          "mean of 4 heads");
    CHECK(build_all_heads_view(
              after(state, {SetHeadsOf{"filter"}, FilterHeadsByMeasure{"entropy", 99.0}}))
              .grids[0]
              .title == "L0 H0");
}

TEST_CASE("edges are drawn from the embedding to the logits, and the lowest stands out") {
    AppState state = after(swept_model("the cat"), {ShowCircuit{"edges", "text"}});
    const auto wanted = requested_head_circuit(state);
    REQUIRE(wanted);
    CHECK(sweep_asked(wanted->options).edges);
    CHECK_FALSE(sweep_asked(wanted->options).circuit);
    CHECK(has(build_all_heads_view(state).circuit->missing_data, "Cutting each edge in turn"));
    state = swept_play(state, {});
    CHECK_FALSE(requested_head_circuit(state));
    CHECK_FALSE(requested_head_circuit(after(state, {ShowHead{0, {}, 0}})));  // of the whole model
    const AllHeadsView view = build_all_heads_view(state);
    CHECK(view.point ==
          "Of the edges between heads, cutting L0 H0 → L1 H0 lowers logit d − "
          "logit a most: by 2.00.");
    CHECK(view.answer.empty());
    const HeadEdgesView& edges = view.circuit->edges.value();
    REQUIRE(edges.nodes.size() == 8);  // embedding, two heads and an MLP twice, logits
    CHECK(edges.nodes[4].name == "L1 H0");
    CHECK(edges.nodes[5].text == "2 keys 0.50");
    CHECK(edges.nodes[4].tip == "Largest attention weight at “t1”: t1 0.75.");
    for (const auto& edge : edges.edges) {
        CHECK(edges.nodes[edge.nodes.row].y < edges.nodes[edge.nodes.column].y);
        CHECK(edge.width == doctest::Approx(std::abs(edge.change) / 2.0));
        CHECK(edge.change != 0.0);
    }
    CHECK(edges.selected == large::Cell{1, 4});
    CHECK(edges.edges.back().nodes == edges.selected);  // the widest is on top
    CHECK(edges.edges.back().text == "L0 H0 → L1 H0\nCut: −2.00 · Q −1.00 · K 0.00 · V 0.25");
    const InspectorView inspector = heads_inspector(state);
    CHECK(inspector.title == "L0 H0 → L1 H0");
    CHECK(inspector.value == "−2.00");
    state = after(state, {SelectCircuitCell{6, 7}});
    CHECK(heads_inspector(state).title == "MLP 1 → logits");
    CHECK(heads_inspector(state).value == "−1.00");
    state = after(state, {SelectCircuitCell{7, 0}});  // not an edge
    CHECK(heads_inspector(state).title == "L0 H0 → L1 H0");
    const AppState toy =
        after(initial_state(), {SetWorkspace{"heads"}, ShowCircuit{"edges", "text"}});
    CHECK(build_all_heads_view(toy).circuit->missing_data ==
          "Edges between heads need a trained model: open pronouns, stories or a model's folder.");
    const AppState none = swept_play(swept_model("a b"), {ShowCircuit{"edges", "text"}});
    CHECK(build_all_heads_view(none).circuit->missing_data == "This model gives no logits.");
}

TEST_CASE("where no heads are shown neither a sweep nor a circuit is computed") {
    AppState state = after(swept_model(), {SetHeadsList{"sweep"}});
    state = after(state, {SetHeadForm{"circuit"}});
    CHECK(requested_head_sweep(state));
    CHECK(requested_head_circuit(state));
    auto document = std::make_shared<Document>();
    document->inputs = std::make_shared<const Inputs>();
    document->origin = state.document().origin;
    document->no_attention = "there is none";
    state.history[state.now].document = std::move(document);
    CHECK_FALSE(heads_missing_data(state).empty());
    CHECK_FALSE(requested_head_sweep(state));
    CHECK_FALSE(requested_head_circuit(state));
}

TEST_CASE("QK and OV of more than 64 tokens are maps, whose columns have their own words") {
    for (const Index tokens : {64, 65, 300}) {
        AppState state = edited(swept_model(), [&](Document& document) {
            std::get<ModelOrigin>(document.origin).text = long_text(tokens);
        });
        state = swept_play(after(state, {ShowCircuit{"qk", "text"}}), {});
        const HeadCircuitView qk = head_circuit_view(state);
        CHECK(qk.missing_data.empty());
        REQUIRE(qk.grids.size() == (tokens == 64 ? 1 : 0));
        REQUIRE(qk.maps.size() == (tokens == 64 ? 0 : 1));
        if (tokens == 64) continue;
        CHECK(qk.maps[0].title == "QK of L0 H0");
        CHECK(qk.maps[0].row_title == "query i");
        CHECK(qk.maps[0].column_title == "key j");
        CHECK_FALSE(qk.maps[0].pictures.empty());
        CHECK(qk.values);
        state = after(state, {SelectCircuitCell{tokens - 1, 2}, HoverMapCell{large::Cell{1, 2}}});
        CHECK(circuit_cell(state) == large::Cell{tokens - 1, 2});
        CHECK(has(head_circuit_view(state).maps[0].hover_text, "→ key 2 “r2”: QK "));
        state = swept_play(after(state, {ShowCircuit{"ov", "vocabulary"}}), {});
        const MapView ov = head_circuit_view(state).maps.at(0);
        CHECK(ov.column_title == "logit j");
        CHECK(has(ov.hover_text, "→ logit 2 “w2”: OV "));
    }
}

TEST_CASE("a sweep over what reads an image speaks of classes") {
    AppState state = edited(swept_model("the cat"), [](Document& document) {
        std::get<ModelOrigin>(document.origin).image = true;
    });
    state = swept_play(after(state, {SweepHeads{"zero", "kl"}}), {});
    CHECK(has(state.message.text, "Σ p ln(p / q) of the class"));
    const AllHeadsView view = build_all_heads_view(state);
    CHECK(view.sweep->grid.value().title == "KL of the class");
    CHECK(view.point.starts_with("KL(untouched‖changed) of the class is largest when "));
    CHECK(has(view.sweep->grid->tooltip, "of the class, p untouched"));
    state = swept_play(after(state, {SweepHeads{"mean", "kl"}}), {});
    CHECK(build_all_heads_view(state).point ==
          "No head changes the class's probabilities if its context is replaced by its mean over "
          "positions.");
}
