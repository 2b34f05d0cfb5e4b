#include "app/files/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "app/files/standard.h"
#include "app/files/text.h"
#include "core/io/arrays/array_file.h"
#include "core/io/file.h"
#include "core/platform.h"
#include "core/text.h"

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

/// The same for two names of one file: a regular file's identity, or where the path of one leads that is not there yet.
/// nullopt for devices and pipes, which can be read and written at once.
std::optional<std::string> identity_of(const fs::path& path) {
    auto identity = platform::file_identity(path);
    if (!identity) return followed(path).string();
    return identity->empty() ? std::nullopt : identity;
}

Failure lost(const NamedFile& output, const NamedFile& other) {
    return bad_input(fmt::format(
        "{} is {}, the same file as {}{}; expected another file: this one would be overwritten",
        output.name, output.path, other.name, other.path == output.path ? "" : ' ' + other.path));
}

}  // namespace

std::vector<NamedFile> files_of(const NamedFile& input) {
    std::vector<NamedFile> files;
    for (const fs::path& path : files_behind(input.path))
        files.push_back({input.name, path.string()});
    return files;
}

Result<void> check_outputs(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs) {
    std::map<std::string, const NamedFile*> read, written;
    for (const NamedFile& input : inputs)
        if (!input.path.empty())
            if (const auto identity = identity_of(real_path(input.path, Use::read)))
                read.try_emplace(*identity, &input);
    for (const NamedFile& output : outputs) {
        if (output.path.empty()) continue;
        auto identity = identity_of(real_path(output.path, Use::written));
        if (identity && read.contains(*identity)) return lost(output, *read[*identity]);
        if (is_standard(output.path)) identity.emplace(1, '-');
        if (!identity) continue;
        if (const auto [other, is_new] = written.try_emplace(*identity, &output); !is_new)
            return lost(output, *other->second);
    }
    return {};
}

Result<void> check_extension(const NamedFile& output, std::span<const std::string_view> known) {
    if (output.path.empty() || is_standard(output.path) || writes_in_place(output.path)) return {};
    const std::string extension = fs::path(output.path).extension().string();
    if (std::ranges::count(known, extension) > 0) return {};
    const std::vector<std::string> items(known.begin(), known.end());
    return bad_input(fmt::format("{} is {}; expected a name that ends in {}, or -", output.name,
                                 output.path, choices(items)));
}

Result<void> check_extension(const NamedFile& output, std::string_view known) {
    return check_extension(output, std::span(&known, 1));
}

}  // namespace attn::files
