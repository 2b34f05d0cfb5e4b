#pragma once

#include <span>
#include <string_view>

namespace attn {

/// GFLOP/s of fused multiply-adds in registers (2 FLOP each), float, on `threads` threads at once for
/// about `milliseconds`: what no kernel can exceed, so every speed is quoted as a fraction of it.
double fma_peak_gflops(int threads, double milliseconds);

/// GB/s of the triad a = b + s · c on arrays beyond every cache, on `threads` threads at once for about `milliseconds`
/// after its 96 MiB are there; counted as STREAM does: two reads and one write of each entry.
double stream_gbytes(int threads, double milliseconds);

/// Seconds that it takes all threads to read some numbers once, in runs as long as a cache holds.
double read_seconds(std::span<const std::span<const float>> numbers);

/// The instruction set that the kernels use on this machine: "AVX2", "AVX3" (AVX-512), "NEON", ...
std::string_view simd_target();

}  // namespace attn
