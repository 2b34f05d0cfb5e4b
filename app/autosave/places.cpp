#include "app/autosave/places.h"

#include <fmt/format.h>

#include <cstdlib>

#include "core/io/file.h"

namespace attn::autosave {
namespace {

namespace fs = std::filesystem;

/// Of an environment variable; "" unless it is an absolute path, as the specification has it.
fs::path folder_in(const char* variable) {
    const char* const value = std::getenv(variable);
    const fs::path path = value == nullptr ? "" : value;
    return path.is_absolute() ? path : fs::path();
}

fs::path place(const char* variable, const char* beneath_home) {
    fs::path folder = folder_in(variable);
    if (folder.empty()) {
        const fs::path home = folder_in("HOME");
        if (home.empty()) return {};
        folder = home / beneath_home;
    }
    return folder / "attnscope";
}

}  // namespace

fs::path config_folder() { return place("XDG_CONFIG_HOME", ".config"); }
Result<std::string> read_saved(const fs::path& file) {
    std::error_code ignored;
    const fs::file_status status = fs::status(file, ignored);
    if (!fs::exists(status) || fs::is_regular_file(status)) return read_text_file(file);
    return bad_input(fmt::format("{} is not a regular file", file.string()));
}

fs::path state_folder() { return place("XDG_STATE_HOME", ".local/state"); }

}  // namespace attn::autosave
