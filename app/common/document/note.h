#pragma once

#include "app/common/state.h"

namespace attn::view {

/// What a toy's note and its heads' names say of weights holds for the scaling, temperature and masks that they were
/// said of: under others the note says where the numbers come from, and no name stays. Back at the former ones, both
/// are said again.
void settle_note(const AppState& state, Document& document);
/// An edit of its options alone, with the note that then holds.
void edit_spec(AppState& state, Document document, const std::string& words);

}  // namespace attn::view
