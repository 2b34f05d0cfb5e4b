// A trained model that writes: what each step gives is what the model gives of the same tokens at once.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/files/open.h"
#include "app/window/requests.h"
#include "app/window/session.h"
#include "app/workspaces/generate/view.h"
#include "core/backend.h"
#include "core/models/lens.h"
#include "core/models/model.h"
#include "core/train/run.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;
using namespace attn::files;

namespace {

std::shared_ptr<const view::Generated> written(const view::Opener& open, const std::string& folder,
                                               const std::string& text,
                                               const std::vector<Index>& tokens,
                                               std::optional<Index> lens = {}) {
    const view::OpenRequest request{view::GenerateText{folder, text, tokens, lens}};
    return must(open(request, {})).generated;
}

/// The last row of logits, and the last row of weights of a layer and head, of all tokens at once.
struct Whole {
    std::vector<float> logits, weights;
};
Whole whole(const Model& model, const std::string& text, const std::vector<Index>& more,
            HeadPlace at) {
    auto tokens = must(model.tokens_of(text));
    for (const Index id : more) tokens.push_back({id, model.shown(id)});
    const ModelRun run = must(model.run(tokens, *find_backend("staged")));
    const Index last = std::ssize(tokens) - 1;
    const auto logits = run.read_out.matrix(0, 0).row(last);
    const auto row = run.layers[at.layer].trace[Stage::weights].matrix(0, at.head).row(last);
    return {{logits.begin(), logits.end()}, {row.begin(), row.end()}};
}

double farthest(std::span<const float> a, std::span<const float> b) {
    REQUIRE(a.size() == b.size());
    double most = 0.0;
    for (std::size_t n = 0; n < a.size(); ++n)
        most = std::max(most, static_cast<double>(std::abs(a[n] - b[n])));
    return most;
}

}  // namespace

TEST_CASE("every step gives logits and rows of weights as all tokens at once do") {
    for (const char* family : {"gpt2", "llama", "gemma2", "gpt_oss"}) {
        CAPTURE(family);
        const Scratch scratch;
        const auto [folder, text, image] = test::readable_model(scratch, family);
        const Model model = must(Model::open(folder));
        const view::Opener open = opener(backends());
        const std::vector<Index> tokens{3, 11, 5};
        const auto made = written(open, folder, text, tokens);
        REQUIRE(made->steps.size() == 4);
        CHECK(made->prompt.size() == must(model.tokens_of(text)).size());
        for (std::size_t n = 0; n <= tokens.size(); ++n) {
            const HeadPlace at{1, 1};
            const Whole all = whole(
                model, text, {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n)}, at);
            const view::GeneratedStep& step = *made->steps[n];
            CHECK(farthest(step.logits, all.logits) < 1e-4);
            CHECK(farthest(step.weights[1].matrix(0, 1).row(0), all.weights) < 1e-5);
        }
    }
}

TEST_CASE("every step has the experts of the tokens that it read, as all tokens at once do") {
    const Scratch scratch;
    const auto [folder, text, image] = test::readable_model(scratch, "mixtral");
    const std::vector<Index> tokens{3, 11};
    const auto made = written(opener(backends()), folder, text, tokens);
    const Model model = must(Model::open(folder));
    auto all = must(model.tokens_of(text));
    for (const Index id : tokens) all.push_back({id, model.shown(id)});
    const ModelRun run = must(model.run(all, *find_backend("staged")));
    for (std::size_t layer = 0; layer < run.layers.size(); ++layer) {
        const Tensor& expected = run.layers[layer].routing;
        Index row = 0;
        for (const auto& step : made->steps)
            for (Index t = 0; t < step->routing[layer].shape().t; ++t)
                CHECK(farthest(step->routing[layer].matrix(0, 0).row(t),
                               expected.matrix(0, 0).row(row++)) < 1e-5);
        CHECK(row == std::ssize(all));
    }
}

TEST_CASE("a decoder's cache has K and V of the encoder's tokens too") {
    const view::GenerateText wanted{test::golden_model("t5").string(), "1 2 3", {7, 8}, {}, "4 5"};
    const auto made = must(opener(backends())({wanted}, {})).generated;
    CHECK(made->prompt.size() == 3);  // with what a text begins with
    CHECK(made->encoder_tokens == 3);
    CHECK(made->bytes_of_token * (5 + made->encoder_tokens) == 3456);  // as `generate` says
}

TEST_CASE("the model that writes has the options of the document that is opened with it") {
    for (const char* family : {"gpt2", "llama", "gemma2", "gpt_oss", "mixtral"}) {
        CAPTURE(family);
        const Scratch scratch;
        const auto [folder, text, image] = test::readable_model(scratch, family);
        view::AppState state = view::initial_state();
        view::play(state, {view::OpenFile{folder, text}, view::DocumentReady{}},
                   opener(backends()));
        view::apply(state, view::SetWorkspace{"generate"});
        view::answer_all(state, opener(backends()));
        CHECK_FALSE(contains(view::build_generate_view(state).muted, "ignores"));
        view::apply(state, view::SetScaling{false});
        CHECK(contains(view::build_generate_view(state).muted, "ignores the changed options."));
    }
}

TEST_CASE("another token keeps the steps before it, and another text none") {
    const Scratch scratch;
    const auto [folder, text, image] = test::readable_model(scratch, "gpt2");
    const view::Opener open = opener(backends());
    const auto first = written(open, folder, text, {3, 11, 5});
    const auto other = written(open, folder, text, {3, 7}, 1);
    CHECK(other->steps[0] == first->steps[0]);
    CHECK(other->steps[1] == first->steps[1]);
    CHECK(other->steps[2] != first->steps[2]);
    CHECK(farthest(other->steps[2]->logits,
                   written(opener(backends()), folder, text, {3, 7})->steps[2]->logits) < 1e-5);
    CHECK(first->steps.size() == 4);
    CHECK_FALSE(other->lenses[0]);
    REQUIRE(other->lenses[1]);
    const auto& logits = other->steps[1]->logits;
    CHECK(other->lenses[1]->token == std::ranges::max_element(logits) - logits.begin());
    const auto shorter = written(open, folder, text.substr(1), {3});
    CHECK(shorter->steps[0] != first->steps[0]);
    const auto wrong = open({view::GenerateText{folder, text, {3, 4000}}}, {});
    CHECK_FALSE(wrong);
    CHECK(written(open, folder, text, {3})->steps.size() == 2);
}

TEST_CASE("an encoder is refused, and the screen shows the reason in place of numbers") {
    const Scratch scratch;
    const auto [folder, text, image] = test::readable_model(scratch, "bert");
    view::AppState state = view::initial_state();
    view::play(state, {view::OpenFile{folder, text}, view::DocumentReady{}}, opener(backends()));
    view::apply(state, view::SetWorkspace{"generate"});
    view::answer_all(state, opener(backends()));
    const view::GenerateView view = view::build_generate_view(state);
    CHECK(view.cannot);
    CHECK(view.pending.starts_with("Bert gives no next token."));
    CHECK(view.headline.empty());
}

TEST_CASE("a model in the window writes, and its session writes on") {
    const Scratch scratch;
    const auto [folder, text, image] = test::readable_model(scratch, "gpt2");
    const view::Opener open = opener(backends());
    view::AppState state = view::initial_state();
    view::play(state, {view::OpenFile{folder, text}, view::DocumentReady{}}, open);
    view::apply(state, view::SetWorkspace{"generate"});
    for (int n = 0; n < 3; ++n) {
        view::answer_all(state, open);
        const auto next = view::next_of(state);
        REQUIRE(next);
        view::apply(state, *next);
    }
    view::answer_all(state, open);
    view::SessionContext context;
    context.open = open;
    view::AppState again =
        must(view::session_from_json(view::session_to_json(state), "session", context));
    view::answer_all(again, open);
    CHECK(view::taken_of(again) == view::taken_of(state));
    CHECK(view::taken_of(again).size() == 3);
    CHECK(view::build_generate_view(again).headline == view::build_generate_view(state).headline);
    CHECK(view::build_generate_view(again).strip->rows == 4);
}
