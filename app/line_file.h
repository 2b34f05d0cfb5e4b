#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

#include "core/result.h"

namespace attn {

/// A file that grows line by line; each line is in it when write() returns.
class LineFile {
  public:
    /// Begins the file anew.
    static Result<LineFile> open(const std::filesystem::path& path);
    Result<void> write(std::string_view line);

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::filesystem::path path_;
    std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace attn
