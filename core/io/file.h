#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace attn {

/// The whole file, byte for byte. Pipes work; a folder, a missing or unreadable file, or one of more
/// than kMaxTextBytes is an input error.
Result<std::string> read_text_file(const std::filesystem::path& path);
inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 28;

/// True for what cannot be replaced by renaming: devices, pipes, and everything under /dev and /proc.
bool writes_in_place(const std::filesystem::path& path);

/// Writes a temporary file beside `path` and renames it over `path`, so that a reader sees the old
/// file or the new one, never a part. A symbolic link keeps pointing: its target is replaced.
/// A device or pipe is written in place. On the disk when it returns. Every error is a failure and leaves nothing behind.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// Whether the bytes are on the disk when a function returns, or left to the system: power that fails may then cost them.
enum class Flush : std::uint8_t { to_disk, later };

/// The same for a writer that wants a path of its own: `write` fills the temporary file it is given.
/// Not for paths that writes_in_place(). SIGINT, SIGTERM and SIGHUP that would end the program wait, whichever thread they
/// reach, until the file is whole or gone; what an ended process left for the same name is removed; a `write` that takes long gives up when it is interrupted().
Result<void> replace_file(const std::filesystem::path& path,
                          const std::function<Result<void>(const std::filesystem::path&)>& write,
                          Flush flush = Flush::later);

/// Whether one of those signals waits. False for one that the program ignores, as under nohup, or handles.
bool interrupted();

}  // namespace attn
