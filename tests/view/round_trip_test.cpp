// Every described field of every workspace, set to another value, survives saving and opening: in the state and on screen.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "app/common/describe_json.h"
#include "app/common/workspace.h"
#include "app/window/session.h"
#include "tests/support/round_trip.h"

using namespace attn;
using namespace attn::view;
using namespace attn::test;
using nlohmann::json, nlohmann::ordered_json;

namespace {

/// All that the described values of a workspace say.
json retained_of(AppState state, const WorkspaceInfo& workspace) {
    auto all = ordered_json::object();
    JsonWriter writer(all, None::null);
    for (const PersistedValue& retained : workspace.values)
        retained.type->describe(writer, slots_of(state, retained).edit(*retained.type));
    return all;
}

/// What is brought to another value on purpose: to a power of two, to a stage that the document has, to a layer of the run; a
/// path is made absolute.
constexpr std::pair<std::string_view, std::string_view> kBrought[] = {{"lookup", "width"},
                                                                      {"compare", "stage"},
                                                                      {"learn", "layer"},
                                                                      {"learn", "head"},
                                                                      {"verify", "file"}};

}  // namespace

TEST_CASE("every described field of every workspace survives saving and opening") {
    const AppState first = initial_state();
    std::size_t refused = 0;
    const auto all = every_field_changed(first);
    for (const Changed& changed : all) {
        INFO("changed.workspace->key ", changed.workspace->key, ", changed.field ", changed.field);
        const std::string text = session_to_json(changed.state);
        if (const auto read = session_from_json(text, "session.json"); !read) {
            // a value that cannot be alone is refused with its name
            CHECK(read.error().text().find("session.json") != std::string::npos);
            ++refused;
            continue;
        }
        if (std::ranges::any_of(kBrought, [&](const auto& each) { return changed.is(each); }))
            continue;
        CHECK(retained_of(opened(text, first), *changed.workspace) ==
              retained_of(changed.state, *changed.workspace));
    }
    MESSAGE(all.size() << " fields, of which " << refused << " values are refused");
    CHECK(all.size() >= 60);
    CHECK(refused * 3 < all.size());
}
