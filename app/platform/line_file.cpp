#include "app/platform/line_file.h"

#include <fmt/format.h>

#include <optional>
#include <system_error>

#include "app/platform/locked_file.h"
#include "core/io/json.h"

namespace attn {
namespace {

constexpr std::size_t kMostOfFirstLine = 1 << 16;

Failure cannot_write(const std::filesystem::path& path, const std::string& why) {
    return failed(fmt::format("{}: cannot be written: {}", path.string(), why));
}

bool is_action(std::string_view line) {
    const auto json = parse_json(line, "");
    return json && json->is_object() && json->contains("action");
}

bool is_frame_time(std::string_view line) {
    return !line.empty() && line[0] >= '0' && line[0] <= '9' && line.find(" s ") != line.npos &&
           line.ends_with(" ms");
}

}  // namespace

const LineKind kJournalLines{"a journal", is_action};
const LineKind kFrameLogLines{"a frame log", is_frame_time};

Result<LineFile> LineFile::open(const std::filesystem::path& path, const LineKind& kind) {
    const LockedFile file = path == "-" ? open_standard_output() : open_locked(path);
    LineFile self;
    self.path_ = path;
    self.fd_ = file.fd;
    self.is_new_ = file.is_new;
    if (file.refused == Refused::failed) return cannot_write(path, file.error);
    if (file.refused == Refused::locked)
        return failed(fmt::format("{}: another process writes to it; expected {} of its own",
                                  path.string(), kind.text));
    if (path == "-") return self;
    if (auto valid = self.check_content(kind); !valid)
        return tl::unexpected(std::move(valid.error()));
    return self;
}

/// A device or a pipe has no lock: many processes may write to it.
Result<void> LineFile::check_content(const LineKind& kind) const {
    if (regular_file_bytes(fd_).value_or(0) == 0) return {};
    const auto bytes = first_bytes(fd_, path_, kMostOfFirstLine);
    if (bytes && kind.is_one(std::string_view(*bytes).substr(0, bytes->find('\n')))) return {};
    return bad_input(
        fmt::format("{} has other content; expected {}, or a new file", path_.string(), kind.text));
}

LineFile& LineFile::operator=(LineFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(fd_, other.fd_);
    std::swap(is_new_, other.is_new_);
    return *this;
}

LineFile::~LineFile() {
    if (fd_ < 0) return;
    std::error_code ignored;
    if (is_new_) std::filesystem::remove(path_, ignored);
    close_file(fd_);
}

Result<void> LineFile::begin() {
    is_new_ = false;
    if (path_ == "-" || !regular_file_bytes(fd_)) return {};
    const std::string error = empty_file(fd_);
    return error.empty() ? Result<void>{} : cannot_write(path_, error);
}

Result<void> LineFile::write(std::string_view line) {
    const std::string error = append_all(fd_, std::string(line) + '\n');
    if (error.empty()) return {};
    return failed(fmt::format("{}: the line cannot be written: {}; no more lines are written",
                              path_.string(), error));
}

}  // namespace attn
