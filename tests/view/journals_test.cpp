// Random journals: every action that a journal can hold, with edge values in every field. Whatever is valid leaves a
// state that a second play gives again, to the byte, and that a session brings back.

#include "app/common/document/document.h"
#include "app/common/document/opened.h"
#include "app/common/map/actions.h"
#include "core/large/planted.h"
#include "tests/support/random_journal.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

#ifdef __SANITIZE_ADDRESS__  // an eighth of the speed
constexpr std::uint64_t kJournals = 250;
#else
constexpr std::uint64_t kJournals = 1000;
#endif

Result<Opened> open_planted(const OpenRequest& request, const RunControl& control) {
    const auto* spec = std::get_if<large::PlantedSpec>(&request.what);
    if (!spec) return bad_input("no files here");
    if (spec->tokens > 4096) return bad_input("too many tokens for a test");
    auto made = large::plant(*spec, control);
    if (!made) return tl::unexpected(made.error());
    Document document;
    document.origin = *spec;
    document.title = "planted";
    document.spec = made->source.spec;
    document.size = made->source.size;
    document.layers = {made->inputs};
    document.inputs = made->inputs;
    return Opened{std::make_shared<const Document>(std::move(document)), nullptr, {}};
}

bool has_nan(const AppState& state) {
    for (const Tensor& tensor : state.trace->stages)
        for (const float value : tensor.values())
            if (std::isnan(value)) return true;
    return false;
}

/// Scores beyond a float's range make NaN of their row, which is no fault.
bool is_huge(const AppState& state) {
    for (const Tensor& tensor : state.trace->stages)
        for (const float value : tensor.values())
            if (!(std::abs(value) < 1e18F)) return true;
    return state.document().spec.temperature < 1e-6;
}

}  // namespace

TEST_CASE("random journals over all actions and edge values give the same state twice") {
    std::size_t carried_out = 0;
    for (std::uint64_t seed = 0; seed < kJournals; ++seed) {
        CAPTURE(seed);
        const Actions actions = test::random_journal(seed);
        carried_out += actions.size();
        AppState first = initial_state();
        AppState second = initial_state();
        view::apply(second, SetMapCanvas{{1234.0, 321.0, 1.5}});  // another window
        play(first, actions, open_planted);
        Actions written;
        for (const Action& action : actions)
            written.push_back(from_journal(to_journal(action).value()).value());
        play(second, written, open_planted);
        const std::string text = session_to_json(first);
        REQUIRE(text == session_to_json(second));
        if (!is_huge(first)) CHECK_FALSE(has_nan(first));
        if (seed % 10 != 0) continue;
        const auto opened = session_from_json(text, "session", {.open = open_planted});
        if (!opened) MESSAGE(opened.error().text() << "\n" << text);
        REQUIRE(opened);
        CHECK(session_to_json(*opened) == text);
    }
    CHECK(carried_out > kJournals * 15);
}
