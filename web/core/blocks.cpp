#include "core/blocks.h"

#include <new>

namespace attn {

// Memory of a page never goes back to the system, so nothing is gained by keeping a block.

namespace {

constexpr std::align_val_t kBoundary{64};

}  // namespace

void* take_block(std::size_t bytes) { return ::operator new(bytes, kBoundary); }
void give_block(void* block, std::size_t) noexcept { ::operator delete(block, kBoundary); }
std::size_t cached_block_bytes() { return 0; }
void release_cached_blocks() {}

}  // namespace attn
