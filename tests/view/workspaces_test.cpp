#include "app/common/document/intervention_effects.h"
#include "app/common/map/actions.h"
#include "tests/view/probe_workspace.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

AppState state_with_probe() {
    AppState state = initial_state();
    state.workspaces = test::workspaces_with_probe();
    return state;
}

bool lists(const std::vector<Command>& list, std::string_view text) {
    return std::ranges::any_of(list, [&](const Command& each) { return each.text == text; });
}

}  // namespace

TEST_CASE("a workspace that is registered is entered by its key and found by its words") {
    const AppState state = state_with_probe();
    for (const Command& command : commands(state))
        if (command.text == "Probe workspace") {
            CHECK(to_string(command.chord) == "5 P");
            CHECK(after(state, {command.action}).message.text == "in the probe");
        }
    CHECK(lists(commands(state), "Probe workspace"));
    CHECK(lists(find_commands(state, "probe"), "Probe workspace"));
    CHECK_FALSE(lists(commands(initial_state()), "Probe workspace"));
}

TEST_CASE("the shown workspace brings commands, escape, clearing, inspector and movement") {
    const AppState state = after(state_with_probe(), {SetWorkspace{"probe"}});
    CHECK(lists(commands(state), "Probe deeper"));
    CHECK_FALSE(lists(commands(state), "Next stage"));
    CHECK(is_animating(state));
    CHECK(after(state, {ClearSelection{}}).message.text == "cleared");
    CHECK(after(state, {CopyArithmetic{CopyAs::text}}).effects.clipboard == "probed");
    for (const Command& command : commands(state))
        if (command.chord.key == Key::escape) CHECK(command.action.is<Quit>());
}

TEST_CASE("a figure is named after what is shown") {
    const auto asked = [](const AppState& state, std::string_view workspace) {
        const AppState there = after(state, {SetWorkspace{std::string(workspace)},
                                             ShowPrompt{PromptKind::figure, "", false}});
        REQUIRE(there.prompt);
        return there.prompt->path;
    };
    CHECK(asked(state_with_probe(), "probe") == "probed.svg");
    CHECK(asked(state_with_probe(), "large") == "large.svg");
    CHECK(asked(after(state_with_probe(), {GoToStage{Stage::weights}}), "step") == "weights.svg");
}

TEST_CASE("a session holds the part of every workspace and goes back to the one that was shown") {
    const AppState state =
        after(state_with_probe(), {SetSeed{3}, SetSeed{4}, SetWorkspace{"probe"}});
    const std::string text = session_to_json(state);
    CHECK(has(text, "\"probe\": {\"depth\":2}"));
    const SessionContext context{.workspaces = test::workspaces_with_probe()};
    const auto read = session_from_json(text, "session", context);
    REQUIRE(read);
    CHECK(shown_workspace(*read).key == "probe");
    CHECK(read->message.text == "depth 2");
    const auto refused = session_from_json(text, "session");
    REQUIRE_FALSE(refused);
    CHECK(has(refused.error().text(), "expected " + workspace_keys(workspaces())));
}

TEST_CASE("a key that no workspace has is refused with the keys there are") {
    const AppState state = after(state_with_probe(), {SetWorkspace{"cellar"}});
    CHECK(state.message.text == "There is no workspace 'cellar': expected " +
                                    workspace_keys(test::workspaces_with_probe()) + ".");
    CHECK(state.workspace == "step");
    const std::string keys = workspace_keys(workspaces());
    CHECK(keys.starts_with("step, masks, positions, lookup, saturation, "));
    CHECK(keys.ends_with(", verify, cost or exercises"));
    CHECK(std::ranges::count(keys, ',') == std::ssize(workspaces()) - 2);
}

TEST_CASE("workspaces stand group by group, each letter once a group; both names go there") {
    for (std::size_t n = 1; n < workspaces().size(); ++n) {
        const WorkspaceInfo& row = *workspaces()[n];
        CHECK(row.group >= workspaces()[n - 1]->group);
        CHECK(std::ranges::count_if(workspaces(), [&](const WorkspaceInfo* other) {
                  return chord_of(*other) == chord_of(row);
              }) == 1);
    }
    for (const auto& [name, key] : {std::pair{"map", "large"}, {"variants", "kinds"}}) {
        CHECK(after(initial_state(), {SetWorkspace{name}}).workspace == key);
        CHECK(after(initial_state(), {SetWorkspace{key}}).workspace == key);
    }
}

TEST_CASE("going from Step to Large and back keeps the pair that was looked at") {
    const CellRef pair{Stage::scores, 2, 1};
    AppState state =
        after(initial_state(), {GoToStage{Stage::scores}, SelectCell{pair}, SetWorkspace{"large"}});
    CHECK(map_look(state).selected == large::Cell{2, 1});
    state = after(std::move(state), {SelectMapCell{{3, 0}}, SetWorkspace{"step"}});
    CHECK(state.selected == CellRef{Stage::scores, 3, 0});
}
