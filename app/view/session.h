#pragma once

#include <string>
#include <string_view>

#include "app/view/state.h"

namespace attn::view {

/// A session is any screen as JSON: document, stage, selection, saturation, theme, scale.
std::string session_to_json(const AppState& state);
/// The state that draws the same screen, computed by the backend of the session where it is among
/// `backends` and runs here, else by "auto". Errors name the key and what was wanted.
Result<AppState> session_from_json(std::string_view text, std::string_view file_name,
                                   BackendList backends = attn::backends());

}  // namespace attn::view
