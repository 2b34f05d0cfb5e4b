// Every head changed in turn, in Heads: when it is asked for, what it shows and says.

#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/view.h"
#include "app/workspaces/heads/workspace.h"
#include "tests/view/swept_sample.h"

using namespace attn;
using namespace attn::view;

namespace {

std::string line_of(const InspectorView& view, std::string_view name) {
    for (const Line& line : view.lines)
        if (line.label == name) return line.pieces.front().text;
    return "";
}

}  // namespace

TEST_CASE("a sweep is asked for while it is shown, of the text that is open, and once") {
    AppState state = swept_model();
    CHECK_FALSE(requested_head_sweep(state));
    state = after(state, {SetHeadsList{"sweep"}});
    CHECK(state.message.words == "What the model says without each head in turn.");
    const auto wanted = requested_head_sweep(state);
    CHECK(wanted == SweepModel{"fake", "the cat sat down", false, Ablation::zero});
    CHECK(has(build_all_heads_view(state).sweep->lacks, "4 heads in turn is changed"));
    CHECK_FALSE(build_all_heads_view(state).sweep->grid);
    CHECK_FALSE(requested_head_sweep(after(state, {SetWorkspace{"step"}})));
    CHECK_FALSE(requested_head_sweep(after(state, {SetHeadsList{"table"}})));
    state = swept_play(state, {});
    CHECK_FALSE(requested_head_sweep(state));
    CHECK(requested_head_sweep(after(state, {SweepHeads{"mean", "kl"}}))->by == Ablation::mean);
    // what it shows of each head is no other sweep
    CHECK_FALSE(requested_head_sweep(after(state, {SweepHeads{"zero", "kl"}})));
}

TEST_CASE("its picture has a row a layer, signs by colour, and the head that is shown") {
    const AppState state =
        swept_play(after(swept_model(), {SetHeadsList{"sweep"}, ShowHead{1, {}, 1}}), {});
    const AllHeadsView view = build_all_heads_view(state);
    REQUIRE(view.sweep);
    CHECK(view.sweep->lacks.empty());
    const GridView& grid = view.sweep->grid.value();
    CHECK(grid.rows == 2);
    CHECK(grid.columns == 2);
    CHECK(grid.title == "Δ(logit d − logit a)");
    CHECK(grid.row_labels == std::vector<std::string>{"layer 0", "layer 1"});
    CHECK(grid.column_labels == std::vector<std::string>{"head 0", "head 1"});
    CHECK(grid.at(0, 0).value == -2.0);
    CHECK(grid.at(1, 1).value == 1.0);
    CHECK(grid.range.scale == ColorScale::diverging);
    CHECK(grid.range.high == 2.0);
    CHECK(grid.selected == std::pair<Index, Index>{1, 1});
    CHECK(view.point ==
          "logit d − logit a changes most where the context of layer 0 head 0 is 0: by −2.00 from "
          "3.00, and 1 other as much.");
    CHECK(line_of(heads_inspector(state), "context 0") ==
          "logit d − logit a is 4.00, untouched 3.00; KL(untouched‖changed) 0.10 nats");
}

TEST_CASE("as KL its colours end at the largest, and it says which that is") {
    const AppState state = swept_play(after(swept_model(), {SweepHeads{"zero", "kl"}}), {});
    const AllHeadsView view = build_all_heads_view(state);
    CHECK(view.sweep->grid.value().title == "KL of the next token");
    CHECK(view.sweep->grid->range.scale == ColorScale::unit);
    CHECK(view.sweep->grid->range.high == 0.5);
    CHECK(view.point ==
          "KL(untouched‖changed) of the next token is largest where the context of layer 0 head 0 "
          "is 0: 0.50 nats.");
    const AppState none = swept_play(after(state, {SweepHeads{"mean", "logits"}}), {});
    CHECK(build_all_heads_view(none).point ==
          "No head whose context is its mean over positions changes logit d − logit a.");
    CHECK(
        build_all_heads_view(swept_play(after(none, {SweepHeads{"mean", "kl"}}), {})).point ==
        "No head whose context is its mean over positions changes the next token's probabilities.");
}

TEST_CASE("what has no sweep says why: no model, a model without logits, a wrong name") {
    const AppState toy = after(initial_state(), {SetWorkspace{"heads"}, SetHeadsList{"sweep"}});
    CHECK_FALSE(requested_head_sweep(toy));
    CHECK(build_all_heads_view(toy).sweep->lacks ==
          "A sweep changes each head of a trained model in turn: open a model's folder.");
    const AppState fault = swept_play(after(swept_model("a b"), {SetHeadsList{"sweep"}}), {});
    CHECK_FALSE(requested_head_sweep(fault));
    CHECK(build_all_heads_view(fault).sweep->lacks == "This model gives no logits.");
    CHECK(after(toy, {SweepHeads{"patch", "kl"}}).message.words ==
          "There is no ablation 'patch': zero, mean.");
    CHECK(after(toy, {SweepHeads{"zero", "x"}}).message.words ==
          "There is no measure of a sweep 'x': logits, kl.");
}
