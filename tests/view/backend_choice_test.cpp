// Backends that core does not know: chosen by name, without gradients of their own, and failing.

#include "app/common/document/document.h"
#include "app/common/document/requests.h"
#include "core/call.h"
#include "core/train/run.h"
#include "tests/support/backends.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// What staged computes, forward only, while `works`.
class Card final : public test::LikeStaged {
  public:
    explicit Card(bool device = false) : device_(device) {}
    bool has_device() const override { return device_; }
    std::optional<std::string> unavailable() const override {
        if (plugged) return std::nullopt;
        return "there is no card";
    }
    std::string_view name() const override { return "card"; }
    bool has_backward() const override { return false; }
    Result<Trace> forward(const Call& call, StageSet keep,
                          const RunControl& control) const override {
        if (!works) return failed("the card was pulled");
        return LikeStaged::forward(call, keep, control);
    }

    bool works = true;
    bool plugged = true;

  private:
    bool device_;
};

/// Staged, which counts its backward passes; the last number of them that it can do.
class Counting final : public test::LikeStaged {
  public:
    std::string_view name() const override { return "counting"; }
    Result<Trace> backward(const Call& call, const Trace& forward, const Upstream& upstream,
                           const RunControl& control) const override {
        if (++passes > most) return failed("there is no memory for gradients");
        return LikeStaged::backward(call, forward, upstream, control);
    }

    mutable int passes = 0;
    int most = 100;
};

/// A first launch with staged and `card` to choose from.
struct Desk {
    explicit Desk(const Backend& card) : list{find_backend("staged"), &card} {
        state.backends = list;
    }
    const Backend* list[2];
    AppState state = initial_state();
};

const Command& card_command(const std::vector<Command>& list) {
    return *std::ranges::find(list, "Compute with the backend card", &Command::text);
}

}  // namespace

TEST_CASE("a backend of main's own is chosen by name, and its gradients come from another") {
    const Card card;
    const Desk desk(card);
    const AppState& state = desk.state;
    const AppState chosen = after(state, {SetBackend{"card"}});
    CHECK(chosen.backend_used == "card");
    CHECK(chosen.message.text == "Computed by the backend card.");
    CHECK((*chosen.gradients)[Stage::scores] == (*state.gradients)[Stage::scores]);
    CHECK(std::ranges::count(commands(state), "Compute with the backend card", &Command::text) ==
          1);
    CHECK(reopened(chosen, {.backends = desk.list}).backend_used == "card");
}

TEST_CASE("gradients are computed when they are asked for, and once") {
    Counting backend;
    const Desk desk(backend);
    AppState state = after(desk.state, {SetBackend{"counting"}, SetCausal{true}, Undo{}, Redo{},
                                        SetWorkspace{"heads"}});
    CHECK(state.backend_used == "counting");
    CHECK(state.gradients_by == "counting");
    CHECK(backend.passes == 0);
    const AppState copy = state;
    CHECK((*state.gradients)[Stage::q].shape() == (*state.trace)[Stage::q].shape());
    CHECK(gradient_of(copy, Stage::q).rows == 4);
    CHECK(backend.passes == 1);
    const auto expected = attend_backward(*state.document().inputs, state.document().spec,
                                          *state.trace, {}, "staged");
    CHECK((state.gradients->params[Param::w_q] == expected->params[Param::w_q]));
    state = after(state, {SetWorkspace{"step"}, ShowGradients{true}});
    CHECK(backend.passes == 1);
    state = after(state, {SetCausal{false}});  // they are shown: at once
    CHECK(backend.passes == 2);
    CHECK(after(state, {ShowGradients{false}, SetCausal{true}}).show_gradients == false);
    CHECK(backend.passes == 2);
}

TEST_CASE("gradients that cannot be computed are not shown, and values stay") {
    Counting backend;
    const Desk desk(backend);
    AppState state = after(desk.state, {SetBackend{"counting"}});
    backend.most = 0;
    acted(state, {ShowGradients{true}});
    CHECK_FALSE(state.show_gradients);
    CHECK(state.message.text == "There is no memory for gradients.");
    CHECK(state.message.severity == Severity::error);
    CHECK((*state.gradients)[Stage::q].empty());
    CHECK_FALSE(gradient_at(state, {Stage::q, 0, 0}));
    CHECK((*state.trace)[Stage::q].shape().t == 4);
}

TEST_CASE("a chosen backend that fails is left for another, with its reason; the edit is kept") {
    Card card;
    const Desk desk(card);
    AppState state = after(desk.state, {SetBackend{"card"}});
    const std::string session = session_to_json(state);
    card.works = false;
    CHECK(acted(state, {SetCausal{true}}).document().spec.mask.causal);
    CHECK(state.backend == "auto");
    CHECK(state.message.text == "The card was pulled; computed by staged instead.");
    CHECK(state.message.severity == Severity::warning);
    CHECK(acted(state, {SetCausal{false}}).message.severity == Severity::info);
    const AppState opened = session_from_json(session, "s", {.backends = desk.list}).value();
    CHECK(opened.backend_used == "staged");
    CHECK(opened.message.severity == Severity::warning);
}

TEST_CASE("until a backend with a device has answered, auto's numbers are shown") {
    const Card card(true);
    Desk desk(card);
    AppState state = after(desk.state, {SetBackend{"card"}});
    CHECK(state.backend_used == "staged");
    CHECK(state.message.text ==
          "The backend card is computing. Until it finishes, the screen shows the numbers of "
          "staged.");
    CHECK(computed_text(state).ends_with("ms · card is computing"));
    const auto request = requested_trace(state);
    REQUIRE(request);
    CHECK(request->document == state.shared_document());
    CHECK(acted(state, {run(*request, {})}).backend_used == "card");
    CHECK(computed_text(state).starts_with("card · float32 · "));
    CHECK(computed_text(state).ends_with(" ms · gradients by staged"));
    CHECK((*state.trace)[Stage::weights] == (*desk.state.trace)[Stage::weights]);
    CHECK_FALSE(requested_trace(state));
}

TEST_CASE("every edit, undo and redo makes its own request; a late answer changes no numbers") {
    const Card card(true);
    Desk desk(card);
    AppState state = after(desk.state, {SetBackend{"card"}});
    const auto first = requested_trace(state);
    CHECK(requested_trace(acted(state, {SetCausal{true}})) != first);
    CHECK(acted(state, {run(*first, {})}).backend_used == "staged");
    answer_all(state);
    CHECK(state.backend_used == "card");
    CHECK(requested_trace(acted(state, {Undo{}})) == first);
    CHECK(state.backend_used == "staged");
    const auto late = run(*first, {});
    CHECK(acted(state, {SetBackend{"auto"}, late}).backend_used == "staged");
    CHECK_FALSE(requested_trace(state));
}

TEST_CASE("a slider that is pulled while a device computes is still one undo step") {
    const Card card(true);
    Desk desk(card);
    AppState state = after(desk.state, {SetBackend{"card"}, BeginGesture{}});
    for (const double temperature : {0.5, 0.7, 0.9}) {
        state = after(state, {SetTemperature{temperature}});
        state = after(state, {run(*requested_trace(state), {})});
        CHECK(state.backend_used == "card");
    }
    CHECK(state.now == 1);
}

TEST_CASE("a device that fails is left for auto with its reason, and auto's numbers stay") {
    Card card(true);
    Desk desk(card);
    AppState state = after(desk.state, {SetBackend{"card"}});
    card.works = false;
    const auto shown = state.trace;
    answer_all(state);
    CHECK(state.trace == shown);
    CHECK(state.backend == "auto");
    CHECK(state.message.text == "The card was pulled; computed by staged instead.");
    CHECK(state.message.severity == Severity::warning);
    CHECK(card_command(commands(state)).enabled);  // one call failed: another may not
}

TEST_CASE("a device that cannot run here stays in the palette, greyed, with its reason") {
    Card card(true);
    card.plugged = false;
    Desk desk(card);
    CHECK(card_command(commands(desk.state)).enabled);
    AppState state = after(desk.state, {ShowPalette{true}});
    const auto request = requested_trace(state);
    REQUIRE(request);
    CHECK_FALSE(request->document);
    answer_all(state);
    CHECK(state.message.text == desk.state.message.text);
    state = after(state, {SetPaletteQuery{"backend card"}});
    const std::vector<Command> found = find_commands(state, "backend card");
    CHECK_FALSE(card_command(found).enabled);
    CHECK(card_command(found).why_not == "cannot run here: there is no card");
    state = after(state, chosen(found.at(state.palette_row)));
    CHECK_FALSE(state.show_palette);
    CHECK(state.backend == "auto");
    REQUIRE(state.notice);
    CHECK(state.notice->text == "Compute with the backend card: cannot run here: there is no card");
    CHECK(state.notice->severity == Severity::warning);
    answer_all(state = after(state, {SetBackend{"card"}}));
    CHECK(state.backend == "auto");
    CHECK(state.message.text ==
          "The backend card cannot run here: there is no card; computed by staged instead.");
}

TEST_CASE("a session with a device's backend requests its trace again") {
    const Card card(true);
    Desk desk(card);
    answer_all(desk.state = after(desk.state, {SetBackend{"card"}}));
    AppState opened = reopened(desk.state, {.backends = desk.list});
    CHECK(opened.backend_used == "staged");
    answer_all(opened);
    CHECK(opened.backend_used == "card");
}
