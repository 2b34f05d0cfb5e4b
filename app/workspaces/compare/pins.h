#pragma once

#include <filesystem>
#include <string>

#include "app/common/document/saved.h"

namespace attn::view {

/// The line "pins" of a session: what is pinned, each with its own document; "" where nothing is.
std::string write_pins(const AppState& state, const std::filesystem::path& folder);
void read_pins(const SessionReader& session);

}  // namespace attn::view
