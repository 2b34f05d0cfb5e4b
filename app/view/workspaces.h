#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/view/common/inspector.h"
#include "app/view/window/commands.h"

namespace attn::view {

class Fields;

// THE table of workspaces. One row is all that a workspace is to the rest: rail, keys, F1, Ctrl+K, sessions,
// `--workspace`, `render --all`, the gallery and the tests are made from it. A row stands in workspace.h of its
// folder; app/ui/workspaces.h has its twin with icon and drawing.
// For whoever includes this: link attn::json too; who reads or writes includes common/fields.h.

/// A picture that `render --all` draws.
struct Shot {
    std::string_view
        name;         // after the workspace's key: "step-<name>-dark.png"; "": "step-dark.png"
    Actions actions;  // from the first launch, within the workspace
};

struct WorkspaceInfo {
    Workspace id;
    std::string_view key;    // sessions, journals, command line, file names
    std::string_view title;  // on the rail, in help and palette
    std::string_view tip;    // what it is for, one sentence
    Key digit;               // goes there
    bool shows_document;     // a document that was opened may be shown here
    /// Why it cannot show the present document; "": it can.
    std::string (*lacks)(const AppState& state);
    /// It was chosen: brings the shared selection along, and says what can be done here.
    void (*enter)(AppState& state);
    void (*add_commands)(std::vector<Command>& list, const AppState& state);
    /// What Esc closes here; nullopt: nothing is open.
    std::optional<Action> (*escape)(const AppState& state);
    /// Drops the selection.
    void (*clear)(AppState& state);
    /// Brings what it shows back inside what the present document has.
    void (*settle)(AppState& state);
    /// Drops what it showed of the document that was left for another; settle() follows.
    void (*forget)(AppState& state);
    /// Whether an inspector stands at the right.
    bool (*has_side)(const AppState& state);
    /// Of the selected cell; empty where there is none.
    InspectorView (*inspector)(const AppState& state);
    /// Its part of a session: an object, read back by `read`. Called when the document is there.
    nlohmann::ordered_json (*write)(const AppState& state);
    void (*read)(Fields& fields, AppState& state);
    bool (*is_animating)(const AppState& state);
    /// Nothing of what is shown is still to come, but for the exact pass of a map.
    bool (*has_settled)(const AppState& state);
    /// The name that a figure of it is given unless the person types another, without extension.
    std::string (*figure_name)(const AppState& state);
    std::vector<Shot> (*shots)();
    /// What the mouse does here, a sentence each, for help.
    std::span<const std::string_view> mouse = {};
};

/// Row of the workspace that is shown.
const WorkspaceInfo& shown_workspace(const AppState& state);
/// nullptr when there is none of that key.
const WorkspaceInfo* find_workspace(WorkspaceList among, std::string_view key);
/// "step, saturation or large".
std::string workspace_keys(WorkspaceList among);
/// Where the shown workspace cannot show the document, goes to the first that can.
void leave_lacking_workspace(AppState& state);
/// The action that goes there.
SetWorkspace go_to(const WorkspaceInfo& workspace);

}  // namespace attn::view
