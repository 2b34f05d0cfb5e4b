#include "core/io/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <io.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "core/rng.h"
#include "core/stop.h"
#include "core/windows_error.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

std::string reason(int code) { return std::generic_category().message(code); }

Failure cannot_write(const fs::path& path, const std::string& why) {
    return failed(fmt::format("cannot write {}: {}", path.string(), why));
}

// Closes on every way out.
class File {
  public:
    File(const fs::path& path, int flags)
        : fd_(::_wopen(path.c_str(), flags | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE)) {}
    ~File() {
        if (fd_ >= 0) ::_close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    bool is_open() const { return fd_ >= 0; }

    /// Bytes read, 0 at the end, negative on error.
    int read(char* to, std::size_t size) { return ::_read(fd_, to, static_cast<unsigned>(size)); }

    /// 0, or errno.
    int write_all(std::string_view bytes) {
        constexpr std::size_t kPiece = std::size_t{1} << 26;
        while (!bytes.empty()) {
            const int put =
                ::_write(fd_, bytes.data(), static_cast<unsigned>(std::min(bytes.size(), kPiece)));
            if (put < 0) return errno;
            bytes.remove_prefix(static_cast<std::size_t>(put));
        }
        return 0;
    }

    /// Waits until the bytes are on the disk; of a device none are. 0, or errno.
    int flush() { return ::_isatty(fd_) || ::_commit(fd_) == 0 ? 0 : errno; }

    /// 0, or errno: a full disk may be noticed only here.
    int close() { return ::_close(std::exchange(fd_, -1)) == 0 ? 0 : errno; }

  private:
    int fd_;
};

Result<void> write_whole(const fs::path& path, const fs::path& shown, int flags,
                         std::string_view bytes) {
    File file(path, flags);
    if (!file.is_open()) return cannot_write(shown, reason(errno));
    if (const int code = file.write_all(bytes)) return cannot_write(shown, reason(code));
    if (const int code = file.flush()) return cannot_write(shown, reason(code));
    if (const int code = file.close()) return cannot_write(shown, reason(code));
    return {};
}

/// Stands for a name in that of its temporary file, which is short however long the name.
std::string number_of(const fs::path& target) {
    return fmt::format("{:016x}", hash_text(target.filename().string()));
}

/// The n-th name for a file beside `target`, of this process and this call alone.
fs::path temporary_name(const fs::path& target) {
    static std::atomic<unsigned> made{0};
    return target.parent_path() /
           fmt::format(".{}.{}.{}.tmp", number_of(target), ::GetCurrentProcessId(), made++);
}

/// Whether a name that temporary_name() gave is of a process that has ended.
bool is_stale(std::string_view name) {
    const std::size_t dot = name.find('.', 1);
    unsigned long process = 0;
    if (dot == name.npos ||
        std::from_chars(name.data() + dot + 1, name.data() + name.size(), process).ec !=
            std::errc{})
        return false;
    const HANDLE running = ::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, process);
    if (running == nullptr) return ::GetLastError() == ERROR_INVALID_PARAMETER;
    DWORD code = 0;
    const bool ended = ::GetExitCodeProcess(running, &code) && code != STILL_ACTIVE;
    ::CloseHandle(running);
    return ended;
}

/// What a killed program left for the name of `target`.
void remove_stale(const fs::path& target) {
    const fs::path pattern = target.parent_path() / ("." + number_of(target) + ".*");
    WIN32_FIND_DATAW found;
    const HANDLE search = ::FindFirstFileW(pattern.c_str(), &found);
    if (search == INVALID_HANDLE_VALUE) return;
    do {
        const fs::path name = found.cFileName;
        std::error_code ignored;
        if (is_stale(name.string())) fs::remove(target.parent_path() / name, ignored);
    } while (::FindNextFileW(search, &found));
    ::FindClose(search);
}

/// A new file in the folder of its target, gone where it was not put in place.
class Temporary {
  public:
    static Result<Temporary> make(const fs::path& target, const fs::path& shown) {
        int code = EEXIST;
        fs::path name;
        while (code == EEXIST) {
            name = temporary_name(target);
            const File file(name, _O_WRONLY | _O_CREAT | _O_EXCL);
            code = file.is_open() ? 0 : errno;
        }
        if (code != 0) return cannot_write(shown, reason(code));
        return Temporary(std::move(name));
    }
    Temporary(Temporary&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    Temporary& operator=(Temporary&&) = delete;
    ~Temporary() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove(path_, ignored);
    }

    const fs::path& path() const { return path_; }

    /// It becomes `target`.
    Result<void> put_in_place(const fs::path& target, const fs::path& shown, Flush flush) {
        const DWORD flags = MOVEFILE_REPLACE_EXISTING |
                            (flush == Flush::to_disk ? MOVEFILE_WRITE_THROUGH : DWORD{0});
        if (!::MoveFileExW(path_.c_str(), target.c_str(), flags))
            return cannot_write(shown, windows_error(::GetLastError()));
        path_.clear();
        return {};
    }

  private:
    explicit Temporary(fs::path path) : path_(std::move(path)) {}

    fs::path path_;
};

SaveGuard guard;  // of the program; set before the first file is written

/// While one lives, a file is being replaced.
class Guarded {
  public:
    Guarded() {
        if (guard.begin) guard.begin();
    }
    ~Guarded() {
        if (guard.end) guard.end();
    }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;
};

// Where the bytes really go: a symbolic link is followed, so that it stays a link.
fs::path followed(const fs::path& path) {
    std::error_code ignored;
    if (!fs::is_symlink(path, ignored)) return path;
    const fs::path target = fs::weakly_canonical(path, ignored);
    return target.empty() ? path : target;
}

}  // namespace

Result<std::string> read_text_file(const fs::path& path) {
    const auto cannot_read = [&](int code) {
        return bad_input(fmt::format("cannot read {}: {}", path.string(), reason(code)));
    };
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return cannot_read(EISDIR);
    File file(path, _O_RDONLY);
    if (!file.is_open()) return cannot_read(errno);
    std::string text;
    std::array<char, 1 << 16> chunk;
    for (;;) {
        end_if_stopped();
        const int got = file.read(chunk.data(), chunk.size());
        if (got < 0) return cannot_read(errno);
        if (got == 0) return text;
        text.append(chunk.data(), static_cast<std::size_t>(got));
        if (text.size() > kMaxTextBytes)
            return bad_input(
                fmt::format("{} is larger than {} MiB, the most that is read of a text",
                            path.string(), kMaxTextBytes >> 20));
    }
}

/// NUL and CON are files in every folder.
bool writes_in_place(const fs::path& path) {
    std::string name = path.filename().string();
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    if (name == "NUL" || name == "CON") return true;
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

Result<void> write_file_atomically(const fs::path& path, std::string_view bytes) {
    if (writes_in_place(path)) return write_whole(path, path, _O_WRONLY, bytes);
    const auto write = [&](const fs::path& temporary) {
        return write_whole(temporary, path, _O_WRONLY | _O_TRUNC, bytes);
    };
    return replace_file(path, write, Flush::to_disk);
}

Result<void> replace_file(const fs::path& path,
                          const std::function<Result<void>(const fs::path&)>& write, Flush flush) {
    std::error_code ignored;
    if (path.empty()) return failed("cannot write to a file with an empty name");
    if (fs::is_directory(path, ignored)) return cannot_write(path, reason(EISDIR));
    const fs::path target = followed(path);
    const Guarded guarded;
    remove_stale(target);
    auto temporary = Temporary::make(target, path);
    if (!temporary) return tl::unexpected(temporary.error());
    return write(temporary->path()).and_then([&] {
        return temporary->put_in_place(target, path, flush);
    });
}

void set_save_guard(SaveGuard of_program) { guard = of_program; }

bool interrupted() { return guard.interrupted && guard.interrupted(); }

}  // namespace attn
