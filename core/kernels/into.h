#pragma once

#include <cstdint>

namespace attn {

/// A product replaces its output, or is added to it.
enum class Into : std::uint8_t { replace, add };

}  // namespace attn
