#pragma once

#include <span>

namespace attn::view {

struct WorkspaceInfo;
using WorkspaceList = std::span<const WorkspaceInfo* const>;
/// The workspaces of this program.
WorkspaceList workspaces();

}  // namespace attn::view
