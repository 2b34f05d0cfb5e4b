#include "app/autosave/session_lock.h"

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <windows.h>

#include <cerrno>

namespace attn::autosave {

// A file that is open without sharing is the lock: Windows closes it with the process.
int take_lock(const std::filesystem::path& session) {
    const std::filesystem::path lock = session.string() + ".lock";
    const HANDLE file = ::CreateFileW(lock.c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_DELETE,
                                      nullptr, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (file != INVALID_HANDLE_VALUE)
        return ::_open_osfhandle(reinterpret_cast<intptr_t>(file), _O_NOINHERIT);
    errno = ::GetLastError() == ERROR_DISK_FULL ? ENOSPC : EACCES;
    return -1;
}

void drop_lock(int lock) { ::_close(lock); }

int own_process() { return static_cast<int>(::GetCurrentProcessId()); }

std::optional<std::time_t> written_at(const std::filesystem::path& file) {
    struct _stat64 status {};
    if (::_wstat64(file.c_str(), &status) != 0) return std::nullopt;
    return status.st_mtime;
}

}  // namespace attn::autosave
