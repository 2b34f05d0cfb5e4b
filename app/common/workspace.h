#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/action.h"
#include "app/common/command.h"
#include "app/common/inspector.h"
#include "app/common/request.h"
#include "app/common/slots.h"
#include "app/common/workspace_list.h"
#include "core/train/run.h"

namespace attn::view {

class Fields;
struct Opened;
struct OpenRequest;
struct SessionReader;
struct SetWorkspace;

/// Sections of the rail, in the order of learning. Each has a digit.
enum class Group : std::uint8_t { attention, why, model, compare, check };
inline constexpr std::string_view kGroupNames[] = {"Attention", "Why ÷√dₖ", "Model", "Compare",
                                                   "Check"};
Key digit_of(Group group);

/// A picture that `render --all` draws.
struct Shot {
    std::string_view name;  // after the workspace's key: "step-<name>-dark.png"; "": key alone
    Actions actions;        // from the first launch, within the workspace
};

/// Movements that `render` times: dragging a slider or the map, or stepping through the stages.
enum class Movement : std::uint8_t { drag, step };

/// A value that a workspace has in the state: a described value of AppState::looks, or of Edit::controls, which undo covers.
struct PersistedValue {
    const SlotType* type;
    bool undone = false;
};
template <class T>
constexpr PersistedValue persisted(const Look<T>&) {
    return {&kSlotType<T>};
}
template <class T>
constexpr PersistedValue persisted(const Controls<T>&) {
    return {&kSlotType<T>, true};
}

/// All that a workspace is to the rest: rail, keys, F1, Ctrl+K, sessions, journals, `--workspace`, `render --all`, jobs and
/// tests loop over these rows. A row is in workspace.cpp of its folder, which the list of app/workspaces names; its
/// drawing is in draw/workspace.h. A member that is left out does nothing.
struct WorkspaceInfo {
    std::string_view key;        // sessions, journals, command line, file names
    std::string_view also = {};  // its name on the command line, where that is another word
    std::string_view title;      // on the rail, in help and palette
    std::string_view tip;        // its purpose, one sentence
    Group group;
    Key letter;                   // goes there, after the group's digit
    Chord former = {};            // keys that went there before
    bool at_bottom = false;       // of the rail, apart from the others of its group
    bool shows_document = false;  // a document that was opened may be shown here
    bool shows_first = false;     // before the others, where the shown one cannot
    ActionTypes actions = {};     // that it brings
    std::span<const PersistedValue> values =
        {};  // that a session has of it, where `write` is left out
    std::span<const RequestKind> requests = {};
    /// Why it cannot show the present document; "": it can.
    std::string (*missing_data)(const AppState& state) = [](const AppState&) {
        return std::string();
    };
    /// Called when it is chosen: takes over the shared selection, and shows a hint of the possible actions.
    void (*enter)(AppState& state) = [](AppState&) {};
    /// Called for every workspace when one is chosen: ends transient state.
    void (*leave)(AppState& state) = [](AppState&) {};
    void (*add_commands)(std::vector<Command>& list,
                         const AppState& state) = [](std::vector<Command>&, const AppState&) {};
    /// Commands that it offers while any workspace is shown; `list` has the earlier ones.
    void (*add_commands_everywhere)(std::vector<Command>& list, const AppState& state) =
        [](std::vector<Command>&, const AppState&) {};
    /// The action of Esc here; nullopt: nothing is open.
    std::optional<Action> (*escape)(const AppState& state) = [](const AppState&) {
        return std::optional<Action>();
    };
    /// A field that it draws itself is typed into.
    bool (*is_typing)(const AppState& state) = [](const AppState&) { return false; };
    /// Drops the selection.
    void (*clear)(AppState& state) = [](AppState&) {};
    /// Moves selections and scroll positions back inside the present document.
    void (*clamp_to_document)(AppState& state) = [](AppState&) {};
    /// Drops results of the previous document; settle() is called next.
    void (*clear_cache)(AppState& state) = [](AppState&) {};
    /// A stage was gone to, `from` another one or the same: of every workspace.
    void (*arrive)(AppState& state, Stage from) = [](AppState&, Stage) {};
    /// Called for every workspace before an action is carried out: ends what the action interrupts, such as typing.
    void (*before)(AppState& state, const Action& action) = [](AppState&, const Action&) {};
    /// Called for every workspace after each action and after a session was read: updates derived state.
    void (*follow)(AppState& state) = [](AppState&) {};
    /// Called when a session replaced the open state: `was` has the values of this machine, which are not in a session.
    void (*restored)(AppState& state, const AppState& was) = [](AppState&, const AppState&) {};
    /// Returns why a document cannot be opened and shown here yet; "": it can, and the present one is kept next to it.
    std::string (*refuses)(AppState& state, const OpenRequest& request) =
        [](AppState&, const OpenRequest&) { return std::string(); };
    /// Something was opened that is not only a document.
    void (*opened)(AppState& state, const Opened& opened) = [](AppState&, const Opened&) {};
    /// The mouse took hold of something, or let go of it.
    void (*gesture)(AppState& state) = [](AppState&) {};
    /// Time passed, of every workspace.
    void (*tick)(AppState& state, double seconds) = [](AppState&, double) {};
    /// For a picture: what moves has arrived, and how long something took is left out.
    void (*still)(AppState& state) = [](AppState&) {};
    /// The action at this part of a movement, 0 … 1; nullopt: the workspace does not have the movement.
    std::optional<Action> (*moved)(const AppState& state, Movement movement, double part) =
        [](const AppState&, Movement, double) { return std::optional<Action>(); };
    /// Actions that are due by the clock: ordinary, journaled ones, so that a replay needs no clock.
    Actions (*due)(const AppState& state) = [](const AppState&) { return Actions(); };
    /// The actions that open an example, where the document has nothing to show here. Carried out once, and only if the document
    /// was not changed; undo goes back.
    Actions (*example)(const AppState& state) = [](const AppState&) { return Actions(); };
    /// How far its request of that name is, 0 … 1.
    void (*progress)(AppState& state, std::string_view request,
                     double done) = [](AppState&, std::string_view, double) {};
    /// The reasons of its headline, cause before effect, a sentence or two each. ⓘ shows them.
    std::vector<std::string> (*reasons)(const AppState& state) = [](const AppState&) {
        return std::vector<std::string>();
    };
    /// Whether an inspector is shown at the right.
    bool (*has_side)(const AppState& state) = [](const AppState&) { return false; };
    /// The inspector of the selected cell; empty without a selection.
    InspectorView (*inspector)(const AppState& state) = [](const AppState&) {
        return InspectorView();
    };
    /// Its part of a session, where that is more than `values`: an object, read back by `read` when the document is there.
    void (*write)(Visitor& part, const AppState& state) = nullptr;
    void (*read)(Fields& fields, AppState& state) = nullptr;
    /// Further lines of a session's file, each ending with ",\n"; `folder`: where it will lie.
    std::string (*write_beside)(const AppState& state, const std::filesystem::path& folder) =
        [](const AppState&, const std::filesystem::path&) { return std::string(); };
    /// Reads them back, before the parts.
    void (*read_beside)(const SessionReader& session) = [](const SessionReader&) {};
    /// The training runs as they are saved: A, and B if it exists. Empty before the first step.
    std::vector<train::Run> (*runs)(const AppState& state) = [](const AppState&) {
        return std::vector<train::Run>();
    };
    bool (*is_animating)(const AppState& state) = [](const AppState&) { return false; };
    /// True when every requested result has arrived, except the exact pass of a map. Null: the workspace requests nothing.
    bool (*is_idle)(const AppState& state) = nullptr;
    /// The name that a figure of it is given unless the person types another, without extension. Null: its key.
    std::string (*figure_name)(const AppState& state) = nullptr;
    /// A file of results is to be checked here. Null: none can be.
    void (*check)(AppState& state, const std::string& path) = nullptr;
    /// The difference between the checked and the expected results, one sentence; "": none, or no results were checked.
    std::string (*differs)(const AppState& state) = [](const AppState&) { return std::string(); };
    std::vector<Shot> (*shots)() = [] { return std::vector<Shot>{{"", {}}}; };
    /// The effects of the mouse here, a sentence each, for help.
    std::span<const std::string_view> mouse = {};
};

/// Row of the workspace that is shown.
const WorkspaceInfo& shown_workspace(const AppState& state);
/// "2 S".
Chord chord_of(const WorkspaceInfo& workspace);
/// The first of a group; nullptr where it is empty.
const WorkspaceInfo* first_of(WorkspaceList among, Group group);
/// Finds a workspace by its key or its name on the command line; nullptr if none matches.
const WorkspaceInfo* find_workspace(WorkspaceList among, std::string_view key);
/// "step, saturation or map".
std::string workspace_keys(WorkspaceList among);
/// Where the shown workspace cannot show the document, goes to the first that can.
void leave_unavailable_workspace(AppState& state);
/// The action that goes there.
SetWorkspace go_to(const WorkspaceInfo& workspace);
bool is_idle(const WorkspaceInfo& workspace, const AppState& state);
std::string figure_name(const WorkspaceInfo& workspace, const AppState& state);

}  // namespace attn::view
