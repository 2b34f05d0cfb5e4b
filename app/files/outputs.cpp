#include "app/files/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "app/files/standard.h"
#include "app/files/words.h"
#include "core/io/file.h"

namespace attn::files {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as the kernel follows

/// Where a path leads, through links that point at nothing too.
fs::path followed(fs::path path) {
    std::error_code ignored;
    for (int links = 0; links < kMostLinks && fs::is_symlink(path, ignored); ++links) {
        const fs::path target = fs::read_symlink(path, ignored);
        path = target.is_absolute() ? target : path.parent_path() / target;
    }
    return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
}

enum class Use { read, written };

fs::path real_path(const std::string& path, Use use) {
    if (is_standard(path)) return use == Use::read ? "/dev/stdin" : "/dev/stdout";
    return path;
}

/// A device can be read and written at once; two regular files are one by device and inode, two that are not
/// there yet by their path.
bool same_file(const fs::path& a, const fs::path& b) {
    std::error_code fault;
    const fs::file_status status = fs::status(a, fault);
    if (fs::is_regular_file(status)) return fs::equivalent(a, b, fault);
    return !fs::exists(status) && !fs::exists(b, fault) && followed(a) == followed(b);
}

bool both_standard(const NamedFile& a, const NamedFile& b) {
    return is_standard(a.path) && is_standard(b.path);
}

tl::unexpected<Error> lost(const NamedFile& output, const NamedFile& other) {
    return bad_input(fmt::format(
        "{} is {}, the same file as {}{}; expected another file: it would be lost", output.name,
        output.path, other.name, other.path == output.path ? "" : ' ' + other.path));
}

}  // namespace

Result<void> check_outputs(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs) {
    for (auto output = outputs.begin(); output != outputs.end(); ++output) {
        if (output->path.empty()) continue;
        const fs::path written = real_path(output->path, Use::written);
        for (const NamedFile& input : inputs)
            if (!input.path.empty() && same_file(written, real_path(input.path, Use::read)))
                return lost(*output, input);
        for (const NamedFile& other :
             outputs.first(static_cast<std::size_t>(output - outputs.begin())))
            if (!other.path.empty() && (both_standard(*output, other) ||
                                        same_file(written, real_path(other.path, Use::written))))
                return lost(*output, other);
    }
    return {};
}

Result<void> check_extension(const NamedFile& output, std::span<const std::string_view> known) {
    if (output.path.empty() || is_standard(output.path) || writes_in_place(output.path)) return {};
    const std::string extension = fs::path(output.path).extension().string();
    if (std::ranges::count(known, extension) > 0) return {};
    const std::vector<std::string> words(known.begin(), known.end());
    return bad_input(fmt::format("{} is {}; expected a name that ends in {}, or -", output.name,
                                 output.path, choices(words)));
}

Result<void> check_extension(const NamedFile& output, std::string_view known) {
    return check_extension(output, std::span(&known, 1));
}

}  // namespace attn::files
