#pragma once

#include <cstddef>

namespace attn {

// Memory for the numbers of large tensors. A fresh page costs a fault and a clearing write, for a stage of 2048² scores
// as long as computing it; so a block that is freed is kept for the next tensor of its size instead of going back.
// Kept blocks are bounded (kMaxCachedBytes) and offered to the kernel (MADV_FREE), which takes their pages as soon as
// another program needs memory.

/// A tensor of at least this many bytes lives in a block of its own.
inline constexpr std::size_t kLeastBlockBytes = std::size_t{4} << 20;
/// A trace of 8 heads of 2048 tokens, and as much again.
inline constexpr std::size_t kMaxCachedBytes = std::size_t{1} << 30;

/// At least `bytes` bytes of any content, on a boundary of 2 MiB where pages may be that large. Throws std::bad_alloc.
/// Thread-safe.
void* take_block(std::size_t bytes);
/// Returns a block of take_block(bytes) to the cache, which drops its oldest blocks when it is full.
void give_block(void* block, std::size_t bytes) noexcept;

/// Bytes that no tensor holds now.
std::size_t cached_block_bytes();
/// Gives them back to the system.
void release_cached_blocks();

}  // namespace attn
