#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace attn::platform {

// The operating system, as core uses it: memory, threads and files that are read. core/posix implements it; windows/core/posix
// replaces that on Windows.

/// Fresh pages of zeros at a multiple of `boundary`, in huge pages where the system has them. `bytes` is a multiple of the
/// page size. Throws std::bad_alloc.
void* map_pages(std::size_t bytes, std::size_t boundary);
void unmap_pages(void* pages, std::size_t bytes) noexcept;
/// Lets the system take the pages when another program needs memory. They lose their content, and a write gets them back.
void offer_pages(void* pages, std::size_t bytes) noexcept;

std::size_t page_bytes();
/// The memory of the machine.
std::size_t physical_memory_bytes();
/// The memory that can be had without swapping, as the system estimates it; nullopt where it does not report that.
std::optional<double> free_memory_bytes();
/// The bytes that this process holds now; 0 where the system does not report them.
std::size_t resident_memory_bytes();

/// The calling thread yields to others from now on. Does nothing where the system cannot do that for one thread.
void lower_thread_priority();

enum class FileKind : std::uint8_t { file, folder, other };
/// `error`: an errno of why the file cannot be read; 0: it can be read.
struct FileStatus {
    FileKind kind = FileKind::file;
    int error = 0;
};
FileStatus readable_status(const std::filesystem::path& path);
/// The same text for every name of one regular file; "": it is not a regular file. nullopt: it does not exist.
std::optional<std::string> file_identity(const std::filesystem::path& path);
/// The file of the running program; empty where the system does not report it.
std::filesystem::path program_path();

/// A regular file in memory, read-only. `data` is null if the file is empty, of another kind, or cannot be read.
struct MappedBytes {
    FileStatus status;
    const char* data = nullptr;
    std::size_t size = 0;
};
MappedBytes map_file(const std::filesystem::path& path);
void unmap_file(const char* data, std::size_t size) noexcept;
/// Frees the memory of the whole pages between `begin` and `end` of a mapped file; a later read gets them from the file.
void release_mapped(const char* begin, const char* end) noexcept;

}  // namespace attn::platform
