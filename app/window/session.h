#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "app/common/document/saved.h"

namespace attn::view {

/// A session is any screen as JSON: document, place, the part of each workspace, theme, scale. Nothing of the moment.
/// `folder`: where it will lie; a document's file is named from there.
std::string session_to_json(const AppState& state, const std::filesystem::path& folder = {});
/// The state that draws the same screen, computed by the backend of the session where it is among
/// the context's and runs here, else by "auto", with a warning. Errors name the key and what was expected.
Result<AppState> session_from_json(std::string_view text, std::string_view file_name,
                                   const SessionContext& context = {});

}  // namespace attn::view
