#pragma once

#include <string>
#include <vector>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/keys.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/state.h"

namespace attn::view {

/// What can be done to the head that is shown and the selected row of its weights in the model that is open.
struct HeadEdit {
    std::string button;   // "row: even"
    std::string command;  // in the palette, and on top of the tooltip
    std::string tip;
    Key key = Key::none;
    Action action;
    std::string why_not = {};  // "": it can be done
};
/// None where no model is open or its heads are not shown yet.
std::vector<HeadEdit> head_edits(const AppState& state);

}  // namespace attn::view
