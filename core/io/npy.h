#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.h"
#include "core/sizes.h"

namespace attn {

// numpy's .npy format, versions 1 to 3. Source: numpy.lib.format.

/// One array of a file, in C order whatever order and endianness the file has.
struct NpyArray {
    std::string dtype;           // as numpy calls it: "float32"
    std::vector<Index> extents;  // slowest axis first; empty for a scalar
    /// float: float16, bfloat16, float32, int8, int16 and uint16. double: float64 and other integers. uint8: bool (0 or 1) and uint8.
    /// string: a text scalar; strings: one axis of texts. Both as UTF-8.
    std::variant<std::vector<float>, std::vector<double>, std::vector<std::uint8_t>, std::string,
                 std::vector<std::string>>
        values;
};

/// One number of a file: 'f' float, 'B' bfloat16 (not of numpy), 'i' 'u' integers, 'b' bool, 'U' 'S' text, 'O' a value of Python.
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

/// An array of more axes is refused.
inline constexpr std::size_t kMostAxes = 32;
/// The order of bytes in this machine's numbers; files of the other order are swapped.
inline constexpr bool kBigEndian = std::endian::native == std::endian::big;

/// Sets items and total_bytes from the rest; false when they don't fit 63 bits.
bool measure(NpyHeader& header);
/// How many values an array has.
std::uint64_t items_of(const NpyArray& array);

/// A header needs no more bytes than these.
inline constexpr std::size_t kMaxNpyHeader = 1 << 16;

/// `bytes` may be any prefix that holds the whole header; `what` names the array in the error.
Result<NpyHeader> parse_npy_header(std::string_view bytes, std::string_view what);

/// Of numpy's name of a type, "<f4"; nullopt: it is none that is read.
std::optional<NpyType> npy_type(std::string_view descr);
/// Where the pickle begins in a file of Python's objects; nullopt: it has none.
std::optional<std::uint64_t> npy_objects(std::string_view bytes);

/// More texts than these are refused: each takes far more memory than its bytes in the file.
inline constexpr std::uint64_t kMaxTexts = std::uint64_t{1} << 22;

bool is_text(const NpyType& type);
/// Of one number of NpyArray::values: 1, 4 or 8.
std::size_t bytes_of_value(const NpyType& type);

/// The numbers of an array whose data comes in pieces, so that nothing but the values is held.
class NpyNumbers {
  public:
    /// Not of texts. Allocates items · bytes_of_value(); what is not added stays 0.
    explicit NpyNumbers(const NpyHeader& header);
    /// The next bytes of the data, cut anywhere; together no more than the header promises.
    void add(std::string_view bytes);
    /// In C order: once.
    NpyArray finish();

  private:
    void add_whole(std::string_view bytes);

    NpyHeader header_;
    NpyArray array_;
    std::string rest_;  // of an item that is not there whole
    std::size_t done_ = 0;
};

/// Refuses a file that is shorter or longer than its header promises, object and structured arrays,
/// complex numbers, texts of two axes and more, and bytes that are not UTF-8.
Result<NpyArray> parse_npy(std::string_view bytes, std::string_view what);

/// Header of a version 1.0 file in C order, padded so that the data is 64-byte aligned; of float32 unless said otherwise.
std::string npy_header(std::span<const Index> extents, std::string_view dtype = "<f4");
/// The whole file of a list of texts, as numpy keeps them: '<U' of the longest, which ends at no "\0".
std::string npy_of_texts(std::span<const std::string> texts);

/// "[2, 3]"; "[]" for a scalar.
std::string to_string(std::span<const Index> extents);

}  // namespace attn
