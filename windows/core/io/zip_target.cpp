#include "core/io/zip_target.h"

namespace attn {

// libzip writes a file beside it and renames that over it.
zip_source_t* zip_target(const std::filesystem::path& file, zip_error_t* error) {
    return zip_source_win32w_create(file.c_str(), 0, -1, error);
}

}  // namespace attn
