// Words that were false for some input, each over the input that showed it: rows without a key, sinks, factors of 0 and less.

#include "app/common/workspace.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/view.h"
#include "tests/view/claims/screen_texts.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// All that a state says, and the arithmetic of its inspector.
std::string all_text_of(const AppState& state) {
    std::string all = state.message.text + "\n" + shown_workspace(state).inspector(state).as_text;
    for (const std::string& text : ScreenTexts(state).texts) all += "\n" + text;
    return all;
}

using OddChange = std::function<void(Inputs&, AttentionSpec&)>;

/// Q and K are all `value`: every score is the same.
void fill_scores(Inputs& inputs, float value) {
    std::ranges::fill(inputs.q.values(), value);
    std::ranges::fill(inputs.k.values(), value);
}
OddChange equal_scores(float value, std::optional<float> sink = {}) {
    return [=](Inputs& inputs, AttentionSpec&) {
        fill_scores(inputs, value);
        if (sink) inputs.params[Param::sinks] = Tensor(Shape{1, 1, 1, 2}, {*sink, *sink});
    };
}
OddChange scaled_by(double factor) {
    return [=](Inputs&, AttentionSpec& spec) {
        spec.scale = ScaleKind::value;
        spec.scale_value = factor;
    };
}
OddChange rope_scaled(double factor) {
    return [=](Inputs&, AttentionSpec& spec) {
        spec.rope.emplace();
        spec.rope->scaling = {.kind = RopeScale::linear, .factor = factor};
    };
}
/// Causal, and row 0 is left no key.
void leave_none(AttentionSpec& spec) {
    Mask mask(Shape{1, 1, 4, 4});
    for (Index i = 1; i < 4; ++i)
        for (Index j = 0; j <= i; ++j) mask(0, 0, i, j) = 1;
    spec.mask.custom = std::make_shared<const Mask>(std::move(mask));
}
void first_empty(Inputs&, AttentionSpec& spec) { leave_none(spec); }
void first_empty_even(Inputs& inputs, AttentionSpec& spec) {
    fill_scores(inputs, 0.0F);
    leave_none(spec);
}
/// Each row of head 0 is all on one key, and all on another in head 1.
void opposite_nan(Inputs& inputs, AttentionSpec& spec) {
    leave_none(spec);
    spec.empty_rows = EmptyRows::nan;
    for (const auto [i, c] : each_cell(4, 4))
        for (Index h = 0; h < 2; ++h) {
            inputs.q(0, h, i, c) = c == 0 ? (h == 0 ? 1000.0F : -1000.0F) : 0.0F;
            inputs.k(0, h, i, c) = c == 0 ? static_cast<float>(i) : 0.0F;
        }
}
/// Weights are even and values (1, ±1): what reaches the weights is the same for every key.
void values_alike(Inputs& inputs, AttentionSpec&) {
    fill_scores(inputs, 0.0F);
    std::ranges::fill(inputs.v.values(), 0.0F);
    for (const auto [h, j] : each_cell(2, 4)) {
        inputs.v(0, h, j, 0) = 1.0F;
        inputs.v(0, h, j, 1) = j % 2 == 0 ? 1.0F : -1.0F;
    }
}
/// S[0,1] and S[1,0] are the same, no others.
void equal_pair(Inputs& inputs, AttentionSpec&) {
    for (const auto [i, c] : each_cell(4, 4)) inputs.q(0, 0, i, c) = i == c ? 1.0F : 0.0F;
    inputs.k(0, 0, 0, 1) = inputs.k(0, 0, 1, 0) = 2.0F;
}

const Actions kBothPinned = {PinHead{0, 0, true}, PinHead{0, 1, true}};
Actions look_at_cell(Stage stage, Index row, Index column) {
    return {GoToStage{stage}, SelectCell{{stage, row, column}}};
}

struct OddCase {
    const char* name;
    const char* workspace;
    OddChange change;
    Actions actions;
    const char* expected;
    const char* forbidden_text;
};

const float kNoSink = -std::numeric_limits<float>::infinity();
const OddCase kOddCases[] = {
    {"only the first order vanishes",
     "gradients",
     values_alike,
     {SetLoss{LossKind::squared}},
     "At these weights, no gradient reaches the scores",
     "cannot depend"},
    {"a sink loses too",
     "gradients",
     equal_scores(0.0F, 25.0F),
     {},
     ", the sink ",
     "Σ_k ∂a_k/∂z_j = 0:"},
    {"J = 0", "gradients", scaled_by(0.0), {}, "J is 0: to first order no score", "J maps"},
    {"weights underflow, no mask",
     "step",
     equal_scores(20.0F, 200.0F),
     {GoToStage{Stage::weights}, SetTemperature{100.0}},
     "all weights of",
     "may attend to no key"},
    {"KL of a row without a key", "heads", first_empty, kBothPinned, "in the mean of 3 rows",
     "mean of 4 rows"},
    {"KL of a row of NaN", "heads", opposite_nan, kBothPinned, "∞ in 3 rows", "∞ in every row"},
    {"entropy of rows that have a key", "kinds", first_empty_even, {}, "1.0594 nats", "0.7945"},
    {"a row of NaN is masked",
     "step",
     opposite_nan,
     {GoToStage{Stage::masked}},
     "scores to −∞.",
     "gives them 0"},
    {"RoPE that is scaled to turn faster", "step", rope_scaled(0.5),
     look_at_cell(Stage::q_rot, 1, 0), "RoPE scaling makes it ω = 2.", "made slower"},
    {"RoPE scaling of all pairs",
     "step",
     rope_scaled(0.5),
     {GoToStage{Stage::k_rot}},
     "which RoPE scaling changes for 2 of 2 pairs",
     "slower by"},
    {"RoPE scaling by 1", "step", rope_scaled(1.0), look_at_cell(Stage::q_rot, 1, 0),
     "rotate together", "RoPE scaling"},
    {"a factor below 0 turns the order around", "step", scaled_by(-1.0),
     look_at_cell(Stage::scores, 0, 1), "The largest product", "Against"},
    {"a sink of −∞ is no score", "step", equal_scores(1.0F, kNoSink),
     look_at_cell(Stage::weights, 0, 1), "The 4 scores that count in this row are all",
     "including the sink’s"},
    {"S is symmetric at one pair", "step", equal_pair, look_at_cell(Stage::weights, 0, 1),
     "are the same score", "asymmetric"},
    {"a file's mask is not painted",
     "step",
     first_empty,
     {PaintMask{2, 0, 2, 0, PaintShape::line, false}, GoToStage{Stage::masked},
      SelectCell{{Stage::masked, 0, 1}}},
     "the mask forbids the pair",
     "it is painted"}};
}  // namespace

TEST_CASE("what is said holds without a key, with a sink, and for factors of 0 and less") {
    for (const OddCase& one : kOddCases) {
        AppState state = state_of(call_document(one.change)).value();
        state = after(state, {SetWorkspace{one.workspace}});
        play(state, one.actions);
        answer_all(state);
        CAPTURE(one.name);
        const std::string stated = all_text_of(state);
        CHECK_MESSAGE(has(stated, one.expected), stated);
        CHECK_FALSE(has(stated, one.forbidden_text));
    }
}

TEST_CASE("saturation: no share of rows is said before one is computed") {
    AppState state = in_workspace("saturation", {ShowGradient{GradientOf::q}});
    REQUIRE(build_saturation_view(state).gradients);
    CHECK(build_saturation_view(state).gradients->dead_scaled.empty());
    answer_all(state);
    CHECK(has(build_saturation_view(state).gradients->dead_scaled, "with scaling: "));
}
