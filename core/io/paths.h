#pragma once

#include <filesystem>
#include <string>

#include "core/result.h"

namespace attn {

// A file that another file names: found again when both were moved, or when the program runs elsewhere.

/// How a file in `folder` names `path`, which is as the program was given it: relative to `folder` where there is a
/// way, else absolute. "-" and "" are no paths and stay; so does everything where `folder` is not known ("").
std::string path_from(const std::filesystem::path& folder, const std::string& path);

/// The path from the root, without "." and "..".
std::string absolute_path(const std::string& path);

/// The file that `named` means in a file of `folder`: from that folder, else at `absolute` (may be ""), else from where
/// the program runs, else by its last name in that folder. An error names every place that was looked at.
Result<std::string> find_named(const std::filesystem::path& folder, const std::string& named,
                               const std::string& absolute);

}  // namespace attn
