#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/action.h"
#include "core/result.h"

namespace attn::view {

/// Every action of the program: of the window, the document and the workspaces.
std::vector<const ActionType*> all_actions();

/// One JSON line. nullopt for actions that are not journaled.
std::optional<std::string> to_journal(const Action& action);
/// An error names the line's fault: the unknown action, the missing or wrong field.
Result<Action> from_journal(std::string_view line);

}  // namespace attn::view
