#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/npz.h"
#include "core/tensor.h"

namespace attn::files {

/// How the axes of an array are read.
enum class Layout {
    heads,   // [T, d], [H, T, d] or [B, H, T, d]
    tokens,  // [T, d], [B, T, d] or [B, 1, T, d]
    weight,  // [in, out]
    bias,    // [n] or [1, n]
};

/// Reads arrays of one file as what a call needs them to be. Every error names the file and the array.
class ArrayReader {
  public:
    /// "-": standard input.
    static Result<ArrayReader> open(const std::string& path);

    /// The file, as sentences name it.
    const std::string& path() const { return path_; }
    const std::vector<std::string>& names() const { return file_.names(); }
    bool has(std::string_view name) const { return file_.contains(name); }

    /// Empty when the file has no such array. Numbers become float32; notes() says what that loses.
    Result<Tensor> tensor(std::string_view name, Layout layout);
    /// A text scalar, or a list of one text. nullopt: no such array. `what`: what it should hold.
    Result<std::optional<std::string>> text(std::string_view name, std::string_view what) const;
    /// A list of texts, or a text scalar with a JSON array of strings. nullopt: no such array.
    Result<std::optional<std::vector<std::string>>> texts(std::string_view name) const;
    /// As it is; it must be there.
    Result<NpyArray> array(std::string_view name) const { return file_.read(name); }

    /// The axes in which a tensor was given; it must have been read.
    const std::vector<Index>& extents(std::string_view name) const;
    /// What rounding to float32 lost, a sentence each.
    std::vector<std::string> notes() const;

  private:
    ArrayReader(NpzFile file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
    Result<std::vector<float>> floats(std::string_view name, NpyArray array);
    std::vector<float> round(std::string_view name, std::string_view dtype,
                             const std::vector<double>& values);

    NpzFile file_;
    std::string path_;
    std::map<std::string, std::vector<Index>, std::less<>> extents_;
    std::vector<std::string> rounded_;
    std::vector<std::string> overflows_;
};

}  // namespace attn::files
