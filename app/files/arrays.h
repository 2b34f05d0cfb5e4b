#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/or_throw.h"
#include "app/files/axes.h"
#include "core/io/arrays/array_file.h"
#include "core/note.h"
#include "core/tensor.h"

namespace attn::files {

/// Reads arrays of one file, or folder, as what a call needs them to be. Every error names the file and the array.
class ArrayReader {
  public:
    /// "-": standard input.
    static ArrayReader open(const std::string& path);

    /// The file, as sentences name it.
    const std::string& path() const { return path_; }
    const std::vector<std::string>& names() const { return file_->names(); }
    bool has(std::string_view name) const { return file_->contains(name); }

    /// Gives arrays with the names of other programs the names here (renamed.h), but those in `fixed`; notes() lists them.
    void rename_others(const std::set<std::string>& fixed);

    /// Replaces arrays of the file, for all readers after.
    void replace(std::map<std::string, NpyArray> added, const std::set<std::string>& removed);

    /// What arrays of 8 and 16-bit integers hold; without it they are refused as numbers. Throws where a name is of an array
    /// of another type.
    void set_dtypes(const std::map<std::string, Bits, std::less<>>& dtypes);

    /// The array that was refused because nothing says what its integers hold; "": none.
    const std::string& undeclared() const { return undeclared_; }

    /// Empty when the file has no such array. Numbers become float32; notes() says what that loses.
    Tensor tensor(std::string_view name, const Axes& axes);
    /// The same of an array that holds several tensors; it must be there.
    std::vector<float> numbers(std::string_view name);
    /// A text scalar, a list of one text, or a text beside the arrays. nullopt: there is none. `what`: what it should hold.
    std::optional<std::string> text(std::string_view name, std::string_view what) const;
    /// A list of texts, or a text, scalar or beside the arrays, with a JSON array of strings. nullopt: there is none.
    std::optional<std::vector<std::string>> texts(std::string_view name) const;
    /// As it is; it must be there.
    NpyArray array(std::string_view name) const { return or_throw(file_->read(name, held_)); }
    /// The axes of an array that is there, each at least 1; its numbers stay unread.
    std::vector<Index> axes_of(std::string_view name) const;
    /// As numpy calls it, "float16", or "bfloat16", of bits what they are; it must be there.
    std::string dtype_of(std::string_view name) const;

    /// The axes in which a tensor was given; it must have been read.
    const std::vector<Index>& extents(std::string_view name) const;
    /// Renamed arrays, and what rounding to float32 lost, a sentence each.
    std::vector<Note> notes() const;

  private:
    ArrayReader(Arrays file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
    std::optional<NpyArray> find_text(std::string_view name) const;
    /// nullopt: it has no integers of 8 or 16 bits, or nothing says what they are.
    std::optional<Bits> bits_of(std::string_view name, std::string_view dtype) const;
    /// The axes of an array whose integers are bits: the last is half as long where two make a number.
    std::vector<Index> axes_of_bits(std::string_view name, const ArrayInfo& info) const;
    std::vector<float> floats(std::string_view name, NpyArray array);
    std::vector<float> round(std::string_view name, std::string_view dtype,
                             const std::vector<double>& values);

    Arrays file_;
    std::string path_;
    std::string renamed_;  // the note of rename_others()
    std::map<std::string, std::vector<Index>, std::less<>> extents_;
    std::map<std::string, Bits, std::less<>> dtypes_;
    std::string undeclared_;
    double held_ = 0.0;  // bytes of the tensors that were read
    std::vector<std::string> rounded_;
    bool only_float64_ = true;  // of rounded_
    std::vector<std::string> overflows_;
};

}  // namespace attn::files
