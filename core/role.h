#pragma once

#include <cstdint>

namespace attn {

/// The role colour used for a stage in formulas, headers, strips and curves. The last four are of things that are not part of
/// attention: formats, methods.
enum class Role : std::uint8_t {
    input,
    query,
    key,
    value,
    score,
    weight,
    output,
    first,
    second,
    third,
    fourth
};

/// How values become colours: signed about 0, or a probability in [0, 1].
enum class ColorScale : std::uint8_t { diverging, unit };

}  // namespace attn
