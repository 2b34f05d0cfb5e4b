#include "core/io/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "core/rng.h"
#include "core/stop.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

std::string reason(int code) { return std::generic_category().message(code); }

Failure cannot_write(const fs::path& path, int code) {
    return failed(fmt::format("cannot write {}: {}", path.string(), reason(code)));
}

// Closes on every way out.
class File {
  public:
    File(const fs::path& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC)) {}
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    bool is_open() const { return fd_ >= 0; }

    /// Bytes read, 0 at the end, negative on error.
    ssize_t read(char* to, std::size_t size) {
        ssize_t got = 0;
        do got = ::read(fd_, to, size);
        while (got < 0 && errno == EINTR);
        return got;
    }

    /// 0, or errno.
    int write_all(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) return errno;
            bytes.remove_prefix(static_cast<std::size_t>(put));
        }
        return 0;
    }

    /// 0, or errno: a full disk may be noticed only here.
    int close() { return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno; }

  private:
    int fd_;
};

Result<void> write_whole(const fs::path& path, const fs::path& shown, int flags,
                         std::string_view bytes) {
    File file(path, flags);
    if (!file.is_open()) return cannot_write(shown, errno);
    if (const int code = file.write_all(bytes)) return cannot_write(shown, code);
    if (const int code = file.close()) return cannot_write(shown, code);
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
           fmt::format(".{}.{}.{}.tmp", number_of(target), ::getpid(), made++);
}

/// Gives `use` one name after the other until it returns something other than EEXIST; an existing file or link remains as
/// before.
template <class Use>
int with_new_name(const fs::path& target, fs::path& name, const Use& use) {
    int code = EEXIST;
    while (code == EEXIST) code = use(name = temporary_name(target));
    return code;
}

/// A new file in the folder of its target. It has no name until it is whole, so that nothing is left of it however the
/// program ends; where the file system or a missing /proc does not allow that, it has one from the start.
class Temporary {
  public:
    static Result<Temporary> make(const fs::path& target, const fs::path& shown, mode_t mode) {
        Temporary made;
#ifdef O_TMPFILE
        const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
        made.fd_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
        if (made.fd_ >= 0) {
            made.path_ = fmt::format("/proc/self/fd/{}", made.fd_);
            if (::access(made.path_.c_str(), F_OK) == 0) return made;
            ::close(std::exchange(made.fd_, -1));
        }
#endif
        const int code = with_new_name(target, made.path_, [&](const fs::path& name) {
            const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
            if (fd < 0) return errno;
            ::close(fd);
            return 0;
        });
        if (code != 0) return cannot_write(shown, code);
        return made;
    }
    Temporary(Temporary&& other) noexcept
        : path_(std::exchange(other.path_, {})), fd_(std::exchange(other.fd_, -1)) {}
    Temporary& operator=(Temporary&&) = delete;
    /// What was not put in place is gone.
    ~Temporary() {
        std::error_code ignored;
        if (fd_ < 0 && !path_.empty()) fs::remove(path_, ignored);
        if (fd_ >= 0) ::close(fd_);
    }

    /// Opens it, to read and to write.
    const fs::path& path() const { return path_; }

    /// It becomes `target`. 0, or errno.
    int put_in_place(const fs::path& target) {
        if (const int code = name_it(target)) return code;
        std::error_code fault;
        fs::rename(path_, target, fault);
        if (!fault) path_.clear();
        return fault.value();
    }

  private:
    Temporary() = default;

    int name_it(const fs::path& target) {
        if (fd_ < 0) return 0;
        fs::path name;
        const int code = with_new_name(target, name, [&](const fs::path& free) {
            return ::linkat(AT_FDCWD, path_.c_str(), AT_FDCWD, free.c_str(), AT_SYMLINK_FOLLOW) == 0
                       ? 0
                       : errno;
        });
        if (code != 0) return code;
        path_ = name;
        ::close(std::exchange(fd_, -1));
        return 0;
    }

    fs::path path_;
    int fd_ = -1;  // without a name
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

/// Waits until what `path` holds, a file's bytes or a folder's names, is on the disk. 0, or errno.
int flush_to_disk(const fs::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    const int code = ::fsync(fd) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
    ::close(fd);
    return code;
}

/// number_of() the target in a name that temporary_name() gave in a process that has ended, also with what libzip puts behind
/// the name of a file that it writes, ".vn3q6a"; "": it is none.
std::string target_of_stale(const std::string& name) {
    constexpr std::string_view kEnd = ".tmp";
    constexpr std::size_t kZipEnd = 7;
    std::string_view text = name;
    if (text.size() > kZipEnd && text[text.size() - kZipEnd] == '.' && !text.ends_with(kEnd))
        text.remove_suffix(kZipEnd);
    if (!text.starts_with('.') || !text.ends_with(kEnd)) return {};
    const std::string_view inner = text.substr(1, text.size() - 1 - kEnd.size());
    const std::size_t dot = inner.find('.'), last = inner.rfind('.');
    if (dot == last || dot == 0) return {};
    pid_t process = 0;
    const std::string_view digits = inner.substr(dot + 1, last - dot - 1);
    const auto [end, fault] =
        std::from_chars(digits.data(), digits.data() + digits.size(), process);
    if (fault != std::errc{} || end != digits.data() + digits.size() || process <= 0) return {};
    const bool ended = ::kill(process, 0) != 0 && errno == ESRCH;
    return ended ? std::string(inner.substr(0, dot)) : std::string();
}

/// What a killed program left for the name of `target`. The folder is read once, when the first file is written there.
void remove_stale(const fs::path& target) {
    using Found = std::multimap<std::string, fs::path>;  // by number_of() the target
    static std::mutex mutex;
    static std::map<fs::path, Found> folders;
    const std::lock_guard lock(mutex);
    const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
    const auto [at, is_new] = folders.try_emplace(folder);
    std::error_code ignored;
    if (is_new)
        for (const auto& entry : fs::directory_iterator(folder, ignored))
            if (std::string of = target_of_stale(entry.path().filename().string()); !of.empty())
                at->second.emplace(std::move(of), entry.path());
    const auto [first, last] = at->second.equal_range(number_of(target));
    for (auto stale = first; stale != last; ++stale) fs::remove(stale->second, ignored);
    at->second.erase(first, last);
}

/// The temporary file becomes `target`.
Result<void> put_in_place(Temporary& temporary, const fs::path& target, const fs::path& shown,
                          Flush flush) {
    if (flush == Flush::to_disk)
        if (const int code = flush_to_disk(temporary.path())) return cannot_write(shown, code);
    if (const int code = temporary.put_in_place(target)) return cannot_write(shown, code);
    if (flush == Flush::to_disk)  // the file is there: a folder that cannot be flushed is no error
        static_cast<void>(flush_to_disk(target.has_parent_path() ? target.parent_path() : "."));
    return {};
}

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
    File file(path, O_RDONLY);
    if (!file.is_open()) return cannot_read(errno);
    std::string text;
    std::array<char, 1 << 16> chunk;
    for (;;) {
        end_if_stopped();
        const ssize_t got = file.read(chunk.data(), chunk.size());
        if (got < 0) return cannot_read(errno);
        if (got == 0) return text;
        text.append(chunk.data(), static_cast<std::size_t>(got));
        if (text.size() > kMaxTextBytes)
            return bad_input(
                fmt::format("{} is larger than {} MiB, the most that is read of a text",
                            path.string(), kMaxTextBytes >> 20));
    }
}

bool writes_in_place(const fs::path& path) {
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
        return true;
    const std::string text = path.lexically_normal().string();
    return text.starts_with("/dev/") || text.starts_with("/proc/");
}

Result<void> write_file_atomically(const fs::path& path, std::string_view bytes) {
    if (writes_in_place(path)) return write_whole(path, path, O_WRONLY, bytes);
    const auto write = [&](const fs::path& temporary) {
        return write_whole(temporary, path, O_WRONLY | O_TRUNC, bytes);
    };
    return replace_file(path, write, Flush::to_disk);
}

Result<void> replace_file(const fs::path& path,
                          const std::function<Result<void>(const fs::path&)>& write, Flush flush) {
    std::error_code ignored;
    if (path.empty()) return failed("cannot write to a file with an empty name");
    if (fs::is_directory(path, ignored)) return cannot_write(path, EISDIR);
    const fs::path target = followed(path);
    const Guarded guarded;
    remove_stale(target);
    struct stat before {};
    const bool is_new = ::stat(target.c_str(), &before) != 0;
    auto temporary = Temporary::make(target, path, is_new ? 0666U : 0600U);
    if (!temporary) return tl::unexpected(temporary.error());
    return write(temporary->path()).and_then([&] {
        if (!is_new) ::chmod(temporary->path().c_str(), before.st_mode & 07777U);
        return put_in_place(*temporary, target, path, flush);
    });
}

void set_save_guard(SaveGuard of_program) { guard = of_program; }

bool interrupted() { return guard.interrupted && guard.interrupted(); }

}  // namespace attn
