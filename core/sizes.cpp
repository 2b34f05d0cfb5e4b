#include "core/sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attn {

void size_too_large(std::initializer_list<Index> factors) {
    throw SizeError(
        fmt::format("a size is {}; expected a number from 0 to 2^63 − 1 that memory can address",
                    fmt::join(factors, " × ")));
}

}  // namespace attn
