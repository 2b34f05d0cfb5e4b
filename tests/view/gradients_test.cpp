#include "app/common/document/loss.h"
#include "app/common/document/targets.h"
#include "app/workspaces/gradients/requests.h"
#include "app/workspaces/gradients/view.h"
#include "app/workspaces/gradients/workspace.h"
#include "core/cast.h"
#include "core/engine.h"
#include "tests/view/view_test.h"

using namespace attn;
using namespace attn::view;

namespace {

AppState gradients_state(const Actions& actions = {}) {
    AppState state = after(preset_state("the-cat-sat-down"), {SetWorkspace{"gradients"}});
    play(state, actions);
    return state;
}

const GradientRow& row_of(const GradientsView& view, std::string_view key) {
    return one_of(view.rows, key, &GradientRow::key);
}

}  // namespace

TEST_CASE(
    "gradients: norms are those of the window's own backward pass, and of the document scaled "
    "otherwise") {
    const AppState state = gradients_state();
    const GradientsView view = build_gradients_view(state);
    const AppState other = gradients_state({SetScaling{false}});
    for (const char* key : {"w_q", "w_k", "w_v", "q", "scores", "weights", "v", "output"}) {
        CAPTURE(key);
        const OperandId id = *find_operand(key);
        for (std::size_t n = 0; n < 2; ++n) {
            const AppState& of = n == 0 ? state : other;
            const Tensor& gradient = std::holds_alternative<Stage>(id)
                                         ? (*of.gradients)[std::get<Stage>(id)]
                                         : of.gradients->params[std::get<Param>(id)];
            double sum = 0.0;
            for (const float value : gradient.values()) sum += static_cast<double>(value) * value;
            CHECK(row_of(view, key).norms[n] == doctest::Approx(std::sqrt(sum)).epsilon(1e-4));
        }
    }
    CHECK(row_of(view, "scores").norms[0] != doctest::Approx(row_of(view, "scores").norms[1]));
    CHECK(view.sides[0] == "÷√d_k");
    CHECK(view.sides[1] == "not divided");
}

TEST_CASE("gradients: finite differences agree for every loss") {
    for (const LossKind kind :
         {LossKind::sum, LossKind::cell, LossKind::squared, LossKind::cross_entropy}) {
        const AppState state = gradients_state({SetLoss{kind}});
        REQUIRE(gradients_look(state).result);
        const DifferenceCheck& check = gradients_look(state).result->check;
        CHECK(check.entries >= 16);
        CHECK(check.worst < 1e-6);
        CHECK(gradients_look(state).result->sides[0].loss ==
              doctest::Approx(loss_value(state).value()).epsilon(1e-5));
    }
}

TEST_CASE(
    "gradients: a file's dY is a loss; without one it is not offered, and kept it means the sum") {
    AppState state = gradients_state();
    CHECK(build_gradients_view(state).losses.size() == 4);
    CHECK(has(acted(state, {SetLoss{LossKind::file}}).message.words, "expected a file with dY"));
    const double sum = loss_value(state).value();
    state.loss.kind = LossKind::file;
    CHECK(loss_value(state).value() == sum);
    CHECK(build_gradients_view(state).loss == 0);

    Document document = state.document();
    const Dimensions& size = document.size;
    Tensor given({size.batch, 1, size.tq, size.d_out});
    for (std::size_t n = 0; n < given.values().size(); ++n)
        given.values()[n] = static_cast<float>(static_cast<int>(n * 7 % 11) - 5) / 4.0F;
    document.d_output = {std::make_shared<const Tensor>(given)};
    state.history[state.now].document = std::make_shared<const Document>(document);
    play(state, {SetLoss{LossKind::file}});
    REQUIRE(gradients_look(state).result);
    const LossGradients& result = *gradients_look(state).result;
    CHECK(result.check.worst < 1e-6);
    CHECK(result.sides[0].loss == doctest::Approx(loss_value(state).value()).epsilon(1e-5));
    const auto expected =
        attend_exact_backward(cast<double>(*document.inputs), document.spec,
                              attend_exact(cast<double>(*document.inputs), document.spec).value(),
                              {Stage::output, cast<double>(given)});
    REQUIRE(expected);
    const auto q = (*expected)[Stage::q].values();
    for (std::size_t n = 0; n < q.size(); ++n)
        CHECK(result.sides[0].gradients[Stage::q].values()[n] == doctest::Approx(q[n]));
    CHECK((*state.gradients)[Stage::output](0, 0, 1, 2) == given(0, 0, 1, 2));
    const GradientsView view = build_gradients_view(state);
    CHECK(view.loss == 4);
    CHECK(view.losses[4] == "Σ dY ∘ output");
    document.d_output = {std::make_shared<const Tensor>(Shape{1, 1, 1, 1})};
    CHECK(given_gradient(document) == nullptr);
}

TEST_CASE("gradients: the Jacobian of a row by hand, its norm, and the direction it kills") {
    const AppState state = gradients_state({SelectJacobianRow{2, 1}});
    const auto& weights = gradients_look(state).result->sides[0].trace[Stage::weights];
    const GridView grid = build_gradients_view(state).grids.back();
    const double factor = 1.0 / std::sqrt(static_cast<double>(state.document().size.d_k));
    for (Index k = 0; k < 4; ++k) {
        double sum = 0.0;
        for (Index j = 0; j < 4; ++j) {
            const double expected =
                factor * weights(0, 0, 2, k) * ((k == j ? 1.0 : 0.0) - weights(0, 0, 2, j));
            CHECK(grid.at(k, j).value == doctest::Approx(expected).epsilon(1e-5));
            sum += grid.at(k, j).value;
        }
        CHECK(sum == doctest::Approx(0.0).epsilon(1e-6));
    }
    const JacobianNumbers row = jacobian_numbers(state);
    CHECK(row.keys == 4);
    CHECK(row.spectral > 0.0);
    // Of an even row of n keys it is factor / n exactly; no row's is above factor / 2.
    CHECK(row.even == doctest::Approx(factor / 4));
    CHECK(row.spectral <= factor / 2 + 1e-12);
}

TEST_CASE("gradients: a saturated row is called so, and one of a single key too") {
    const AppState sharp = gradients_state({SetScaling{false}, SetTemperature{0.01}});
    bool saturated = false;
    for (Index row = 0; row < 4; ++row) {
        const AppState state = after(sharp, {SelectJacobianRow{row, 0}});
        const JacobianNumbers numbers = jacobian_numbers(state);
        for (const std::string& note : build_gradients_view(state).notes)
            if (has(note, "Saturated")) {
                saturated = true;
                CHECK(numbers.p_max > 0.99);
            }
    }
    CHECK(saturated);
    const AppState first =
        gradients_state({SetCausalMask{CausalChoice::top_left}, SelectJacobianRow{0, 0}});
    CHECK(jacobian_numbers(first).keys == 1);
    CHECK(jacobian_numbers(first).spectral == doctest::Approx(0.0));
    CHECK(std::ranges::any_of(build_gradients_view(first).notes,
                              [](const std::string& note) { return has(note, "one key alone"); }));
}

TEST_CASE("gradients: raising a score does what the exact softmax does") {
    const AppState state = gradients_state({SelectJacobianRow{1, 3}});
    const InspectorView inspector = gradients_inspector(state);
    REQUIRE(inspector.table);
    const auto& weights = gradients_look(state).result->sides[0].trace[Stage::weights];
    const double factor = 1.0 / std::sqrt(static_cast<double>(state.document().size.d_k));
    double sum = 0.0;
    for (Index j = 0; j < 4; ++j) sum += weights(0, 0, 1, j) * (j == 3 ? std::exp(factor) : 1.0);
    const double expected = weights(0, 0, 1, 3) * std::exp(factor) / sum;
    CHECK(std::abs(std::stod(inspector.table->rows[3].cells[2].text) - expected) < 1e-3);
    CHECK(has(inspector.table->rows[3].cells[3].text, "↑"));
    CHECK(has(inspector.table->rows[0].cells[3].text, "↓"));
}

TEST_CASE("gradients: a session keeps the place, and every sample is shown or says why not") {
    const AppState state = gradients_state({ShowGradientOf{"w_q"}, SelectJacobianRow{3, 2}});
    const AppState read = reopened(state);
    CHECK(gradients_look(read).tensor == OperandId{Param::w_q});
    CHECK(gradients_look(read).row == 3);
    for (AppState& each : sample_states()) {
        view::apply(each, SetWorkspace{"gradients"});
        answer_all(each);
        const GradientsView view = build_gradients_view(each);
        CHECK((view.ready || !view.lacks.empty() || !view.point.empty()));
    }
}

TEST_CASE("gradients: competition: the raised key gains what all others lose") {
    const AppState state = gradients_state({SelectJacobianRow{2, 1}});
    const CompetitionView view = build_gradients_view(state).competition;
    const auto& weights = gradients_look(state).result->sides[0].trace[Stage::weights];
    REQUIRE(view.tokens.size() == 4);
    CHECK(view.raised == 1);
    double sum = 0.0;
    for (Index k = 0; k < 4; ++k) {
        const auto& token = view.tokens[static_cast<std::size_t>(k)];
        const double p = weights(0, 0, 2, k), raised = weights(0, 0, 2, 1);
        CHECK(token.p == doctest::Approx(p));
        CHECK(token.slope == doctest::Approx(k == 1 ? p * (1.0 - p) : -p * raised));
        CHECK(token.width == doctest::Approx(std::abs(token.slope) / 0.25));
        CHECK((token.slope > 0.0) == (k == 1));
        sum += token.slope;
    }
    CHECK(std::abs(sum) < 1e-12);
    CHECK(has(view.sum, "= 0: cat gains 0.24"));
    CHECK(view.why.empty());
}

TEST_CASE("gradients: competition: masked keys take no part, and what has no arrow says why") {
    const Actions causal = {SetCausalMask{CausalChoice::top_left}, SelectJacobianRow{1, 0}};
    const CompetitionView two = build_gradients_view(gradients_state(causal)).competition;
    CHECK(two.tokens[1].look == CellLook::number);
    CHECK(two.tokens[1].slope == doctest::Approx(-two.tokens[0].slope));
    CHECK(two.tokens[2].look == CellLook::masked);
    CHECK(two.tokens[2].slope == 0.0);
    const AppState causal_state = gradients_state(causal);
    const CompetitionView masked =
        build_gradients_view(after(causal_state, {SelectJacobianRow{1, 3}})).competition;
    CHECK(has(masked.why, "down is masked"));
    for (const CompetitionToken& token : masked.tokens) CHECK(token.width == 0.0);
    const CompetitionView alone =
        build_gradients_view(after(causal_state, {SelectJacobianRow{0, 0}})).competition;
    CHECK(has(alone.why, "one key alone"));
    const AppState sharp = gradients_state({SetScaling{false}, SetTemperature{0.01}});
    Index saturated = 0;
    for (Index row = 0; row < 4; ++row)
        for (Index key = 0; key < 4; ++key) {
            const CompetitionView view =
                build_gradients_view(after(sharp, {SelectJacobianRow{row, key}})).competition;
            const CompetitionToken& raised = view.tokens[static_cast<std::size_t>(key)];
            CHECK(view.why.empty() == (raised.slope >= 0.01));
            saturated += has(view.why, "Saturated") && raised.p > 0.99;
        }
    CHECK(saturated > 0);
}

TEST_CASE(
    "gradients: a soft-cap, whose slope is another for every score, is refused with its reason") {
    Document document = gradients_state().document();
    document.spec.softcap = 0.5;
    const AppState state = state_of(std::move(document)).value();
    CHECK_FALSE(gradients_lacks(state).empty());
    CHECK(jacobian_numbers(state).keys == 0);
}
