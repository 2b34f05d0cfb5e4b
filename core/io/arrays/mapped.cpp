#include "core/io/arrays/mapped.h"
#include "core/platform.h"
#include "core/text.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

namespace attn {
namespace {

namespace fs = std::filesystem;

Failure cannot_read(const fs::path& path, int code) {
    return bad_input(
        fmt::format("cannot read {}: {}", path.string(), std::generic_category().message(code)));
}

Failure no_file(const fs::path& path, platform::FileKind kind) {
    return bad_input(
        fmt::format("{} is {}; expected a file, or - for standard input", path.string(),
                    kind == platform::FileKind::folder ? "a folder" : "a pipe or device"));
}

}  // namespace

Result<void> check_readable(const fs::path& path) {
    const platform::FileStatus status = platform::readable_status(path);
    if (status.error != 0) return cannot_read(path, status.error);
    if (status.kind == platform::FileKind::other) return no_file(path, status.kind);
    return {};
}

Result<MappedFile> MappedFile::open(const fs::path& path) {
    const platform::MappedBytes mapped = platform::map_file(path);
    if (mapped.status.error != 0) return cannot_read(path, mapped.status.error);
    if (mapped.status.kind != platform::FileKind::file) return no_file(path, mapped.status.kind);
    return MappedFile(path, mapped.data, mapped.size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) platform::unmap_file(data_, size_);
}

// A file that was replaced under its name has more or fewer bytes, but those of the mapping stay: refused all the same.
Result<void> MappedFile::check_whole() const {
    std::error_code fault;
    const auto now = fs::file_size(path_, fault);
    if (!fault && now < size_)
        return bad_input(fmt::format("{} has {}; it had {} when it was opened", path_.string(),
                                     counted(now, "byte"), size_));
    return {};
}

void MappedFile::let_go(std::string_view part) const {
    platform::release_mapped(part.data(), part.data() + part.size());
}

}  // namespace attn
