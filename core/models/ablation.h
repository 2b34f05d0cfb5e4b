#pragma once

#include <cstdint>
#include <string_view>

namespace attn {

/// What stands in place of a head's context c_t, t the position:
enum class Ablation : std::uint8_t {
    zero,  // 0: as its rows of W_O were 0
    mean,  // (1/T) Σ_t c_t
    patch  // c_t of another text of as many tokens
};
inline constexpr std::string_view kAblations[] = {"zero", "mean", "patch"};

}  // namespace attn
