#include "app/view/workspaces.h"

#include <algorithm>
#include <array>

#include "app/view/compare/workspace.h"
#include "app/view/cost/workspace.h"
#include "app/view/gradients/workspace.h"
#include "app/view/heads/workspace.h"
#include "app/view/kinds/workspace.h"
#include "app/view/large/workspace.h"
#include "app/view/learn/workspace.h"
#include "app/view/lookup/workspace.h"
#include "app/view/masks/workspace.h"
#include "app/view/numerics/workspace.h"
#include "app/view/saturation/workspace.h"
#include "app/view/step/workspace.h"
#include "app/view/step_map.h"
#include "app/view/tensors/workspace.h"
#include "app/view/verify/workspace.h"

namespace attn::view {
namespace {

/// A room knows no other: what the map adds to Step is added here.
constexpr WorkspaceInfo with_map(WorkspaceInfo step) {
    step.inspector = inspector_of_step;
    step.add_commands = add_commands_of_step;
    return step;
}
constexpr WorkspaceInfo kStepWithMap = with_map(kStepWorkspace);
constexpr std::array kWorkspaces{&kStepWithMap,        &kSaturationWorkspace, &kLargeWorkspace,
                                 &kMasksWorkspace,     &kKindsWorkspace,      &kNumericsWorkspace,
                                 &kCostWorkspace,      &kHeadsWorkspace,      &kLookupWorkspace,
                                 &kCompareWorkspace,   &kTensorsWorkspace,    &kLearnWorkspace,
                                 &kGradientsWorkspace, &kVerifyWorkspace};

consteval bool in_order() {
    for (std::size_t n = 0; n < kWorkspaces.size(); ++n)
        if (kWorkspaces[n]->id != static_cast<Workspace>(n)) return false;
    return true;
}
static_assert(kWorkspaces.size() == kWorkspaceCount && in_order(),
              "a row for each Workspace, in its order");

}  // namespace

WorkspaceList workspaces() { return kWorkspaces; }

const WorkspaceInfo& shown_workspace(const AppState& state) {
    return *state.workspaces[static_cast<std::size_t>(state.workspace)];
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
    if (found != state.workspaces.end()) state.workspace = (*found)->id;
}

SetWorkspace go_to(const WorkspaceInfo& workspace) { return {std::string(workspace.key)}; }

}  // namespace attn::view
