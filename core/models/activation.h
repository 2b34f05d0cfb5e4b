#pragma once

#include <cstdint>

namespace attn {

enum class Activation : std::uint8_t {
    relu,
    gelu,       // x Φ(x)
    gelu_tanh,  // ½ x (1 + tanh(√(2/π) (x + 0.044715 x³)))
    silu,       // x / (1 + e^−x)
    quick_gelu  // x / (1 + e^(−1.702 x))
};

}  // namespace attn
