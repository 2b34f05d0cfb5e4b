#include "app/platform/line_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>

#include "core/io/json.h"

namespace attn {
namespace {

constexpr std::size_t kMostOfFirstLine = 1 << 16;

Failure cannot_write(const std::filesystem::path& path, int code) {
    return failed(fmt::format("{}: cannot be written: {}", path.string(),
                              std::generic_category().message(code)));
}

/// nullopt: it is no regular file.
std::optional<off_t> size_of(int fd) {
    struct stat found {};
    const bool regular = ::fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
    return regular ? std::optional(found.st_size) : std::nullopt;
}

/// Up to its end or kMostOfFirstLine; "" for an empty file. nullopt: it cannot be read.
std::optional<std::string> first_line(const std::filesystem::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::nullopt;
    std::string line(kMostOfFirstLine, '\0');
    const ssize_t got = ::pread(fd, line.data(), line.size(), 0);
    ::close(fd);
    if (got < 0) return std::nullopt;
    line.resize(got);
    return line.substr(0, line.find('\n'));
}

bool is_action(std::string_view line) {
    const auto json = parse_json(line, "");
    return json && json->is_object() && json->contains("action");
}

bool is_frame_time(std::string_view line) {
    return !line.empty() && line[0] >= '0' && line[0] <= '9' && line.find(" s ") != line.npos &&
           line.ends_with(" ms");
}

}  // namespace

const LineKind kJournalLines{"a journal", is_action};
const LineKind kFrameLogLines{"a frame log", is_frame_time};

Result<LineFile> LineFile::open(const std::filesystem::path& path, const LineKind& kind) {
    constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC;
    LineFile self;
    self.path_ = path;
    if (path == "-") {
        self.fd_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        return self.fd_ >= 0 ? Result<LineFile>(std::move(self)) : cannot_write(path, errno);
    }
    self.fd_ = ::open(path.c_str(), kFlags | O_EXCL, 0666);
    self.is_new_ = self.fd_ >= 0;
    if (!self.is_new_) self.fd_ = ::open(path.c_str(), kFlags, 0666);
    if (self.fd_ < 0) return cannot_write(path, errno);
    if (auto taken = self.take(kind); !taken) return tl::unexpected(std::move(taken.error()));
    return self;
}

/// A device or a pipe is nobody's: many may write to it.
Result<void> LineFile::take(const LineKind& kind) {
    if (!size_of(fd_)) return {};
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0)
        return failed(fmt::format("{}: another process writes to it; expected {} of its own",
                                  path_.string(), kind.text));
    if (size_of(fd_) == 0) return {};
    const auto line = first_line(path_);
    if (line && kind.is_one(*line)) return {};
    return bad_input(
        fmt::format("{} has other content; expected {}, or a new file", path_.string(), kind.text));
}

LineFile& LineFile::operator=(LineFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(fd_, other.fd_);
    std::swap(is_new_, other.is_new_);
    return *this;
}

LineFile::~LineFile() {
    if (fd_ < 0) return;
    std::error_code ignored;
    if (is_new_) std::filesystem::remove(path_, ignored);
    ::close(fd_);
}

Result<void> LineFile::begin() {
    is_new_ = false;
    if (path_ != "-" && size_of(fd_) && ::ftruncate(fd_, 0) != 0) return cannot_write(path_, errno);
    return {};
}

Result<void> LineFile::write(std::string_view line) {
    const std::string whole = std::string(line) + '\n';
    for (std::string_view rest = whole; !rest.empty();) {
        const ssize_t put = ::write(fd_, rest.data(), rest.size());
        if (put < 0 && errno == EINTR) continue;
        if (put < 0)
            return failed(
                fmt::format("{}: the line cannot be written: {}; no more lines are written",
                            path_.string(), std::generic_category().message(errno)));
        rest.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
}

}  // namespace attn
