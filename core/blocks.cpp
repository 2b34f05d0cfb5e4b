#include "core/blocks.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <mutex>
#include <new>

#include "core/memory.h"
#include "core/platform.h"

namespace attn {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t rounded(std::size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

/// Freed blocks, oldest first. An allocator's own state: no result depends on it.
class CachedBlocks {
  public:
    /// The newest of that size; nullptr when there is none.
    void* take(std::size_t bytes) {
        const std::scoped_lock lock(mutex_);
        const auto found = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                        [&](const Block& block) { return block.bytes == bytes; });
        if (found == blocks_.rend()) return nullptr;
        void* const start = found->start;
        cached_bytes_ -= bytes;
        blocks_.erase(std::next(found).base());
        return start;
    }

    void keep(void* start, std::size_t bytes) {
        if (bytes > most_) {
            platform::unmap_pages(start, bytes);
            return;
        }
        platform::offer_pages(start, bytes);
        const std::scoped_lock lock(mutex_);
        shrink_to(most_ - bytes);
        blocks_.push_back({start, bytes});
        cached_bytes_ += bytes;
    }

    void release() {
        const std::scoped_lock lock(mutex_);
        shrink_to(0);
    }

    std::size_t bytes() {
        const std::scoped_lock lock(mutex_);
        return cached_bytes_;
    }

  private:
    struct Block {
        void* start;
        std::size_t bytes;
    };

    void shrink_to(std::size_t most) {
        while (cached_bytes_ > most) {
            platform::unmap_pages(blocks_.front().start, blocks_.front().bytes);
            cached_bytes_ -= blocks_.front().bytes;
            blocks_.pop_front();
        }
    }

    const std::size_t most_ =
        std::min(kMaxCachedBytes, static_cast<std::size_t>(memory_bytes()) / 8);
    std::mutex mutex_;
    std::deque<Block> blocks_;
    std::size_t cached_bytes_ = 0;
};

/// Never destroyed: tensors of static storage may outlive whatever would destroy it.
CachedBlocks& cached_blocks() {
    static auto* const blocks = new CachedBlocks;
    return *blocks;
}

}  // namespace

void* take_block(std::size_t bytes) {
    const std::size_t whole = rounded(bytes);
    if (void* const retained = cached_blocks().take(whole)) return retained;
    try {
        return platform::map_pages(whole, kHugePage);
    } catch (const std::bad_alloc&) {
        release_cached_blocks();
        return platform::map_pages(whole, kHugePage);
    }
}

void give_block(void* block, std::size_t bytes) noexcept {
    cached_blocks().keep(block, rounded(bytes));
}

std::size_t cached_block_bytes() { return cached_blocks().bytes(); }

void release_cached_blocks() { cached_blocks().release(); }

}  // namespace attn
