#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace attn {

// The operating system, as LineFile uses it: descriptors of files that one process at a time writes. An error is the system's text; "":
// there is none.

enum class Refused : std::uint8_t { no, locked, failed };
struct LockedFile {
    int fd = -1;
    bool is_new = false;            // it did not exist
    Refused refused = Refused::no;  // by another process, or by the system
    std::string error;              // of the system
};
/// Opens a file to append, or makes it, and locks it if it is a regular one.
LockedFile open_locked(const std::filesystem::path& path);
/// Another descriptor of standard output.
LockedFile open_standard_output();
void close_file(int fd);

/// nullopt: it is not a regular file.
std::optional<std::int64_t> regular_file_bytes(int fd);
/// The first bytes, `most` or as many as there are. nullopt: they cannot be read.
std::optional<std::string> first_bytes(int fd, const std::filesystem::path& path, std::size_t most);
std::string empty_file(int fd);
std::string append_all(int fd, std::string_view bytes);

}  // namespace attn
