#include "app/common/check_file.h"

#include "app/common/workspace.h"

namespace attn::view {

void carry_out(AppState& state, const CheckFile& action) {
    if (state.prompt && state.prompt->kind == PromptKind::check) state.prompt.reset();
    for (const WorkspaceInfo* const workspace : state.workspaces)
        if (workspace->check != nullptr) workspace->check(state, action.path);
}

}  // namespace attn::view
