#include "app/autosave/known_file.h"

#include <system_error>

namespace attn::autosave {

void KnownFile::know(const std::string& path, bool written) {
    if (path == path_ && !written) return;
    path_ = path;
    state_ = state_of(path);
}

bool KnownFile::holds_what_is_known(const std::string& path) const {
    return path == path_ && state_of(path) == state_;
}

std::optional<KnownFile::State> KnownFile::state_of(const std::string& path) {
    std::error_code fault;
    const auto changed = std::filesystem::last_write_time(path, fault);
    if (fault) return std::nullopt;
    const auto bytes = std::filesystem::file_size(path, fault);
    if (fault) return std::nullopt;
    return State{changed, bytes};
}

}  // namespace attn::autosave
