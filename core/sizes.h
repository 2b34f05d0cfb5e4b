#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <utility>

namespace attn {

/// Sizes and offsets: 64-bit, because 32 heads of 8192 x 8192 weights are exactly 2^31 entries.
using Index = std::int64_t;

// Every size that is a product of numbers from outside (extents of a file, values of options) is multiplied here, before
// memory is asked for: a product that wraps around would make a buffer that is smaller than what is written to it.

/// Thrown where a size is larger than a number can hold or memory can address.
class SizeError : public std::length_error {
  public:
    using std::length_error::length_error;
};

/// Throws SizeError: "a size is 4611686018427387904 × 4, ...".
[[noreturn]] void size_too_large(std::initializer_list<Index> factors);

/// The product of sizes. 0 where one of them is 0, whatever the others are. Throws SizeError above 2^63 − 1.
template <std::same_as<Index>... Sizes>
constexpr Index product(Sizes... sizes) {
    if (((sizes == 0) || ...)) return 0;
    Index result = 1;
    if (!(!__builtin_mul_overflow(result, sizes, &result) && ...)) size_too_large({sizes...});
    return result;
}

/// The bytes of `count` values of `size` bytes each. Throws SizeError where no array can be as large.
constexpr std::size_t byte_count(Index count, std::size_t size) {
    const Index bytes = product(count, static_cast<Index>(size));
    if (bytes < 0 || !std::in_range<std::ptrdiff_t>(bytes))
        size_too_large({count, static_cast<Index>(size)});
    return static_cast<std::size_t>(bytes);
}

}  // namespace attn
