#include "app/platform/locked_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace attn {
namespace {

std::string reason(int code) { return std::generic_category().message(code); }

LockedFile opened(int fd, bool is_new) {
    if (fd >= 0) return {fd, is_new, Refused::no, ""};
    return {-1, false, Refused::failed, reason(errno)};
}

}  // namespace

LockedFile open_locked(const std::filesystem::path& path) {
    constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC;
    int fd = ::open(path.c_str(), kFlags | O_EXCL, 0666);
    const bool is_new = fd >= 0;
    if (!is_new) fd = ::open(path.c_str(), kFlags, 0666);
    LockedFile file = opened(fd, is_new);
    if (fd >= 0 && regular_file_bytes(fd) && ::flock(fd, LOCK_EX | LOCK_NB) != 0)
        file.refused = Refused::locked;
    return file;
}

LockedFile open_standard_output() {
    return opened(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), false);
}

void close_file(int fd) { ::close(fd); }

std::optional<std::int64_t> regular_file_bytes(int fd) {
    struct stat found {};
    const bool regular = ::fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
    return regular ? std::optional<std::int64_t>(found.st_size) : std::nullopt;
}

/// `fd` only writes.
std::optional<std::string> first_bytes(int, const std::filesystem::path& path, std::size_t most) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::nullopt;
    std::string bytes(most, '\0');
    const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), 0);
    ::close(fd);
    if (got < 0) return std::nullopt;
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
}

std::string empty_file(int fd) { return ::ftruncate(fd, 0) == 0 ? "" : reason(errno); }

std::string append_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t put = ::write(fd, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return reason(errno);
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return "";
}

}  // namespace attn
