#include "core/io/arrays/mapped.h"
#include "core/text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace attn {
namespace {

namespace fs = std::filesystem;

Failure cannot_read(const fs::path& path, int code) {
    return bad_input(
        fmt::format("cannot read {}: {}", path.string(), std::generic_category().message(code)));
}

/// Maps what `fd` is open on; null where it is empty.
Result<const char*> map(const fs::path& path, int fd, std::size_t size) {
    if (size == 0) return nullptr;
    void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) return cannot_read(path, errno);
    return static_cast<const char*>(data);
}

}  // namespace

namespace {

Failure no_file(const fs::path& path, mode_t mode) {
    return bad_input(fmt::format("{} is {}; expected a file, or - for standard input",
                                 path.string(), S_ISDIR(mode) ? "a folder" : "a pipe or device"));
}

}  // namespace

Result<void> check_readable(const fs::path& path) {
    if (::access(path.c_str(), R_OK) != 0) return cannot_read(path, errno);
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) return cannot_read(path, errno);
    if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) return no_file(path, found.st_mode);
    return {};
}

Result<MappedFile> MappedFile::open(const fs::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return cannot_read(path, errno);
    struct stat found {};
    const bool known = ::fstat(fd, &found) == 0;
    const auto size = static_cast<std::size_t>(found.st_size);
    const auto mapped = [&]() -> Result<const char*> {
        if (!known) return cannot_read(path, errno);
        if (S_ISREG(found.st_mode)) return map(path, fd, size);
        return no_file(path, found.st_mode);
    }();
    ::close(fd);
    return mapped.map([&](const char* data) { return MappedFile(path, data, size); });
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

// A file that was replaced under its name has more or fewer bytes, but those of the mapping stay: refused all the same.
Result<void> MappedFile::check_whole() const {
    std::error_code fault;
    const auto now = fs::file_size(path_, fault);
    if (!fault && now < size_)
        return bad_input(fmt::format("{} has {}; it had {} when it was opened", path_.string(),
                                     counted(now, "byte"), size_));
    return {};
}

void MappedFile::let_go(std::string_view part) const {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = (static_cast<std::size_t>(part.data() - data_) + page - 1) / page * page;
    const auto end = static_cast<std::size_t>(part.data() + part.size() - data_) / page * page;
    if (begin < end) ::madvise(const_cast<char*>(data_) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace attn
