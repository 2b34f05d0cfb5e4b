// Every kind of call that `trace` takes, in every workspace: it opens, and what is shown is what the reference computes.

#include "app/common/document/document.h"
#include "app/common/document/place.h"
#include "app/common/workspace.h"
#include "app/workspaces/compare/actions.h"
#include "app/workspaces/compare/reach.h"
#include "app/workspaces/gradients/actions.h"
#include "app/workspaces/gradients/view.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/view.h"
#include "app/workspaces/masks/view.h"
#include "app/workspaces/numerics/row.h"
#include "app/workspaces/verify/actions.h"
#include "app/workspaces/verify/view.h"
#include "core/cast.h"
#include "core/engine.h"
#include "core/numerics.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

constexpr std::string_view kShown[] = {"step",  "masks",  "kinds",   "numerics",  "cost",
                                       "heads", "lookup", "compare", "gradients", "verify"};

struct OpenCall {
    std::string name;
    AppState state;
    TraceD exact;
};

std::vector<OpenCall> open_calls() {
    std::vector<OpenCall> calls;
    for (const auto& cases :
         {test::kind_cases(test::Sizes::small), test::engine_cases(test::Sizes::small)})
        for (const test::Case& each : cases) {
            Document document =
                document_of({std::make_shared<const Inputs>(each.inputs)}, "call.npz");
            document.edits.emplace_back();  // so that Verify checks the backend, not the file
            document.spec = each.spec;
            calls.push_back({each.name, state_of(std::move(document)).value(),
                             attend_exact(cast<double>(each.inputs), each.spec).value()});
        }
    return calls;
}

AppState shown_in(const OpenCall& call, std::string_view workspace, const Actions& actions = {}) {
    AppState state = after(call.state, {SetWorkspace{std::string(workspace)}});
    play(state, actions);
    answer_all(state);
    return state;
}

double sink_of(const Document& document, Index head) {
    const Tensor& sinks = document.inputs->params[Param::sinks];
    return sinks.empty() ? -HUGE_VAL : sinks(0, 0, 0, head);
}

/// Weights of row `i` of the first head after the raw score of `key` grew by `step`, from the reference's masked scores.
std::vector<double> weights_after(const OpenCall& call, Index i, Index key, double step) {
    const Document& document = call.state.document();
    const AttentionSpec& spec = document.spec;
    const double factor =
        (spec.scale == ScaleKind::sqrt_dk ? 1.0 / std::sqrt(static_cast<double>(document.size.d_k))
         : spec.scale == ScaleKind::none  ? 1.0
                                          : spec.scale_value) /
        spec.temperature;
    const auto bent = [&](double scaled) {
        return spec.softcap ? *spec.softcap * std::tanh(scaled / *spec.softcap) : scaled;
    };
    std::vector<double> weights;
    double sum = std::exp(sink_of(document, 0));
    for (Index j = 0; j < document.size.tk; ++j) {
        const double scaled = call.exact[Stage::scaled](0, 0, i, j);
        double m = call.exact[Stage::masked](0, 0, i, j);
        if (j == key) m += bent(scaled + factor * step) - bent(scaled);
        sum += weights.emplace_back(std::exp(m));
    }
    for (double& weight : weights) weight /= sum;
    return weights;
}

void check_jacobian(const OpenCall& call, const AppState& state, Index row) {
    const AppState there = after(state, {SelectJacobianRow{row, 0}});
    const GradientsView view = build_gradients_view(there);
    if (view.grids.size() < 2) return;
    constexpr double kStep = 1e-5;
    for (Index j = 0; j < state.document().size.tk; ++j) {
        const auto above = weights_after(call, row, j, kStep);
        const auto below = weights_after(call, row, j, -kStep);
        for (std::size_t k = 0; k < above.size(); ++k) {
            const double slope = (above[k] - below[k]) / (2 * kStep);
            if (std::isfinite(slope))  // no key may be attended to
                CHECK(view.grids.back().at(static_cast<Index>(k), j).value ==
                      doctest::Approx(slope).epsilon(1e-4).scale(1e-3));
        }
    }
}

}  // namespace

TEST_CASE("every kind of call opens in every workspace") {
    for (const OpenCall& call : open_calls())
        for (const std::string_view key : kShown) {
            INFO("call.name ", call.name, ", key ", key);
            const AppState state = shown_in(call, key);
            CHECK(shown_workspace(state).missing_data(state) == "");
            CHECK(state.message.severity != Severity::error);
            CHECK_FALSE(commands(state).empty());
            shown_workspace(state).inspector(state);
        }
}

TEST_CASE("gradients of every kind of call are those of finite differences") {
    for (const OpenCall& call : open_calls()) {
        CAPTURE(call.name);
        const AppState state = shown_in(call, "gradients");
        const GradientsView view = build_gradients_view(state);
        REQUIRE(view.ready);
        const LossGradients& result = *gradients_look(state).result;
        if (!std::isfinite(result.sides[0].loss)) continue;  // rows of NaN
        CHECK(result.check.entries > 0);
        CHECK(result.check.worst < 1e-3);  // of b_K, whose gradient is 0, rounding of L alone
        for (Index row = 0; row < state.document().size.tq; ++row) check_jacobian(call, state, row);
        for (const Stage stage : ribbon_stages(state.document()))
            CHECK_FALSE(has(
                build_gradients_view(after(state, {ShowGradientOf{std::string(info(stage).key)}}))
                    .notes.front(),
                "\\"));
    }
}

TEST_CASE("masks of every kind of call show the reference's weights") {
    for (const OpenCall& call : open_calls()) {
        CAPTURE(call.name);
        const MasksView view = build_masks_view(shown_in(call, "masks"));
        REQUIRE(view.grids.size() == 3);
        const auto weights = call.exact[Stage::weights].matrix(0, 0);
        for (const auto [i, j] : each_cell(weights)) {
            const double shown = view.grids[1].at(i, j).value;
            if (std::isnan(weights(i, j)))
                CHECK(std::isnan(shown));
            else
                CHECK(shown == doctest::Approx(weights(i, j)).epsilon(1e-4).scale(1e-3));
        }
    }
}

TEST_CASE("what a backend makes of every kind of call is what Verify expects") {
    for (const OpenCall& call : open_calls()) {
        CAPTURE(call.name);
        const VerifyView view = build_verify_view(shown_in(call, "verify", {PlantFault{""}}));
        CHECK(view.ready);
        CHECK_FALSE(view.bad);
        CHECK(has(view.point, "matches float64: "));
    }
}

TEST_CASE("softmax of the row that Numerics is given is the row of weights") {
    for (const OpenCall& call : open_calls()) {
        CAPTURE(call.name);
        const AppState opened = shown_in(call, "numerics");
        const auto logits = document_logits(opened);
        REQUIRE(logits);
        const auto weights = exact_softmax(*logits, 1.0);
        const Document& document = call.state.document();
        const Index row = first_pair(opened).row;  // first looked at
        for (Index j = 0; j < document.size.tk; ++j) {
            const double expected = call.exact[Stage::weights](0, 0, row, j);
            const auto shown = static_cast<double>(weights[j]);
            if (!std::isnan(expected) && !std::isnan(shown))
                CHECK(shown == doctest::Approx(expected).epsilon(1e-4).scale(1e-3));
        }
    }
}

TEST_CASE("Compare starts from the weight that every kind of call gives") {
    std::size_t reached = 0;
    for (const OpenCall& call : open_calls()) {
        CAPTURE(call.name);
        const AppState state =
            shown_in(call, "compare", {ShowCompareStage{Stage::weights}, SelectCompareCell{2, 1}});
        const Reach reach = reach_of(state);
        if (!reach.missing_data.empty()) continue;
        ++reached;
        CHECK(reach.now ==
              doctest::Approx(call.exact[Stage::weights](0, 0, 2, 1)).epsilon(1e-4).scale(1e-3));
    }
    CHECK(reached > 20);
}

TEST_CASE("Lookup's similarity times the factor is the score, or says which score it is not") {
    for (const OpenCall& call : open_calls()) {
        CAPTURE(call.name);
        const AppState state = shown_in(call, "lookup", {ShowLookupPage{LookupPage::similarity}});
        const SimilarityView view = build_similarity_view(state);
        const Score score = call.state.document().spec.score;
        if (score != Score::dot && score != Score::cosine) {
            CHECK(view.body.missing_data ==
                  "Neither dot product nor cosine ranks keys as the score “" +
                      std::string(info(score).title) +
                      "” does: Step shows these scores for up to 64 tokens (1 S).");
            continue;
        }
        REQUIRE(view.body.missing_data == "");
        const SimilarityResult& result = *lookup_look(state).similarity;
        const Tensor& shown = score == Score::dot ? result.dot : result.cosine;
        for (const auto [i, j] : each_cell(shown.shape().t, shown.shape().d))
            CHECK(shown(0, 0, i, j) ==
                  doctest::Approx(call.exact[Stage::scores](0, 0, i, j)).epsilon(1e-4));
    }
}
