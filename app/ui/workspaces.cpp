#include "app/ui/workspaces.h"

#include <array>

namespace attn::ui {
namespace {

using view::Workspace;

constexpr std::array<WorkspacePanel, 3> kPanels{{
    {Workspace::step, draw_step_icon, draw_step_workspace},
    {Workspace::saturation, draw_saturation_icon, draw_saturation_workspace},
    {Workspace::large, draw_large_icon, draw_large_workspace},
}};

consteval bool in_order() {
    for (std::size_t n = 0; n < kPanels.size(); ++n)
        if (kPanels[n].id != static_cast<Workspace>(n)) return false;
    return true;
}
static_assert(kPanels.size() == view::kWorkspaceCount && in_order(),
              "a panel for each Workspace, in its order");

}  // namespace

PanelList workspace_panels() { return kPanels; }

}  // namespace attn::ui
