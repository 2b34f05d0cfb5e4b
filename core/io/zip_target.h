#pragma once

#include <zip.h>

#include <filesystem>

namespace attn {

/// An existing file that a zip is written to, as a source of libzip. nullptr, and `error`, if the file cannot be opened.
zip_source_t* zip_target(const std::filesystem::path& file, zip_error_t* error);

}  // namespace attn
