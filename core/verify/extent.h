#pragma once

#include <string>

#include "core/verify/compare.h"

namespace attn::verify {

/// What the columns of an array are: of pairs, keys stand right or left of a diagonal.
enum class ColumnsAre : std::uint8_t { features, keys };

/// Where the numbers beyond tolerance stand and what stands there: "rows 128–149 (the last block of 32, 64 or 128) of
/// every head, all 0". Blocks are of 16, 32, 64 and 128. "" where nothing is beyond; the shapes must be the same.
std::string extent_text(const Tensor& actual, const TensorD& expected, const Tolerance& tolerance,
                        ColumnsAre columns);

}  // namespace attn::verify
