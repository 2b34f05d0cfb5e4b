#include "core/storage.h"

#include <new>

#include "core/blocks.h"
#include "core/narrow.h"

namespace attn::storage {

namespace {

constexpr std::align_val_t kCacheLine{64};

}  // namespace

void* take(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    return bytes < kLeastBlockBytes ? ::operator new(bytes, kCacheLine) : take_block(bytes);
}

void give(void* memory, std::size_t bytes) noexcept {
    if (bytes < kLeastBlockBytes)
        ::operator delete(memory, kCacheLine);
    else
        give_block(memory, bytes);
}

std::shared_ptr<const Narrow> narrow(std::span<const std::uint16_t> numbers, HalfFormat format,
                                     std::shared_ptr<const void> owner) {
    return std::make_shared<const Narrow>(numbers, format, std::move(owner));
}

std::shared_ptr<const Narrow> again(const Narrow& narrow) { return narrow.again(); }

const float* floats(const Narrow& narrow) { return narrow.floats(); }

}  // namespace attn::storage
