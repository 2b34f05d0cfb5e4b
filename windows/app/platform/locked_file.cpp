#include "app/platform/locked_file.h"

#include <fcntl.h>
#include <io.h>
#include <unistd.h>
#include <windows.h>

#include <cerrno>
#include <system_error>

#include "core/windows_error.h"

namespace attn {
namespace {

std::string reason(int code) { return std::generic_category().message(code); }

HANDLE handle_of(int fd) { return reinterpret_cast<HANDLE>(::_get_osfhandle(fd)); }

/// Its lock lasts as long as it is open: no other process may open it to write.
HANDLE open_handle(const std::filesystem::path& path, DWORD how) {
    return ::CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE,
                         FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, how, FILE_ATTRIBUTE_NORMAL,
                         nullptr);
}

}  // namespace

LockedFile open_locked(const std::filesystem::path& path) {
    HANDLE file = open_handle(path, CREATE_NEW);
    const bool is_new = file != INVALID_HANDLE_VALUE;
    if (!is_new) file = open_handle(path, OPEN_EXISTING);
    const DWORD code = ::GetLastError();
    if (file != INVALID_HANDLE_VALUE)
        return {::_open_osfhandle(reinterpret_cast<intptr_t>(file), _O_BINARY | _O_NOINHERIT),
                is_new, Refused::no, ""};
    return {-1, false, code == ERROR_SHARING_VIOLATION ? Refused::locked : Refused::failed,
            windows_error(code)};
}

LockedFile open_standard_output() {
    const int fd = ::_dup(STDOUT_FILENO);
    if (fd >= 0) return {fd, false, Refused::no, ""};
    return {-1, false, Refused::failed, reason(errno)};
}

void close_file(int fd) { ::_close(fd); }

std::optional<std::int64_t> regular_file_bytes(int fd) {
    LARGE_INTEGER size{};
    if (::GetFileType(handle_of(fd)) != FILE_TYPE_DISK || !::GetFileSizeEx(handle_of(fd), &size))
        return std::nullopt;
    return size.QuadPart;
}

std::optional<std::string> first_bytes(int fd, const std::filesystem::path&, std::size_t most) {
    std::string bytes(most, '\0');
    if (::_lseeki64(fd, 0, SEEK_SET) != 0) return std::nullopt;
    const int got = ::_read(fd, bytes.data(), static_cast<unsigned>(most));
    if (got < 0) return std::nullopt;
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
}

std::string empty_file(int fd) {
    if (::_chsize_s(fd, 0) != 0) return reason(errno);
    ::_lseeki64(fd, 0, SEEK_SET);
    return "";
}

std::string append_all(int fd, std::string_view bytes) {
    const int put = ::_write(fd, bytes.data(), static_cast<unsigned>(bytes.size()));
    return put >= 0 && static_cast<std::size_t>(put) == bytes.size() ? "" : reason(errno);
}

}  // namespace attn
