#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/targets.h"
#include "app/common/inspector.h"
#include "app/workspaces/gradients/actions.h"
#include "app/workspaces/gradients/view.h"
#include "core/cast.h"
#include "core/engine.h"
#include "tests/view/view_test.h"

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

template <class Change>
AppState call_gradients(Change change, const Actions& actions = {}) {
    AppState state = call_state("gradients", change);
    play(state, actions);
    answer_all(state);
    return state;
}

void capped(Inputs&, AttentionSpec& spec) {
    spec.softcap = 0.7;
    spec.alibi = true;
}
void with_sink(Inputs& inputs, AttentionSpec& spec) {
    inputs.params[Param::sinks] = Tensor(Shape{1, 1, 1, 2}, {0.4F, -0.2F});
    spec.mask.causal = CausalAlign::top_left;
}
void additive(Inputs& inputs, AttentionSpec& spec) {
    spec.score = Score::additive;
    inputs.params[Param::w_score_q] = test::normal_tensor<float>({1, 1, 4, 3}, 21);
    inputs.params[Param::w_score_k] = test::normal_tensor<float>({1, 1, 4, 3}, 22);
    inputs.params[Param::w_score_row] = test::normal_tensor<float>({1, 1, 1, 3}, 23);
}

std::string rule_of(const AppState& state, std::string_view tensor) {
    return build_gradients_view(after(state, {ShowGradientOf{std::string(tensor)}})).notes.front();
}

}  // namespace

TEST_CASE("gradients: norms are those of the window's backward pass, and of the other scaling") {
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
    CHECK(view.sides[0] == "with scaling");
    CHECK(view.sides[1] == "without scaling");
}

TEST_CASE("gradients: a pair that the mask forbids is masked in both matrices") {
    AppState state = gradients_state(
        {SetCausalMask{CausalChoice::top_left}, ShowGradientOf{"scores"}, SelectJacobianRow{1, 0}});
    answer_all(state);
    const GradientsView view = build_gradients_view(state);
    REQUIRE(view.grids.size() == 2);
    CHECK(view.grids[0].at(0, 1).look == CellLook::masked);
    CHECK(view.grids[0].at(1, 1).look == CellLook::number);
    CHECK(view.grids[1].at(2, 2).look == CellLook::masked);
    CHECK(view.grids[1].at(0, 1).look == CellLook::number);
}

TEST_CASE("gradients: why a bar is longer without the division; a loss that no weight changes") {
    const AppState state = gradients_state();
    const GradientsView view = build_gradients_view(state);
    const std::string why = why_text(*gradients_look(state).result, view);
    const GradientRow& row = row_of(view, "w_q");
    const std::string times = significant(row.norms[1] / row.norms[0], 3) + " times as large";
    CHECK(has(why, times) == (row.norms[1] > 1.05 * row.norms[0]));
    CHECK(has(why, times));
    Document document = state.document();  // every value sums to 1: so does every output
    Inputs inputs = *document.inputs;
    Tensor& w_o = inputs.params[Param::w_o];
    if (!w_o.empty()) std::ranges::fill(w_o.values(), 0.0F);
    for (Index n = 0; n < w_o.shape().t && n < w_o.shape().d; ++n) w_o(0, 0, n, n) = 1.0F;
    Tensor& w_v = inputs.params[Param::w_v];
    std::ranges::fill(w_v.values(), 0.25F);
    std::ranges::fill(inputs.x.values(), 0.5F);
    document.inputs = std::make_shared<const Inputs>(inputs);
    AppState blind = state;
    blind.history[blind.now].document = std::make_shared<const Document>(document);
    play(blind, {SetLoss{LossKind::sum}});
    REQUIRE(gradients_look(blind).result);
    const GradientsView alike = build_gradients_view(blind);
    CHECK(alike.notes.front().starts_with("This loss cannot depend on the weights"));
    CHECK(has(alike.notes.front(), "W_V"));
    CHECK(row_of(alike, "w_q").norms[0] == doctest::Approx(0.0));
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

TEST_CASE("gradients: a file's dY is a loss; without one it is not offered, and means the sum") {
    AppState state = gradients_state();
    CHECK(build_gradients_view(state).losses.size() == 4);
    CHECK(has(acted(state, {SetLoss{LossKind::file}}).message.text, "expected a file with dY"));
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
                              [](const std::string& note) { return has(note, "only one key"); }));
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

TEST_CASE("gradients: the score that is raised at first is that of the largest weight of the row") {
    for (const char* preset : {"the-cat-sat-down", "three-heads", "cross-attention"}) {
        AppState state = preset_state(preset);
        play(state, {SetWorkspace{"gradients"}});
        const std::vector<double> p = jacobian_weights(state);
        REQUIRE(!p.empty());
        const Index raised = build_gradients_view(state).competition.raised;
        CHECK(raised == std::ranges::max_element(p) - p.begin());
        CHECK_FALSE(gradients_look(reopened(state)).raised);
        play(state, {SelectJacobianRow{0, 0}});
        CHECK(build_gradients_view(state).competition.raised == 0);
        CHECK(gradients_look(reopened(state)).raised == 0);
    }
    Document even = preset_state("the-cat-sat-down").document();  // all weights alike: the first
    Inputs inputs = *even.inputs;
    std::ranges::fill(inputs.params[Param::w_q].values(), 0.0F);
    even.inputs = std::make_shared<const Inputs>(inputs);
    AppState state = preset_state("the-cat-sat-down");
    state.history[state.now].document = std::make_shared<const Document>(even);
    play(state, {SetWorkspace{"gradients"}});
    CHECK(raised_key(state) == 0);
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
        CHECK((view.ready || !view.missing_data.empty() || !view.point.empty()));
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
        const auto& token = view.tokens[k];
        const double p = weights(0, 0, 2, k), raised = weights(0, 0, 2, 1);
        CHECK(token.p == doctest::Approx(p));
        CHECK(token.slope == doctest::Approx(k == 1 ? p * (1.0 - p) : -p * raised));
        CHECK(token.width == doctest::Approx(std::abs(token.slope) / 0.25));
        CHECK((token.slope > 0.0) == (k == 1));
        sum += token.slope;
    }
    CHECK(std::abs(sum) < 1e-12);
    CHECK(has(view.sum, "= 0: “cat” gains 0.24"));
    CHECK(view.why.empty());
}

TEST_CASE("gradients: competition: a slope below rounding is 0, and gain and loss are equal") {
    const AppState sharp = gradients_state({SetScaling{false}, SetTemperature{0.003}});
    Index zeros = 0;
    for (const auto [row, key] : each_cell(4, 4)) {
        const CompetitionView view =
            build_gradients_view(after(sharp, {SelectJacobianRow{row, key}})).competition;
        if (view.sum.empty()) continue;
        const auto gains = view.sum.find(" gains "), lose = view.sum.find("together lose ");
        const std::string gain = view.sum.substr(gains + 7, view.sum.find(',', gains) - gains - 7);
        CAPTURE(view.sum);
        CHECK(view.sum.substr(lose + 14) == gain + ".");
        zeros += gain == "0" ? 1 : 0;
        for (const CompetitionToken& token : view.tokens)
            CHECK((token.slope == 0.0 || std::abs(token.slope) >= 1e-15));
    }
    CHECK(zeros > 0);
}

TEST_CASE("gradients: competition: the printed factors give the printed slope") {
    for (const auto [row, key] : each_cell(4, 4)) {
        const AppState state = gradients_state({SelectJacobianRow{row, key}});
        for (const CompetitionToken& token : build_gradients_view(state).competition.tokens) {
            const auto dot = token.tip.find(" · "), equals = token.tip.rfind(" = ");
            const auto from = token.tip.rfind(' ', dot - 1) + 1;
            REQUIRE(dot != std::string::npos);
            std::string first = token.tip.substr(from, dot - from);
            if (first.starts_with("−")) first = first.substr(std::string("−").size());
            const double a = std::stod(first);
            const double b = std::stod(token.tip.substr(dot + std::string(" · ").size()));
            std::string product = token.tip.substr(equals + 3);
            if (product.starts_with("−")) product = product.substr(std::string("−").size());
            CAPTURE(token.tip);
            CHECK(significant(a * b, 3).substr(0, 4) == product.substr(0, 4));
        }
    }
}

TEST_CASE("gradients: the slopes by the input of softmax and by the raw score have two names") {
    const AppState state = gradients_state({SelectJacobianRow{2, 1}});
    const CompetitionView view = build_gradients_view(state).competition;
    CHECK(view.formula.starts_with("∂a_k/∂z_j = "));
    const InspectorView inspector = gradients_inspector(state);
    const double slope = view.at(1).slope;
    const double factor = 1.0 / std::sqrt(static_cast<double>(state.document().size.d_k));
    const auto line = [&](std::string_view label) {
        return one_of(inspector.lines, label, &Line::label).pieces[0].text;
    };
    CHECK(line("∂a/∂z") == significant(slope, 3) + ", where z is the input of softmax");
    CHECK(line("∂a/∂s") == significant(slope * factor, 3) + ", where s is the raw score");
    CHECK(inspector.formula.starts_with("∂a_k/∂s_j"));
}

TEST_CASE("gradients: a check that met NaN is not possible, and is no success") {
    const AppState state = call_gradients(
        [](Inputs& inputs, AttentionSpec&) { inputs.q(0, 0, 1, 1) = std::nanf(""); });
    const GradientsView view = build_gradients_view(state);
    CHECK(view.badge == "gradient check: not possible (NaN)");
    CHECK(view.badge_warns);
    CHECK_FALSE(build_gradients_view(gradients_state()).badge_warns);
}

TEST_CASE("gradients: competition: keys of a row without an allowed key have its weight") {
    for (const auto& [rows, weight] : {std::pair{"nan", "NaN"}, {"zero", "0"}}) {
        AppState state =
            json_state(std::string(R"("padding": 0, "empty_rows": ")") + rows + '"', "a b");
        state = after(state, {SetWorkspace{"gradients"}, SelectJacobianRow{0, 0}});
        for (const CompetitionToken& token : build_gradients_view(state).competition.tokens) {
            CHECK(token.p_text == weight);
            CHECK(token.tip == fmt::format("masked: its score is −∞ and its weight is {}", weight));
            CHECK(token.bar == 0.0);
        }
    }
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
    CHECK(has(masked.why, "“down” is masked"));
    for (const CompetitionToken& token : masked.tokens) CHECK(token.width == 0.0);
    const CompetitionView alone =
        build_gradients_view(after(causal_state, {SelectJacobianRow{0, 0}})).competition;
    CHECK(has(alone.why, "only one key"));
    CHECK(alone.sum.empty());  // there are no others that could lose
    const AppState sharp = gradients_state({SetScaling{false}, SetTemperature{0.01}});
    Index saturated = 0;
    for (const auto [row, key] : each_cell(4, 4)) {
        const CompetitionView view =
            build_gradients_view(after(sharp, {SelectJacobianRow{row, key}})).competition;
        const CompetitionToken& raised = view.tokens[key];
        CHECK(view.why.empty() == (raised.slope >= 0.01));
        saturated += has(view.why, "Saturated") && raised.p > 0.99;
    }
    CHECK(saturated > 0);
}

TEST_CASE("gradients: the chain rule names the score function, RoPE, cap, slopes and sinks") {
    const AppState bent = call_gradients([](Inputs& inputs, AttentionSpec& spec) {
        capped(inputs, spec);
        spec.rope = Rope{};
    });
    CHECK(rule_of(bent, "q") == "∂L/∂q_i = R_p_iᵀ ∂L/∂q′_i; forward: q′_i = R_p_i q_i.");
    CHECK(rule_of(bent, "q_rot") ==
          "∂L/∂q′_i = Σ_j ∂L/∂scores[i,j] k′_j; forward: scores[i,j] = q′_i · k′_j.");
    CHECK(rule_of(bent, "k_rot") ==
          "∂L/∂k′_j = Σ_i ∂L/∂scores[i,j] q′_i; forward: scores[i,j] = q′_i · k′_j.");
    CHECK(rule_of(bent, "scaled") ==
          "∂L/∂S[i,j] = ∂L/∂B[i,j] · (1 − tanh(S[i,j]/cap)²); forward: B[i,j] = cap · "
          "tanh(S[i,j]/cap) − slope[h] · |p_i − j|.");
    CHECK(rule_of(bent, "biased") ==
          "∂L/∂B[i,j] = ∂L/∂M[i,j] if i may attend to j, else 0; forward: M[i,j] = "
          "B[i,j] if i may attend to j, else −∞.");
    const AppState alibi = call_gradients([](Inputs&, AttentionSpec& spec) { spec.alibi = true; });
    CHECK(rule_of(alibi, "scaled") ==
          "∂L/∂S[i,j] = ∂L/∂B[i,j]; forward: B[i,j] = S[i,j] − slope[h] · |p_i − j|.");
    const AppState cosine =
        call_gradients([](Inputs&, AttentionSpec& spec) { spec.score = Score::cosine; });
    CHECK(rule_of(cosine, "q") ==
          "∂L/∂q_i = Σ_j ∂L/∂scores[i,j] · (k_j / (|q_i| |k_j|) − scores[i,j] · q_i/|q_i|²); "
          "forward: scores[i,j] = q_i · k_j / (|q_i| |k_j|).");
    const AppState near =
        call_gradients([](Inputs&, AttentionSpec& spec) { spec.score = Score::student_t; });
    CHECK(rule_of(near, "k") ==
          "∂L/∂k_j = Σ_i ∂L/∂scores[i,j] · 2(q_i − k_j) / (1 + |q_i − k_j|²); forward: "
          "scores[i,j] = −ln(1 + |q_i − k_j|²).");
    CHECK(rule_of(call_gradients(with_sink), "masked") ==
          "∂L/∂M[i,j] = A[i,j] · (∂L/∂A[i,j] − Σ_j′ A[i,j′] · ∂L/∂A[i,j′]); forward: "
          "A[i,j] = exp(M[i,j] − m_i) / (Σ_j′ exp(M[i,j′] − m_i) + exp(sink[h] − m_i)).");
    const AppState grouped = call_gradients([](Inputs& inputs, AttentionSpec& spec) {
        inputs.k = test::normal_tensor<float>({1, 1, 4, 4}, 8);
        inputs.v = test::normal_tensor<float>({1, 1, 4, 3}, 9);
        spec.dropout = 0.25;
    });
    CHECK(rule_of(grouped, "k") ==
          "∂L/∂k_j = Σ_h Σ_i ∂L/∂scores[i,j] q_i, h the 2 query heads of that key/value head; "
          "forward: scores[i,j] = q_i · k_j.");
    CHECK(rule_of(grouped, "v") ==
          "∂L/∂v_j = Σ_h Σ_i Ã[i,j] ∂L/∂context[i], h the 2 query heads of that key/value head; "
          "forward: context[i] = Σ_j Ã[i,j] v_j.");
}

TEST_CASE("gradients: the gradient of every score function follows its chain rule") {
    // by hand from ∂L/∂scores, as the sentence of the query says
    const auto d_q = [](const AppState& state, Index i, Index c, auto of_pair) {
        double sum = 0.0;
        for (Index j = 0; j < 4; ++j)
            sum += static_cast<double>((*state.gradients)[Stage::scores](0, 0, i, j)) *
                   of_pair(i, j, c);
        return sum;
    };
    for (const Score score : {Score::cosine, Score::student_t}) {
        const AppState state =
            call_gradients([&](Inputs&, AttentionSpec& spec) { spec.score = score; });
        const Inputs& in = *state.document().inputs;
        for (Index i = 0; i < 4; ++i)
            for (Index c = 0; c < 4; ++c) {
                const double found = (*state.gradients)[Stage::q](0, 0, i, c);
                const auto of_pair = [&](Index row, Index key, Index column) {
                    double qq = 0.0, kk = 0.0, apart = 0.0;
                    for (Index n = 0; n < 4; ++n) {
                        qq += in.q(0, 0, row, n) * in.q(0, 0, row, n);
                        kk += in.k(0, 0, key, n) * in.k(0, 0, key, n);
                        apart += std::pow(in.q(0, 0, row, n) - in.k(0, 0, key, n), 2);
                    }
                    const double q = in.q(0, 0, row, column), k = in.k(0, 0, key, column);
                    if (score == Score::student_t) return 2 * (k - q) / (1 + apart);
                    return k / std::sqrt(qq * kk) -
                           (*state.trace)[Stage::scores](0, 0, row, key) * q / qq;
                };
                CHECK(found == doctest::Approx(d_q(state, i, c, of_pair)).epsilon(1e-4));
            }
    }
}

TEST_CASE("gradients: parameters of the score and sinks stand in the chain") {
    const GradientsView view = build_gradients_view(call_gradients(additive));
    std::vector<std::string> keys;
    for (const GradientRow& row : view.rows) keys.push_back(row.key);
    CHECK(keys == std::vector<std::string>{"q", "k", "v", "w_score_q", "w_score_k", "w_score_row",
                                           "scores", "scaled", "masked", "weights", "context",
                                           "output"});
    CHECK(row_of(build_gradients_view(call_gradients(with_sink)), "sinks").norms[0] > 0.0);
}

TEST_CASE("gradients: sides say the temperature too") {
    const auto sides = [](double temperature, ScaleKind scale) {
        return build_gradients_view(call_gradients([&](Inputs&, AttentionSpec& spec) {
                   spec.temperature = temperature;
                   spec.scale = scale;
                   spec.scale_value = 0.3;
               }))
            .sides;
    };
    CHECK(sides(0.5, ScaleKind::sqrt_dk) ==
          std::array<std::string, 2>{"with scaling, τ = 0.5", "without scaling, τ = 0.5"});
    CHECK(sides(1.0, ScaleKind::value) == std::array<std::string, 2>{"× 0.3", "with scaling"});
}

TEST_CASE("gradients: with a soft cap the Jacobian's columns shrink, and its sentences say so") {
    const AppState state = call_gradients(capped, {SelectJacobianRow{2, 1}});
    const TraceD& trace = gradients_look(state).result->sides[0].trace;
    const GradientsView view = build_gradients_view(state);
    const GridView& grid = view.grids.back();
    double largest = 0.0;
    std::array<double, 4> u{1.0, 0.3, -0.7, 0.2};  // power iteration on JᵀJ
    const auto cell = [&](Index k, Index j) {
        const double a_k = trace[Stage::weights](0, 0, 2, k),
                     a_j = trace[Stage::weights](0, 0, 2, j);
        const double bent = std::tanh(trace[Stage::scaled](0, 0, 2, j) / 0.7);
        return 0.5 * (1.0 - bent * bent) * a_k * ((k == j ? 1.0 : 0.0) - a_j);
    };
    for (const auto [k, j] : each_cell(4, 4))
        CHECK(grid.at(k, j).value == doctest::Approx(cell(k, j)).epsilon(1e-5));
    for (int turn = 0; turn < 400; ++turn) {
        std::array<double, 4> v{}, w{};
        for (const auto [k, j] : each_cell(4, 4)) v[k] += cell(k, j) * u[j];
        for (const auto [j, k] : each_cell(4, 4)) w[j] += cell(k, j) * v[k];
        double norm = 0.0;
        for (const double each : w) norm += each * each;
        norm = std::sqrt(norm);
        largest = std::sqrt(norm);
        for (std::size_t n = 0; n < 4; ++n) u[n] = w[n] / norm;
    }
    CHECK(jacobian_numbers(state).spectral == doctest::Approx(largest).epsilon(1e-6));
    CHECK(grid.tooltip ==
          "J = (diag(a) − a aᵀ) · diag(factor · (1 − tanh²(S/cap))): how each weight of "
          "this row changes per unit of each raw score. Every column sums to 0");
    CHECK(view.notes.back() ==
          "Raising all scores equally after the cap changes no weight: J maps this direction "
          "to 0.");
    CHECK(has(view.notes[view.notes.size() - 2], " for 4 keys without the cap)."));
    CHECK(has(view.competition.formula,
              "z: the input of softmax, the scaled, biased and masked score"));

    // What the inspector says of a raw score that is 1 higher: softmax of the row by hand.
    const double scaled = trace[Stage::scaled](0, 0, 2, 1);
    const double step = 0.7 * (std::tanh((scaled + 0.5) / 0.7) - std::tanh(scaled / 0.7));
    double sum = 0.0;
    for (Index j = 0; j < 4; ++j)
        sum += trace[Stage::weights](0, 0, 2, j) * (j == 1 ? std::exp(step) : 1.0);
    const double after_it = trace[Stage::weights](0, 0, 2, 1) * std::exp(step) / sum;
    const InspectorView inspector = gradients_inspector(state);
    CHECK(inspector.value ==
          cell_number(trace[Stage::weights](0, 0, 2, 1), 4) + " → " + cell_number(after_it, 4));
    CHECK(inspector.formula.starts_with(
        "∂a_k/∂s_j = factor · (1 − tanh²(S_j/cap)) · a_k (δ_kj − a_j), 0.5 · "));
}

TEST_CASE("gradients: one key beside a sink has a weight under 1, which its score moves") {
    const AppState state = call_gradients(with_sink, {SelectJacobianRow{0, 0}});
    const double a = gradients_look(state).result->sides[0].trace[Stage::weights](0, 0, 0, 0);
    REQUIRE(a < 0.99);
    const GradientsView view = build_gradients_view(state);
    CHECK(view.notes.back() ==
          "Row 0 may attend to only one key, besides the sink: its weight is " + number(a) +
              ", ‖J‖₂ = " + significant(0.5 * a * (1 - a), 3) + ".");
    CHECK(view.grids.back().tooltip.ends_with("With the sink, rows and columns need not sum to 0"));
    const GradientsView two = build_gradients_view(after(state, {SelectJacobianRow{1, 0}}));
    CHECK(has(two.notes.back(), " for 2 keys without the sink)."));
}

TEST_CASE("gradients: of a saturated row V is sent what dropout leaves of the weight") {
    const auto note = [](double dropout) {
        const AppState state = call_gradients([&](Inputs& inputs, AttentionSpec& spec) {
            for (float& q : inputs.q.values()) q *= 40.0F;
            spec.dropout = dropout;
            spec.seed = 3;
        });
        const TraceD& trace = gradients_look(state).result->sides[0].trace;
        Index row = 0, key = 0;
        for (const auto [i, j] : each_cell(4, 4))
            if (trace[Stage::weights](0, 0, i, j) > 0.999) row = i, key = j;
        const double sent = dropout > 0.0 ? trace[Stage::dropped](0, 0, row, key)
                                          : trace[Stage::weights](0, 0, row, key);
        const GradientsView view = build_gradients_view(after(state, {SelectJacobianRow{row, 0}}));
        const auto found = std::ranges::find_if(
            view.notes, [](const std::string& each) { return has(each, " Saturated: "); });
        REQUIRE(found != view.notes.end());
        CHECK(found->ends_with(" At the key with the largest weight, V receives " + number(sent) +
                               " of ∂L/∂context."));
        return sent;
    };
    CHECK(note(0.0) > 0.999);
    const double dropped = note(0.4);
    CHECK((dropped == 0.0 || dropped > 1.6));
}
