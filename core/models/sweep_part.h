#pragma once

#include <cstdint>
#include <string_view>

namespace attn {

/// What a sweep changes, t a position; in its place stands what an Ablation says.
enum class SweepPart : std::uint8_t {
    heads,     // a head's context c_t
    residual,  // what a layer reads, x_t: the sum of all before it
    mlp        // what a layer's MLP adds, m_t
};
inline constexpr std::string_view kSweepParts[] = {"heads", "residual", "mlp"};

}  // namespace attn
