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

const float* floats(const Narrow& narrow) { return narrow.floats(); }

}  // namespace attn::storage

namespace attn {

template <class Scalar>
Storage<Scalar>::Storage(std::size_t count)
    : data_(static_cast<Scalar*>(
          storage::take(byte_count(static_cast<Index>(count), sizeof(Scalar))))),
      count_(count) {}

template <class Scalar>
Storage<Scalar>::Storage(std::size_t count, Scalar fill) : Storage(count) {
    std::fill_n(data_, count, fill);
}

template <class Scalar>
Storage<Scalar>::Storage(const Scalar* from, std::size_t count) : Storage(count) {
    std::copy_n(from, count, data_);
}

template <class Scalar>
Storage<Scalar> Storage<Scalar>::shared(const Scalar* data, std::size_t count,
                                        std::shared_ptr<const void> owner) {
    Storage all;
    all.data_ = const_cast<Scalar*>(data);
    all.count_ = count;
    all.owner_ = std::move(owner);
    return all;
}

template <class Scalar>
Storage<Scalar> Storage<Scalar>::narrow(
    std::span<const std::uint16_t> numbers, HalfFormat format,
    std::shared_ptr<const void> owner) requires std::is_same_v<Scalar, float> {
    return stored(std::make_shared<const Narrow>(numbers, format, std::move(owner)),
                  numbers.size());
}

template <class Scalar>
Storage<Scalar> Storage<Scalar>::stored(std::shared_ptr<const Narrow> numbers,
                                        std::size_t count) requires std::is_same_v<Scalar, float> {
    Storage all;
    all.count_ = count;
    all.narrow_ = std::move(numbers);
    return all;
}

template <class Scalar>
Storage<Scalar>::Storage(const Storage& other) {
    if (other.narrow_)
        count_ = other.count_, narrow_ = other.narrow_->again();
    else
        *this = other.owner_ ? shared(other.data_, other.count_, other.owner_)
                             : Storage(other.data_, other.count_);
}

template <class Scalar>
bool Storage<Scalar>::operator==(const Storage& other) const {
    return std::equal(data(), data() + count_, other.data(), other.data() + other.count_);
}

template class Storage<float>;
template class Storage<double>;
template class Storage<std::uint8_t>;
template class Storage<std::uint16_t>;
template class Storage<std::uint32_t>;

}  // namespace attn
