#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.h"
#include "core/tensor.h"

namespace attn {

// numpy's .npy format, versions 1 to 3. Source: numpy.lib.format.

/// One array of a file, in C order whatever order and endianness the file has.
struct NpyArray {
    std::string dtype;           // as numpy calls it: "float32"
    std::vector<Index> extents;  // slowest axis first; empty for a scalar
    /// float: float16 and float32. double: float64 and integers. uint8: bool (0 or 1) and uint8.
    /// string: a text scalar; strings: one axis of texts. Both as UTF-8.
    std::variant<std::vector<float>, std::vector<double>, std::vector<std::uint8_t>, std::string,
                 std::vector<std::string>>
        values;
};

/// One number of a file: 'f' float, 'i' 'u' integers, 'b' bool, 'U' 'S' text.
struct NpyType {
    char kind = 0;
    std::uint64_t bytes = 0;  // of one item
    bool swapped = false;     // not this machine's byte order
    std::string name;
};

/// What the first bytes of a file promise. `total_bytes` = header + data, checked for overflow.
struct NpyHeader {
    NpyType type;
    bool fortran_order = false;
    std::vector<Index> extents;
    std::uint64_t data_offset = 0;
    std::uint64_t items = 0;
    std::uint64_t total_bytes = 0;
};

/// A header needs no more bytes than these.
inline constexpr std::size_t kMaxNpyHeader = 1 << 16;

/// `bytes` may be any prefix that holds the whole header; `what` names the array in the error.
Result<NpyHeader> parse_npy_header(std::string_view bytes, std::string_view what);

/// More texts than these are refused: each takes far more memory than its bytes in the file.
inline constexpr std::uint64_t kMaxTexts = std::uint64_t{1} << 22;

/// Refuses a file that is shorter or longer than its header promises, object and structured arrays,
/// complex numbers, texts of two axes and more, and bytes that are not UTF-8.
Result<NpyArray> parse_npy(std::string_view bytes, std::string_view what);

/// Header of a version 1.0 file of float32 in C order, padded so that the data is 64-byte aligned.
std::string npy_header(std::span<const Index> extents);

/// "[2, 3]"; "[]" for a scalar.
std::string to_string(std::span<const Index> extents);

}  // namespace attn
