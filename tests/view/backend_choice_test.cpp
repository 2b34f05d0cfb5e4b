// Backends that core does not know: chosen by name, without gradients of their own, and failing.

#include <doctest/doctest.h>

#include <algorithm>

#include "app/view/actions.h"
#include "app/view/commands.h"
#include "app/view/session.h"
#include "core/engine.h"
#include "tests/view/sample_states.h"

using namespace attn;
using namespace attn::view;

namespace {

/// What staged computes, forward only, while `works`.
class Card final : public Backend {
  public:
    std::string_view name() const override { return "card"; }
    std::string_view description() const override { return "a card that can be pulled"; }
    StageSet stages() const override { return all_stages(); }
    bool has_backward() const override { return false; }
    Result<Trace> forward(const Inputs& inputs, const AttentionSpec& spec,
                          StageSet keep) const override {
        if (!works) return failed("the card was pulled");
        return find_backend("staged")->forward(inputs, spec, keep);
    }
    Result<Trace> backward(const Inputs&, const AttentionSpec&, const Trace&,
                           const Upstream&) const override {
        return no_backward(*this);
    }

    bool works = true;
};

}  // namespace

TEST_CASE("a backend of main's own is chosen by name, and its gradients come from another") {
    const Card card;
    const Backend* const list[] = {find_backend("staged"), &card};
    AppState state = initial_state();
    state.backends = list;
    const AppState chosen = after(state, {SetBackend{"card"}});
    CHECK(chosen.backend_used == "card");
    CHECK(chosen.message.words == "Computed by the backend card.");
    CHECK((*chosen.gradients)[Stage::scores] == (*state.gradients)[Stage::scores]);
    CHECK(std::ranges::count(commands(state), "Compute with the backend card", &Command::words) ==
          1);
    CHECK(session_from_json(session_to_json(chosen), "s", list)->backend_used == "card");
}

TEST_CASE(
    "a chosen backend that fails is left for another, with its reason, and the edit is kept") {
    Card card;
    const Backend* const list[] = {find_backend("staged"), &card};
    AppState state = initial_state();
    state.backends = list;
    state = after(state, {SetBackend{"card"}});
    const std::string session = session_to_json(state);
    card.works = false;
    state = after(state, {SetCausal{true}});
    CHECK(state.document().spec.mask.causal);
    CHECK(state.backend == "auto");
    CHECK(state.message.words == "the card was pulled; computed by staged instead");
    CHECK(state.message.severity == Severity::warning);
    state = after(state, {SetCausal{false}});
    CHECK(state.message.severity == Severity::info);
    const AppState opened = session_from_json(session, "s", list).value();
    CHECK(opened.backend_used == "staged");
    CHECK(opened.message.severity == Severity::warning);
}
