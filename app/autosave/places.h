#pragma once

#include <filesystem>
#include <string>

#include "core/result.h"

namespace attn::autosave {

// Where a program keeps what is a person's own (XDG Base Directory Specification 0.8). "": there is no place, for HOME is
// not set either.

/// Settings: $XDG_CONFIG_HOME/attnscope, else ~/.config/attnscope.
std::filesystem::path config_folder();
/// What is worth keeping between runs, but not a setting: $XDG_STATE_HOME/attnscope, else ~/.local/state/attnscope.
std::filesystem::path state_folder();

/// The text of a file there. What is no regular file, a pipe that may never end, is not opened: an input error.
Result<std::string> read_saved(const std::filesystem::path& file);

}  // namespace attn::autosave
