#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace attn {

// Many standard normal numbers quickly, the same bits on every machine and compiler: Box–Muller with
// polynomials of our own, from +, −, ×, ÷ and √ of IEEE floats alone (normals.cpp is built without
// contraction to fused multiply-add).

inline constexpr std::size_t kNormalBlock = 64;
using NormalBlock = std::array<float, kNormalBlock>;

/// Block `block` of stream `seed`: 64 independent N(0, 1) numbers that need no block before it.
/// |x| <= 5.77 (24-bit uniforms); each number is within 1e-6 of exact Box–Muller of its bits.
/// Source: Box & Muller 1958; bits from mix() of rng.h, one call for two numbers.
void fill_normal_block(std::uint64_t seed, std::uint64_t block, NormalBlock& out);

}  // namespace attn
