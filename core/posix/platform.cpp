#include "core/platform.h"

#include "core/posix/system.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>

namespace attn::platform {
namespace {

FileKind kind_of(const struct stat& found) {
    return S_ISREG(found.st_mode)   ? FileKind::file
           : S_ISDIR(found.st_mode) ? FileKind::folder
                                    : FileKind::other;
}

}  // namespace

// More is mapped than asked for, and the pages off the boundary go back.
void* map_pages(std::size_t bytes, std::size_t boundary) {
    if (bytes > SIZE_MAX - 2 * boundary) throw std::bad_alloc();
    void* const mapped = ::mmap(nullptr, bytes + boundary, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    char* const begin = static_cast<char*>(mapped);
    const std::size_t before =
        (boundary - reinterpret_cast<std::uintptr_t>(begin) % boundary) % boundary;
    if (before > 0) ::munmap(begin, before);
    ::munmap(begin + before + bytes, boundary - before);
    ask_for_huge_pages(begin + before, bytes);
    return begin + before;
}

void unmap_pages(void* pages, std::size_t bytes) noexcept { ::munmap(pages, bytes); }

void offer_pages(void* pages, std::size_t bytes) noexcept { ::madvise(pages, bytes, MADV_FREE); }

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

std::size_t physical_memory_bytes() {
    return static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * page_bytes();
}

FileStatus readable_status(const std::filesystem::path& path) {
    struct stat found {};
    if (::access(path.c_str(), R_OK) != 0 || ::stat(path.c_str(), &found) != 0)
        return {FileKind::file, errno};
    return {kind_of(found), 0};
}

std::optional<std::string> file_identity(const std::filesystem::path& path) {
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) return std::nullopt;
    if (!S_ISREG(found.st_mode)) return "";
    return std::to_string(found.st_dev) + ":" + std::to_string(found.st_ino);
}

MappedBytes map_file(const std::filesystem::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    MappedBytes mapped;
    if (fd < 0) {
        mapped.status.error = errno;
        return mapped;
    }
    struct stat found {};
    if (::fstat(fd, &found) != 0) {
        mapped.status.error = errno;
    } else {
        mapped.status.kind = kind_of(found);
        if (mapped.status.kind == FileKind::file && found.st_size > 0) {
            mapped.size = static_cast<std::size_t>(found.st_size);
            void* const data = ::mmap(nullptr, mapped.size, PROT_READ, MAP_PRIVATE, fd, 0);
            if (data == MAP_FAILED)
                mapped.status.error = errno;
            else
                mapped.data = static_cast<const char*>(data);
        }
    }
    ::close(fd);
    return mapped;
}

void unmap_file(const char* data, std::size_t size) noexcept {
    ::munmap(const_cast<char*>(data), size);
}

void release_mapped(const char* begin, const char* end) noexcept {
    const std::uintptr_t page = page_bytes();
    const auto first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
    const auto last = reinterpret_cast<std::uintptr_t>(end) / page * page;
    if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace attn::platform
