// Every head changed in turn, in Heads: when it is asked for, what it shows and says.

#include "app/common/document/swept.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/view.h"
#include "app/workspaces/heads/workspace.h"
#include "tests/view/view_test.h"

using namespace attn;
using namespace attn::view;

namespace {

/// Two layers of two heads: A − B is 3, and 1, 3.5, 1, 4 where a head is changed.
SweptModel swept_by_hand(const SweepModel& of) {
    SweptModel made{of, {}, {}, "d", "a"};
    made.sweep = {of.by, 3, 0, 3.0, 2, 2, 1, {}, 0.0, 0.0};
    const double after[] = {1.0, 3.5, 1.0, 4.0}, kl[] = {0.5, 0.01, 0.25, 0.1};
    for (Index n = 0; n < 4; ++n) made.sweep.swept.push_back({{n / 2, n % 2}, 0, after[n], kl[n]});
    if (of.by == Ablation::mean)
        for (SweptHead& head : made.sweep.swept) head.difference = 3.0, head.kl = 0.0;
    return made;
}

Result<Opened> fake(const OpenRequest& request, const RunControl&) {
    if (const auto* text = std::get_if<ModelText>(&request.what)) {
        auto made = fake_document(text->model);
        if (!made) return tl::unexpected(made.error());
        made->layers.assign(2, made->inputs);
        made->own_heads = 2;
        return Opened{std::make_shared<const Document>(*std::move(made)), nullptr, ""};
    }
    const auto* sweep = std::get_if<SweepModel>(&request.what);
    if (sweep == nullptr) return bad_input("no files here");
    if (sweep->text == "a b") return bad_input("this model gives no logits");
    Opened opened;
    opened.swept = std::make_shared<const SweptModel>(swept_by_hand(*sweep));
    return opened;
}

AppState played(AppState state, const Actions& actions) {
    play(state, actions, fake);
    return state;
}
AppState model_open(const std::string& text = "the cat sat down") {
    return played(initial_state(),
                  {OpenFile{"fake", text}, DocumentReady{}, SetWorkspace{"heads"}});
}

std::string line_of(const InspectorView& view, std::string_view name) {
    for (const Line& line : view.lines)
        if (line.label == name) return line.pieces.front().text;
    return "";
}

}  // namespace

TEST_CASE("a sweep is asked for while it is shown, of the text that is open, and once") {
    AppState state = model_open();
    CHECK_FALSE(requested_head_sweep(state));
    state = after(state, {SetHeadsList{"sweep"}});
    CHECK(state.message.words == "What the model says without each head in turn.");
    const auto wanted = requested_head_sweep(state);
    CHECK(wanted == SweepModel{"fake", "the cat sat down", false, Ablation::zero});
    CHECK(has(build_all_heads_view(state).sweep->lacks, "4 heads in turn is changed"));
    CHECK_FALSE(build_all_heads_view(state).sweep->grid);
    CHECK_FALSE(requested_head_sweep(after(state, {SetWorkspace{"step"}})));
    CHECK_FALSE(requested_head_sweep(after(state, {SetHeadsList{"table"}})));
    state = played(state, {});
    CHECK_FALSE(requested_head_sweep(state));
    CHECK(requested_head_sweep(after(state, {SweepHeads{"mean", "kl"}}))->by == Ablation::mean);
    // what it shows of each head is no other sweep
    CHECK_FALSE(requested_head_sweep(after(state, {SweepHeads{"zero", "kl"}})));
}

TEST_CASE("its picture has a row a layer, signs by colour, and the head that is shown") {
    const AppState state =
        played(after(model_open(), {SetHeadsList{"sweep"}, ShowHead{1, {}, 1}}), {});
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
    const AppState state = played(after(model_open(), {SweepHeads{"zero", "kl"}}), {});
    const AllHeadsView view = build_all_heads_view(state);
    CHECK(view.sweep->grid.value().title == "KL of the next token");
    CHECK(view.sweep->grid->range.scale == ColorScale::unit);
    CHECK(view.sweep->grid->range.high == 0.5);
    CHECK(view.point ==
          "KL(untouched‖changed) of the next token is largest where the context of layer 0 head 0 "
          "is 0: 0.50 nats.");
    const AppState none = played(after(state, {SweepHeads{"mean", "logits"}}), {});
    CHECK(build_all_heads_view(none).point ==
          "No head whose context is its mean over positions changes logit d − logit a.");
    CHECK(
        build_all_heads_view(played(after(none, {SweepHeads{"mean", "kl"}}), {})).point ==
        "No head whose context is its mean over positions changes the next token's probabilities.");
}

TEST_CASE("what has no sweep says why: no model, a model without logits, a wrong name") {
    const AppState toy = after(initial_state(), {SetWorkspace{"heads"}, SetHeadsList{"sweep"}});
    CHECK_FALSE(requested_head_sweep(toy));
    CHECK(build_all_heads_view(toy).sweep->lacks ==
          "A sweep changes each head of a trained model in turn: open a model's folder.");
    const AppState fault = played(after(model_open("a b"), {SetHeadsList{"sweep"}}), {});
    CHECK_FALSE(requested_head_sweep(fault));
    CHECK(build_all_heads_view(fault).sweep->lacks == "This model gives no logits.");
    CHECK(after(toy, {SweepHeads{"patch", "kl"}}).message.words ==
          "There is no ablation 'patch': zero, mean.");
    CHECK(after(toy, {SweepHeads{"zero", "x"}}).message.words ==
          "There is no measure of a sweep 'x': logits, kl.");
}
