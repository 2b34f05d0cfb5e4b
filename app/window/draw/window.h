#pragma once

#include "app/common/draw/frame.h"
#include "app/common/draw/workspace.h"

namespace attn::ui {

/// The whole window of one frame, between ImGui::NewFrame() and ImGui::Render(). The caller clears
/// to theme.background: full-screen windows draw no background of their own.
void draw_window(const AppState& state, const Frame& frame, Actions& out,
                 PanelList panels = workspace_panels());

}  // namespace attn::ui
