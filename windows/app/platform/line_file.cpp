#include "app/platform/line_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <io.h>
#include <unistd.h>
#include <windows.h>

#include <cerrno>
#include <optional>
#include <system_error>

#include "core/io/json.h"
#include "core/windows_error.h"

namespace attn {
namespace {

constexpr std::size_t kMostOfFirstLine = 1 << 16;

Failure cannot_write(const std::filesystem::path& path, const std::string& why) {
    return failed(fmt::format("{}: cannot be written: {}", path.string(), why));
}

HANDLE handle_of(int fd) { return reinterpret_cast<HANDLE>(::_get_osfhandle(fd)); }

/// nullopt: it is no regular file.
std::optional<std::int64_t> size_of(int fd) {
    LARGE_INTEGER size{};
    if (::GetFileType(handle_of(fd)) != FILE_TYPE_DISK || !::GetFileSizeEx(handle_of(fd), &size))
        return std::nullopt;
    return size.QuadPart;
}

/// Up to its end or kMostOfFirstLine; "" for an empty file. nullopt: it cannot be read.
std::optional<std::string> first_line(int fd) {
    std::string line(kMostOfFirstLine, '\0');
    if (::_lseeki64(fd, 0, SEEK_SET) != 0) return std::nullopt;
    const int got = ::_read(fd, line.data(), static_cast<unsigned>(line.size()));
    if (got < 0) return std::nullopt;
    line.resize(static_cast<std::size_t>(got));
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

/// It has a lock as long as it is open: nobody else may open it to write.
HANDLE open_locked(const std::filesystem::path& path, DWORD how) {
    return ::CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE,
                         FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, how, FILE_ATTRIBUTE_NORMAL,
                         nullptr);
}

}  // namespace

const LineKind kJournalLines{"a journal", is_action};
const LineKind kFrameLogLines{"a frame log", is_frame_time};

Result<LineFile> LineFile::open(const std::filesystem::path& path, const LineKind& kind) {
    LineFile self;
    self.path_ = path;
    if (path == "-") {
        self.fd_ = ::_dup(STDOUT_FILENO);
        return self.fd_ >= 0 ? Result<LineFile>(std::move(self))
                             : cannot_write(path, std::generic_category().message(errno));
    }
    HANDLE file = open_locked(path, CREATE_NEW);
    self.is_new_ = file != INVALID_HANDLE_VALUE;
    if (!self.is_new_) file = open_locked(path, OPEN_EXISTING);
    if (file == INVALID_HANDLE_VALUE && ::GetLastError() == ERROR_SHARING_VIOLATION)
        return failed(fmt::format("{}: another process writes to it; expected {} of its own",
                                  path.string(), kind.text));
    if (file == INVALID_HANDLE_VALUE) return cannot_write(path, windows_error(::GetLastError()));
    self.fd_ = ::_open_osfhandle(reinterpret_cast<intptr_t>(file), _O_BINARY | _O_NOINHERIT);
    if (auto taken = self.take(kind); !taken) return tl::unexpected(std::move(taken.error()));
    return self;
}

/// A device or a pipe is nobody's: many may write to it.
Result<void> LineFile::take(const LineKind& kind) {
    if (size_of(fd_).value_or(0) == 0) return {};
    const auto line = first_line(fd_);
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
    ::_close(fd_);
    std::error_code ignored;
    if (is_new_) std::filesystem::remove(path_, ignored);
}

Result<void> LineFile::begin() {
    is_new_ = false;
    if (path_ == "-" || !size_of(fd_)) return {};
    if (::_chsize_s(fd_, 0) != 0)
        return cannot_write(path_, std::generic_category().message(errno));
    ::_lseeki64(fd_, 0, SEEK_SET);
    return {};
}

Result<void> LineFile::write(std::string_view line) {
    const std::string whole = std::string(line) + '\n';
    const int put = ::_write(fd_, whole.data(), static_cast<unsigned>(whole.size()));
    if (put >= 0 && static_cast<std::size_t>(put) == whole.size()) return {};
    return failed(fmt::format("{}: the line cannot be written: {}; no more lines are written",
                              path_.string(), std::generic_category().message(errno)));
}

}  // namespace attn
