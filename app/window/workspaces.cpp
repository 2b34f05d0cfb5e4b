#include "app/common/workspace.h"

#include <algorithm>

#include "app/common/actions.h"

namespace attn::view {

const WorkspaceInfo& shown_workspace(const AppState& state) {
    return *find_workspace(state.workspaces, state.workspace);
}

const WorkspaceInfo* find_workspace(WorkspaceList among, std::string_view key) {
    const auto found = std::ranges::find(among, key, &WorkspaceInfo::key);
    return found == among.end() ? nullptr : *found;
}

std::string workspace_keys(WorkspaceList among) {
    std::string keys;
    for (std::size_t n = 0; n < among.size(); ++n) {
        keys += n == 0 ? "" : n + 1 == among.size() ? " or " : ", ";
        keys += among[n]->key;
    }
    return keys;
}

void leave_lacking_workspace(AppState& state) {
    const WorkspaceInfo& shown = shown_workspace(state);
    if (shown.shows_document && shown.lacks(state).empty()) return;
    const auto shows = [&](const WorkspaceInfo* row) {
        return row->shows_document && row->lacks(state).empty();
    };
    const auto found = std::ranges::find_if(state.workspaces, shows);
    if (found != state.workspaces.end()) state.workspace = (*found)->key;
}

SetWorkspace go_to(const WorkspaceInfo& workspace) { return {std::string(workspace.key)}; }

bool has_settled(const WorkspaceInfo& workspace, const AppState& state) {
    if (workspace.has_settled != nullptr) return workspace.has_settled(state);
    return std::ranges::none_of(workspace.requests, [&](const RequestKind& kind) {
        return kind.requested(state).has_value();
    });
}

std::string figure_name(const WorkspaceInfo& workspace, const AppState& state) {
    return workspace.figure_name ? workspace.figure_name(state) : std::string(workspace.key);
}

}  // namespace attn::view
