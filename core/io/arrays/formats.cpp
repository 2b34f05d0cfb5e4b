#include "core/io/arrays/formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/io/arrays/foreign.h"
#include "core/io/arrays/mapped.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = "/";

// A local header of a zip: 26 bytes, the length of the name as a u16, that of more, the name.
constexpr std::size_t kZipLength = 26, kZipName = 30;

bool begins_torch(std::string_view bytes) {
    if (!bytes.starts_with("PK\x03\x04") || bytes.size() < kZipName) return false;
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(bytes[kZipLength])) +
                        256 * static_cast<unsigned char>(bytes[kZipLength + 1]);
    return bytes.substr(kZipName, length).ends_with("/data.pkl");
}
bool begins_npz(std::string_view bytes) { return bytes.starts_with("PK") && !begins_torch(bytes); }
bool begins_npy(std::string_view bytes) { return bytes.starts_with("\x93NUMPY"); }
bool begins_safetensors(std::string_view bytes) { return bytes.size() > 8 && bytes[8] == '{'; }
/// A protocol buffer whose first field is the version of ONNX, its second the producer's name.
bool begins_onnx(std::string_view bytes) {
    return bytes.size() > 2 && bytes[0] == 8 && bytes[1] > 0 && bytes[1] < 32 && bytes[2] == 0x12 &&
           !begins_safetensors(bytes);
}
/// Protocols 2 to 5.
bool begins_pickle(std::string_view bytes) {
    return bytes.size() > 1 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5 &&
           !begins_safetensors(bytes);
}
bool never(std::string_view) { return false; }

constexpr ArrayFormat kFormats[] = {
    {".npz", "arrays by name, of numpy.savez", open_npz, parse_npz_file, begins_npz},
    {".npy", "one array, of numpy.save, by the name of its file", open_npy, parse_npy_file,
     begins_npy},
    {".safetensors", "arrays by name, of models", open_safetensors, parse_safetensors,
     begins_safetensors},
    {".pt", "tensors by name, of torch.save", open_torch, parse_torch, begins_torch, false},
    {".pth", "the same", open_torch, parse_torch, begins_torch, false},
    {".onnx", "the initialisers of an ONNX model", open_onnx, parse_onnx, begins_onnx, false},
    {".pkl", "a pickle of numpy's arrays", open_pickle, parse_pickled, begins_pickle, false},
    {".index.json", "a model in several files", open_shards, nullptr, never},
    {kFolder, "a folder of such files", open_folder, nullptr, never},
};

Failure of_no_format(std::string_view what, const fs::path& path, std::string_view bytes) {
    std::string foreign = foreign_text(what, path, bytes);
    if (!foreign.empty()) return bad_input(std::move(foreign));
    return bad_input(
        fmt::format("{} is not a file of arrays; expected {}", what, array_format_text()));
}

/// By its first bytes, and where those are of no format by its name.
const ArrayFormat* format_of(const ArrayFormat* named, std::string_view bytes) {
    if (named && (named->parse == nullptr || named->begins(bytes))) return named;
    const ArrayFormat* const found = find_format_of(bytes);
    return found ? found : named;
}

/// By the bytes alone, whatever the name.
bool begins_foreign(std::string_view bytes) { return !foreign_text("", {}, bytes).empty(); }

}  // namespace

std::span<const ArrayFormat> array_formats() { return kFormats; }

const ArrayFormat* find_format(const fs::path& path) {
    std::error_code ignored;
    const bool folder = fs::is_directory(path, ignored);
    const std::string name = path.filename().string();
    const auto found = std::ranges::find_if(kFormats, [&](const ArrayFormat& format) {
        return folder ? format.extension == kFolder
                      : name.size() > format.extension.size() && name.ends_with(format.extension);
    });
    return found == std::end(kFormats) ? nullptr : &*found;
}

const ArrayFormat* find_format_of(std::string_view bytes) {
    const auto found = std::ranges::find_if(
        kFormats, [&](const ArrayFormat& format) { return format.begins(bytes); });
    return found == std::end(kFormats) ? nullptr : &*found;
}

std::string array_file_text(bool in_folders) {
    std::vector<std::string_view> extensions;
    for (const ArrayFormat& format : kFormats)
        if (format.extension != kFolder && (format.in_folders || !in_folders))
            extensions.push_back(format.extension);
    return fmt::format("{}", fmt::join(extensions, ", "));
}

std::string array_format_text() { return array_file_text() + " or a folder"; }

Result<Arrays> open_arrays(const fs::path& path) {
    const ArrayFormat* const named = find_format(path);
    std::error_code ignored;
    if (auto there = check_readable(path); !there) return tl::unexpected(there.error());
    if (named && !fs::is_regular_file(path, ignored)) return named->open(path);
    const std::string bytes = first_bytes(path);
    const ArrayFormat* const format = format_of(named, bytes);
    if (format && !begins_foreign(bytes)) return format->open(path);
    return of_no_format(path.string(), path, bytes);
}

Result<void> check_begins_arrays(std::string_view first, std::string_view what) {
    if (first.empty()) return bad_input(fmt::format("{} is empty; expected arrays", what));
    if (find_format_of(first) && !begins_foreign(first)) return {};
    return of_no_format(what, "FILE", first);
}

Result<Arrays> parse_arrays(std::string_view bytes, std::string_view what) {
    if (auto begins = check_begins_arrays(bytes.substr(0, kFormatBytes), what); !begins)
        return tl::unexpected(std::move(begins.error()));
    return find_format_of(bytes)->parse(bytes, what);
}

std::vector<fs::path> files_behind(const fs::path& path) {
    std::vector<fs::path> files{path};
    const ArrayFormat* const format = find_format(path);
    if (format && format->open == open_shards)
        if (const auto shards = shards_of(path))
            for (const std::string& shard : *shards) files.push_back(path.parent_path() / shard);
    if (!format || format->open != open_folder) return files;
    if (const auto inside = arrays_in(path))
        for (const fs::path& file : *inside)
            std::ranges::copy(files_behind(file), std::back_inserter(files));
    return files;
}

}  // namespace attn
