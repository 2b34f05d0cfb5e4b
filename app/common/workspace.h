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
#include "app/common/state.h"
#include "core/train/run.h"

namespace attn::view {

class Fields;
struct SessionReader;
struct SetWorkspace;

/// What workspaces are for, in the order of learning. A digit each.
enum class Group : std::uint8_t { compute, why, models, variants, check };
inline constexpr std::string_view kGroupNames[] = {"Compute", "Why", "Models", "Variants", "Check"};
Key digit_of(Group group);

/// A picture that `render --all` draws.
struct Shot {
    std::string_view name;  // after the workspace's key: "step-<name>-dark.png"; "": key alone
    Actions actions;        // from the first launch, within the workspace
};

/// What `render` times: a slider or the map is pulled; or the stages are gone through.
enum class Movement : std::uint8_t { drag, step };

/// What a workspace keeps in the state: a described value of AppState::looks, or of Edit::controls, which undo covers.
struct KeptValue {
    const SlotType* type;
    bool undone = false;
};
template <class T>
constexpr KeptValue kept(const Look<T>&) {
    return {&kSlotType<T>};
}
template <class T>
constexpr KeptValue kept(const Controls<T>&) {
    return {&kSlotType<T>, true};
}

/// All that a workspace is to the rest: rail, keys, F1, Ctrl+K, sessions, journals, `--workspace`, `render --all`, jobs and
/// tests loop over these rows. A row stands in workspace.cpp of its folder, which the list of app/workspaces names; what it
/// looks like in its twin (draw/workspace.h). A member that is left out does nothing.
struct WorkspaceInfo {
    std::string_view key;        // sessions, journals, command line, file names
    std::string_view also = {};  // what the command line calls it, where that is another word
    std::string_view title;      // on the rail, in help and palette
    std::string_view tip;        // what it is for, one sentence
    Group group;
    Key letter;                              // goes there, after the group's digit
    bool shows_document = false;             // a document that was opened may be shown here
    bool shows_first = false;                // before the others, where the shown one cannot
    ActionTypes actions = {};                // that it brings
    std::span<const KeptValue> values = {};  // that a session has of it, where `write` is left out
    std::span<const RequestKind> requests = {};
    /// Why it cannot show the present document; "": it can.
    std::string (*lacks)(const AppState& state) = [](const AppState&) { return std::string(); };
    /// It was chosen: brings the shared selection along, and says what can be done here.
    void (*enter)(AppState& state) = [](AppState&) {};
    /// Another one, or this one anew, was chosen: what is of the moment ends. Called of every workspace.
    void (*leave)(AppState& state) = [](AppState&) {};
    void (*add_commands)(std::vector<Command>& list,
                         const AppState& state) = [](std::vector<Command>&, const AppState&) {};
    /// Commands that it offers while any workspace is shown, in the view of what stands in the list already.
    void (*add_commands_everywhere)(std::vector<Command>& list, const AppState& state) =
        [](std::vector<Command>&, const AppState&) {};
    /// What Esc closes here; nullopt: nothing is open.
    std::optional<Action> (*escape)(const AppState& state) = [](const AppState&) {
        return std::optional<Action>();
    };
    /// A field that it draws itself is typed into.
    bool (*is_typing)(const AppState& state) = [](const AppState&) { return false; };
    /// Drops the selection.
    void (*clear)(AppState& state) = [](AppState&) {};
    /// Brings what it shows back inside what the present document has.
    void (*settle)(AppState& state) = [](AppState&) {};
    /// Drops what it showed of the document that was left for another; settle() follows.
    void (*forget)(AppState& state) = [](AppState&) {};
    /// A stage was gone to, `from` another one or the same: of every workspace.
    void (*arrive)(AppState& state, Stage from) = [](AppState&, Stage) {};
    /// Before an action is carried out, of every workspace: what another one ends, such as typing.
    void (*before)(AppState& state, const Action& action) = [](AppState&, const Action&) {};
    /// After every action and once a session was read, of every workspace: what it shows follows what changed.
    void (*follow)(AppState& state) = [](AppState&) {};
    /// A session took the place of what was open: `was` has what is of this machine, not of a session.
    void (*restored)(AppState& state, const AppState& was) = [](AppState&, const AppState&) {};
    /// A document is to be opened and shown here: why not yet; "": it may be, and what stands here now is kept beside it.
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
    /// What is done when so much of a movement, 0 … 1, is over; nullopt: there is nothing here to move so.
    std::optional<Action> (*moved)(const AppState& state, Movement movement, double part) =
        [](const AppState&, Movement, double) { return std::optional<Action>(); };
    /// What the clock has made due: ordinary, journaled actions, so that a replay needs no clock.
    Actions (*due)(const AppState& state) = [](const AppState&) { return Actions(); };
    /// How far its request of that name is, 0 … 1.
    void (*progress)(AppState& state, std::string_view request,
                     double done) = [](AppState&, std::string_view, double) {};
    /// Whether an inspector stands at the right.
    bool (*has_side)(const AppState& state) = [](const AppState&) { return false; };
    /// Of the selected cell; empty where there is none.
    InspectorView (*inspector)(const AppState& state) = [](const AppState&) {
        return InspectorView();
    };
    /// Its part of a session, where that is more than `values`: an object, read back by `read` when the document is there.
    void (*write)(Visitor& part, const AppState& state) = nullptr;
    void (*read)(Fields& fields, AppState& state) = nullptr;
    /// Lines of a session's file beside those parts, each ending with ",\n"; `folder`: where it will lie.
    std::string (*write_beside)(const AppState& state, const std::filesystem::path& folder) =
        [](const AppState&, const std::filesystem::path&) { return std::string(); };
    /// Reads them back, before the parts.
    void (*read_beside)(const SessionReader& session) = [](const SessionReader&) {};
    /// What was trained here, as it is saved: A, and B where there is one. Empty before the first step.
    std::vector<train::Run> (*runs)(const AppState& state) = [](const AppState&) {
        return std::vector<train::Run>();
    };
    bool (*is_animating)(const AppState& state) = [](const AppState&) { return false; };
    /// Nothing of what is shown is still to come, but for the exact pass of a map. Null: where it requests nothing.
    bool (*has_settled)(const AppState& state) = nullptr;
    /// The name that a figure of it is given unless the person types another, without extension. Null: its key.
    std::string (*figure_name)(const AppState& state) = nullptr;
    /// A file of results is to be checked here. Null: none can be.
    void (*check)(AppState& state, const std::string& path) = nullptr;
    /// What of the checked results is not as expected, one sentence; "": all is, or none are here.
    std::string (*differs)(const AppState& state) = [](const AppState&) { return std::string(); };
    std::vector<Shot> (*shots)() = [] { return std::vector<Shot>{{"", {}}}; };
    /// What the mouse does here, a sentence each, for help.
    std::span<const std::string_view> mouse = {};
};

/// Row of the workspace that is shown.
const WorkspaceInfo& shown_workspace(const AppState& state);
/// "2 S".
Chord chord_of(const WorkspaceInfo& workspace);
/// The first of a group; nullptr where it is empty.
const WorkspaceInfo* first_of(WorkspaceList among, Group group);
/// By its key or by what the command line calls it; nullptr when there is none.
const WorkspaceInfo* find_workspace(WorkspaceList among, std::string_view key);
/// "step, saturation or map".
std::string workspace_keys(WorkspaceList among);
/// Where the shown workspace cannot show the document, goes to the first that can.
void leave_lacking_workspace(AppState& state);
/// The action that goes there.
SetWorkspace go_to(const WorkspaceInfo& workspace);
bool has_settled(const WorkspaceInfo& workspace, const AppState& state);
std::string figure_name(const WorkspaceInfo& workspace, const AppState& state);

}  // namespace attn::view
