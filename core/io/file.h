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
/// Not for paths that writes_in_place(). The temporary file has no name where the system allows that, and `write` opens it
/// through /proc: nothing is left of it however the program ends. Elsewhere what an ended process left for the same name is
/// removed. A `write` that takes long gives up when it is interrupted().
Result<void> replace_file(const std::filesystem::path& path,
                          const std::function<Result<void>(const std::filesystem::path&)>& write,
                          Flush flush = Flush::later);

/// What a program does around each replacement of a file, such as keeping signals back that would end it (app/files/
/// held_signals.h). Nothing unless it is set: a library leaves the signals of its host alone. May be called on several threads.
struct SaveGuard {
    void (*begin)() = nullptr;        // before the temporary file is made
    void (*end)() = nullptr;          // when the file is whole or gone
    bool (*interrupted)() = nullptr;  // whether what takes long is to give up
};
/// Once, before the first file is written.
void set_save_guard(SaveGuard guard);
/// What the guard says; false where there is none.
bool interrupted();

}  // namespace attn
