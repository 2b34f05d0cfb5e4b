#pragma once

#include <ctime>
#include <filesystem>
#include <optional>

namespace attn::autosave {

// The operating system, as the files of running programs use it.

/// A descriptor that holds the lock of `session`, until drop_lock() or the end of the process; −1: another process has it, or it
/// cannot be had, and errno has the reason.
int take_lock(const std::filesystem::path& session);
void drop_lock(int lock);

/// The number of this process.
int own_process();
/// When a file was last written; nullopt: it does not exist.
std::optional<std::time_t> written_at(const std::filesystem::path& file);

}  // namespace attn::autosave
