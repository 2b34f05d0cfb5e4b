#include "app/ui/workspaces.h"

#include <array>

namespace attn::ui {
namespace {

using view::Workspace;

constexpr std::array<WorkspacePanel, view::kWorkspaceCount> kPanels{{
    {Workspace::step, draw_step_icon, draw_step_workspace},
    {Workspace::saturation, draw_saturation_icon, draw_saturation_workspace},
    {Workspace::large, draw_large_icon, draw_large_workspace},
    {Workspace::masks, draw_masks_icon, draw_masks_workspace},
    {Workspace::kinds, draw_kinds_icon, draw_kinds_workspace},
    {Workspace::numerics, draw_numerics_icon, draw_numerics_workspace},
    {Workspace::cost, draw_cost_icon, draw_cost_workspace},
    {Workspace::heads, draw_heads_icon, draw_heads_workspace},
    {Workspace::lookup, draw_lookup_icon, draw_lookup_workspace},
    {Workspace::compare, draw_compare_icon, draw_compare_workspace},
    {Workspace::tensors, draw_tensors_icon, draw_tensors_workspace},
    {Workspace::learn, draw_learn_icon, draw_learn_workspace},
    {Workspace::gradients, draw_gradients_icon, draw_gradients_workspace},
    {Workspace::verify, draw_verify_icon, draw_verify_workspace},
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
