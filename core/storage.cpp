#include "core/storage.h"

#include <algorithm>
#include <new>
#include <vector>

#include "core/blocks.h"
#include "core/narrow.h"

namespace attn {

std::unique_ptr<float[]> Narrow::widened_blocks() const {
    const Index rows = blocks_.rows, columns = blocks_.columns;
    auto wide = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(rows * columns));
    if (!blocks_.turned) {
        for (Index n = 0; n < rows; ++n) widen_row(blocks_, n, 0, columns, &wide[n * columns]);
        return wide;
    }
    constexpr Index kTile = 16;  // rows: a cache line of each column is written at once
    std::vector<float> tile(static_cast<std::size_t>(kTile * columns));
    for (Index first = 0; first < rows; first += kTile) {
        const Index count = std::min(kTile, rows - first);
        for (Index n = 0; n < count; ++n)
            widen_row(blocks_, first + n, 0, columns, &tile[n * columns]);
        for (Index column = 0; column < columns; ++column)
            for (Index n = 0; n < count; ++n)
                wide[column * rows + first + n] = tile[n * columns + column];
    }
    return wide;
}

}  // namespace attn

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
