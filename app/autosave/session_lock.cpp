#include "app/autosave/session_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace attn::autosave {

int take_lock(const std::filesystem::path& session) {
    const std::filesystem::path lock = session.string() + ".lock";
    const int file = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) == 0) return file;
    if (file >= 0) ::close(file);
    return -1;
}

void drop_lock(int lock) { ::close(lock); }

int own_process() { return ::getpid(); }

std::optional<std::time_t> written_at(const std::filesystem::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return std::nullopt;
    return status.st_mtime;
}

}  // namespace attn::autosave
