#include "app/line_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace attn {

Result<LineFile> LineFile::open(const std::filesystem::path& path) {
    LineFile self;
    self.path_ = path;
    self.file_.reset(std::fopen(path.c_str(), "w"));
    if (!self.file_)
        return failed(
            fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
    return self;
}

Result<void> LineFile::write(std::string_view line) {
    const bool whole = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size() &&
                       std::fputc('\n', file_.get()) != EOF && std::fflush(file_.get()) == 0;
    if (!whole)
        return failed(fmt::format("{}: the line cannot be written: {}; no more lines are written",
                                  path_.string(), std::strerror(errno)));
    return {};
}

}  // namespace attn
