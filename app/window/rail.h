#pragma once

#include <string>
#include <vector>

#include "app/common/action.h"
#include "app/common/set_field.h"
#include "app/common/slots.h"
#include "app/common/workspace.h"

namespace attn::view {

/// The rail at the left: sections of workspaces. A newcomer sees the first three.
struct RailLook {
    bool all_tools = false;  // every section, whatever is shown
    std::vector<std::string> examples =
        {};  // keys of workspaces that opened their example; transient
    bool operator==(const RailLook&) const = default;
};
inline constexpr Look<RailLook> rail_look;

using ShowAllTools = Put<rail_look, &RailLook::all_tools, "show_all_tools", "on">;
/// Opens the example of the shown workspace, which does so once.
struct OpenExample {
    static constexpr auto kJournalNames = journal_names("open_example");
};
/// Step, and under it the buttons of the first screen. The document stays.
struct ShowStart {
    static constexpr auto kJournalNames = journal_names("show_start");
};

using RailActions = ActionList<ViewActions<ShowAllTools, OpenExample, ShowStart>>;
template <ListedIn<RailActions> A>
inline constexpr Meta kMetaOf<A> = RailActions::kMeta<A>;

/// Whether the section is on the rail: it is among the first three, is open, or all are shown.
bool is_on_rail(const AppState& state, Group group);

/// Whether the shown workspace opens its example now: the document is unchanged, and no tour or lecture is on.
bool is_example_due(const AppState& state);

}  // namespace attn::view
