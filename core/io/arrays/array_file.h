#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/block_code.h"
#include "core/halves.h"
#include "core/io/npy.h"
#include "core/result.h"

namespace attn {

/// What a file says of one array, without a look at its numbers.
struct ArrayInfo {
    std::string
        dtype;  // as numpy calls it: "float32"; "bfloat16"; one that cannot be read as the file calls it
    std::vector<Index> extents;
    std::uint64_t bytes = 0;  // of its numbers when unpacked
};

/// An array of 16-bit floats as its file holds them, slowest axis first, in C order.
struct HalfArray {
    HalfFormat format = HalfFormat::float16;
    std::vector<Index> extents;
    std::vector<std::uint16_t> values;
};

/// A quantised array as its file holds it, slowest axis first: each row along the last axis has whole blocks of `code`.
struct CodeArray {
    const BlockCode* code = nullptr;
    std::vector<Index> extents;
    std::vector<unsigned char> bytes;
};

/// Named arrays, of whatever format: of a file, of the shards of a model, of a folder. Opening reads names and headers; the
/// numbers are read one array at a time. Every error names file and array.
class ArrayFile {
  public:
    virtual ~ArrayFile() = default;
    ArrayFile(const ArrayFile&) = delete;
    ArrayFile& operator=(const ArrayFile&) = delete;

    /// The file, as sentences name it.
    const std::string& what() const { return what_; }
    const std::vector<std::string>& names() const { return names_; }
    bool contains(std::string_view name) const { return places_.contains(name); }

    Result<ArrayInfo> about(std::string_view name) const;
    /// `held`: bytes that the caller keeps of what was read before. What would not fit in this machine's memory beside
    /// them is refused before anything is allocated.
    Result<NpyArray> read(std::string_view name, double held = 0.0) const;
    /// Without widening them; nullopt: the array holds other numbers, or this format of files knows only read().
    Result<std::optional<HalfArray>> read_halves(std::string_view name, double held = 0.0) const;
    /// Without dequantising them; nullopt: the array is not quantised, or this format of files knows only read().
    Result<std::optional<CodeArray>> read_codes(std::string_view name, double held = 0.0) const;
    /// A text that stands beside the arrays, such as `__metadata__` of safetensors. nullopt: there is none.
    virtual Result<std::optional<std::string>> text(std::string_view key) const;

  protected:
    explicit ArrayFile(std::string what) : what_(std::move(what)) {}
    /// Before anything else. A name that is there twice is refused.
    Result<void> set_names(std::vector<std::string> names);

  private:
    // `at` counts in names(); `what` is "FILE: NAME".
    virtual Result<ArrayInfo> about_at(std::size_t at, const std::string& what) const = 0;
    virtual Result<NpyArray> read_at(std::size_t at, const std::string& what,
                                     double held) const = 0;
    virtual Result<std::optional<HalfArray>> read_halves_at(std::size_t at, const std::string& what,
                                                            double held) const;
    virtual Result<std::optional<CodeArray>> read_codes_at(std::size_t at, const std::string& what,
                                                           double held) const;
    /// With type and sizes, where they are known.
    std::string sized(std::size_t at, const std::string& what) const;
    Result<std::size_t> find(std::string_view name, const std::string& what) const;

    std::string what_;
    std::vector<std::string> names_;
    std::map<std::string, std::size_t, std::less<>> places_;
};

using Arrays = std::unique_ptr<const ArrayFile>;

/// A row of the table of formats.
struct ArrayFormat {
    std::string_view extension;  // what its names end in; "/": a folder
    std::string_view text;
    Result<Arrays> (*open)(const std::filesystem::path& path);
    /// From memory, which must outlive it; `what` names the bytes in errors. null: not without its folder.
    Result<Arrays> (*parse)(std::string_view bytes, std::string_view what);
    bool (*begins)(std::string_view bytes);  // whether these first bytes can be of this format
    bool in_folders = true;  // whether a folder of arrays is read with its files of this format
};
std::span<const ArrayFormat> array_formats();
/// More first bytes than these tell nothing of the format.
inline constexpr std::size_t kFormatBytes = 256;

/// By its name, or as a folder; null: it is none of them.
const ArrayFormat* find_format(const std::filesystem::path& path);
/// By the first bytes; null: they are of none.
const ArrayFormat* find_format_of(std::string_view bytes);
/// ".npz, .npy, .safetensors, …"; `in_folders`: those that a folder is read with.
std::string array_file_text(bool in_folders = false);
/// The same with "or a folder".
std::string array_format_text();

/// By its first bytes, else by its name.
Result<Arrays> open_arrays(const std::filesystem::path& path);
/// An error where a stream that begins with these bytes, kFormatBytes of them or all, can be no file of arrays.
Result<void> check_begins_arrays(std::string_view first, std::string_view what);
/// By the first bytes. The bytes must outlive it.
Result<Arrays> parse_arrays(std::string_view bytes, std::string_view what);

/// The files that open_arrays() would read: the path itself, and the shards and files it stands for.
std::vector<std::filesystem::path> files_behind(const std::filesystem::path& path);

}  // namespace attn
