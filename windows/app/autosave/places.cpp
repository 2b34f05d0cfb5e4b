#include "app/autosave/places.h"

#include <fmt/format.h>

#include <cstdlib>

#include "core/io/file.h"

namespace attn::autosave {
namespace {

namespace fs = std::filesystem;

/// attnscope's folder in that of an environment variable; "" unless it is an absolute path.
fs::path place(const wchar_t* variable) {
    const wchar_t* const value = ::_wgetenv(variable);
    const fs::path path = value == nullptr ? L"" : value;
    return path.is_absolute() ? path / "attnscope" : fs::path();
}

}  // namespace

fs::path config_folder() { return place(L"APPDATA"); }
fs::path state_folder() { return place(L"LOCALAPPDATA"); }

Result<std::string> read_saved(const fs::path& file) {
    std::error_code ignored;
    const fs::file_status status = fs::status(file, ignored);
    if (!fs::exists(status) || fs::is_regular_file(status)) return read_text_file(file);
    return bad_input(fmt::format("{} is not a regular file", file.string()));
}

}  // namespace attn::autosave
