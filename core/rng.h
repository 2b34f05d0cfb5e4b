#pragma once

#include <cstdint>
#include <string_view>

namespace attn {

// Numbers that are the same on every machine and compiler (the standard library's distributions are
// not). Counter-based: entry n of a stream needs no entry before it.

/// A well-mixed 64-bit hash of (seed, counter): SplitMix64, Steele et al. 2014.
constexpr std::uint64_t mix(std::uint64_t seed, std::uint64_t counter) {
    std::uint64_t z = seed + 0x9E3779B97F4A7C15ULL * (counter + 1);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

/// Uniform in [0, 1) with 53 bits.
constexpr double uniform(std::uint64_t seed, std::uint64_t counter) {
    return static_cast<double>(mix(seed, counter) >> 11) * 0x1.0p-53;
}

/// Standard normal by Box–Muller: cos branch of uniforms 2n and 2n + 1 of the stream.
double normal(std::uint64_t seed, std::uint64_t counter);

/// FNV-1a: the same word gives the same number.
constexpr std::uint64_t hash_text(std::string_view text) {
    std::uint64_t h = 0xCBF29CE484222325ULL;
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
    return h;
}

}  // namespace attn
