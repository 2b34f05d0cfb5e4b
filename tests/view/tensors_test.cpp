// The Tensors workspace: what is measured of an array, what it may be, and the table.

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/tensors/actions.h"
#include "app/workspaces/tensors/measure.h"
#include "app/workspaces/tensors/roles.h"
#include "app/workspaces/tensors/view.h"
#include "core/io/array_stats.h"
#include "core/io/npy.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

ArrayStats measured(std::vector<Index> extents, std::vector<float> values) {
    return measure_array({"float32", std::move(extents), std::move(values)}, {});
}

AppState shown(const Actions& actions = {}) {
    AppState state = after(preset_state("three-heads"), {SetWorkspace{"tensors"}});
    answer_all(state);
    state = after(std::move(state), actions);
    answer_all(state);
    return state;
}

}  // namespace

TEST_CASE("what is not finite is counted and in no mean; nothing finite, and text, have none") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float inf = std::numeric_limits<float>::infinity();
    const ArrayStats stats = measured({2, 3}, {1.0F, -3.0F, 0.0F, -inf, nan, nan});
    CHECK(stats.count == 6);
    CHECK(stats.nans == 2);
    CHECK(stats.infs == 1);
    CHECK(stats.zeros == 1);
    CHECK(stats.first_nan == std::vector<Index>{1, 1});
    CHECK(stats.first_inf == std::vector<Index>{1, 0});
    CHECK(stats.low == -3.0);
    CHECK(stats.high == 1.0);
    CHECK(stats.mean == doctest::Approx(-2.0 / 3.0));
    CHECK(stats.preview.size() == 6);
    const ArrayStats none = measured({1}, {std::numeric_limits<float>::quiet_NaN()});
    CHECK_FALSE(none.finite);
    CHECK(none.nans == 1);
    CHECK(has(measured({0, 3}, {}).fault, "length 0"));
    CHECK(has(measure_array({"str", {}, std::string("x")}, {}).fault, "text"));
}

TEST_CASE("content tells weights and masked scores; names tell roles") {
    const TensorRow row{"tensor_7", "float32", {2, 2}, 16};
    const ArrayStats weights = measured({2, 2}, {1.0F, 0.0F, 0.25F, 0.75F});
    CHECK(weights.lower);
    CHECK(propose_role(row, &weights).role == "weights");
    CHECK(has(propose_role(row, &weights).reason, "every row sums to 1; 0 above the diagonal"));
    const ArrayStats scores = measured({2, 2}, {1.0F, -1e9F, 0.25F, 0.75F});
    CHECK(propose_role(row, &scores).role == "masked");
    const ArrayStats plain = measured({2, 2}, {1.0F, 0.5F, 0.25F, 0.75F});
    CHECK(propose_role(row, &plain).role.empty());
    CHECK(propose_role(row, nullptr).role.empty());
    const auto role = [](const char* name, std::vector<Index> extents) {
        return propose_role({name, "float32", std::move(extents), 4}, nullptr);
    };
    CHECK(role("model.layers.0.self_attn.q_proj.weight", {8, 8}).role == "W_Q");
    CHECK(has(role("model.layers.0.self_attn.q_proj.weight", {8, 8}).reason, "[out, in]"));
    CHECK(role("blocks.0.attn.hook_q", {1, 5, 2, 4}).axes == "[B,T,H,d]");
    CHECK(role("decoder.attn_weights", {2, 5, 5}).axes == "[H,Tq,Tk]");
    CHECK(role("attn_weights", {5}).role.empty());
    CHECK(role("foo", {2, 2}).role.empty());
}

TEST_CASE("X tells a projection from one as nn.Linear stores it, and a square one is not guessed") {
    TensorListing listing;
    listing.rows = {{"X", "float32", {3, 6}, 72}};
    const auto proposed = [&](const char* name, std::vector<Index> extents) {
        return propose_role({name, "float32", std::move(extents), 4}, nullptr, &listing);
    };
    CHECK(proposed("q_proj.weight", {4, 6}).role == "W_Q.T");
    CHECK(proposed("q_proj.weight", {4, 6}).reason == "its name; X has width 6, the axis “in”");
    CHECK(proposed("q_proj.weight", {6, 4}).role == "W_Q");
    CHECK(proposed("o_proj.weight", {6, 4}).role == "W_O.T");
    CHECK(proposed("o_proj.weight", {4, 6}).role == "W_O");
    CHECK(proposed("q_proj.weight", {6, 6}).role == "W_Q");
    CHECK(has(proposed("q_proj.weight", {6, 6}).reason, "does not tell"));
    CHECK(proposed("q_proj.weight", {5, 7}).role == "W_Q");
    CHECK(has(proposed("q_proj.weight", {5, 7}).reason, "choose W_Q.T for that"));
    listing.rows.push_back({"X_kv", "float32", {3, 5}, 60});
    CHECK(proposed("k_proj.weight", {4, 5}).role == "W_K.T");
}

TEST_CASE("a toy's arrays stand in the table, measured one by one") {
    const AppState state = shown();
    const TensorsView view = build_tensors_view(state);
    REQUIRE(view.lines.size() >= 4);
    CHECK(view.lines[0].name == "X");
    CHECK(view.empty.empty());
    REQUIRE(view.detail);
    CHECK(view.detail->title == "X");
    REQUIRE(view.detail->grid);
    const Tensor& x = state.document().inputs->x;
    CHECK(std::ssize(view.detail->grid->cells) == x.count());
    CHECK(view.detail->grid->range.scale == ColorScale::diverging);  // 0 … 1, and no weights
    CHECK(view.detail->grid->at(1, 3).value == doctest::Approx(x(0, 0, 1, 3)));
    for (const TensorLine& line : view.lines)
        for (const std::string& cell : line.cells) CHECK(cell != "…");
    CHECK_FALSE(requested_tensors(state));
}

TEST_CASE("of a large file only small arrays are measured before one is asked for") {
    for (const bool large : {false, true}) {
        CAPTURE(large);
        AppState state = shown();
        TensorListing made{state.shared_document(), {}, {}};
        for (int n = 0; n < 20; ++n) {
            const bool small = n % 4 == 1;
            const double bytes = small ? 8192.0 : 16.0 * (1 << 20) * (large ? 8 : 1);
            made.rows.push_back({fmt::format("w{}", n), "bfloat16", {4096, 4096}, bytes});
            made.bytes += bytes;
        }
        state = after(state, {SelectTensor{""}});
        state = after(state, {TensorsListed{std::make_shared<const TensorListing>(made)}});
        CHECK(shown_tensor(state) == (large ? "w1" : "w0"));
        std::vector<std::string> asked;
        while (const auto wanted = requested_tensors(state)) {
            asked.push_back(wanted->name);
            state = after(state, {TensorMeasured{wanted->listing, wanted->name,
                                                 std::make_shared<const ArrayStats>()}});
        }
        CHECK(asked.size() == (large ? 5 : 20));
        CHECK(std::ranges::count(build_tensors_view(state).lines[0].cells, "select it") ==
              (large ? 5 : 0));
        const auto chosen = requested_tensors(after(state, {SelectTensor{"w0"}}));
        CHECK(chosen.has_value() == large);
    }
}

TEST_CASE("filter, order and selection; a toy's roles cannot be changed") {
    AppState state =
        shown({FilterTensors{"w_"}, SortTensors{TensorColumn::name, true}, SelectTensor{"W_K"}});
    const TensorsView view = build_tensors_view(state);
    REQUIRE(view.lines.size() >= 3);
    CHECK(view.lines.front().name > view.lines.back().name);
    CHECK(view.detail->title == "W_K");
    CHECK(build_tensors_view(after(state, {FilterTensors{"zzz"}}))
              .empty.find("No name contains “zzz”") == 0);
    state = shown({SetTensorRole{"X", "Q"}});
    CHECK(has(state.message.text, "is not a file of tensors"));
    CHECK(tensors_look(state).roles.empty());
    CHECK(roles_text({{"a", "Q"}, {"b", "K"}}) == "a=Q,b=K");
    state = shown({SetTensorOption{"causal", "top-left"}});
    CHECK(has(state.message.text, "is not a file of tensors"));
}
