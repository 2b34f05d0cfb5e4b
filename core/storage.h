#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "core/sizes.h"

namespace attn {

class Narrow;
enum class HalfFormat : std::uint8_t;

namespace storage {

/// `bytes` bytes on a cache-line boundary; nullptr of none. Throws std::bad_alloc.
void* take(std::size_t bytes);
/// Returns memory of take(bytes).
void give(void* memory, std::size_t bytes) noexcept;

/// Narrow::floats().
const float* floats(const Narrow& narrow);

}  // namespace storage

/// The numbers of a tensor: an owning array of fixed length on a cache-line boundary, which, unlike std::vector, need not
/// be cleared before it is filled. Large ones reuse the memory of freed ones (blocks.h). Or numbers that something else owns
/// and are immutable (`shared`): copies share them, and a writer gets a copy of its own first. They may be floats of
/// 16 bits (`narrow`): a reader of floats gets them widened, for as long as this object lives.
/// storage.cpp lists the types of numbers.
template <class Scalar>
class Storage {
    static_assert(std::is_trivially_copyable_v<Scalar>);

  public:
    Storage() = default;
    /// Holds any content.
    explicit Storage(std::size_t count);
    Storage(std::size_t count, Scalar fill);
    Storage(const Scalar* from, std::size_t count);
    /// `owner` keeps them alive.
    static Storage shared(const Scalar* data, std::size_t count, std::shared_ptr<const void> owner);
    static Storage narrow(std::span<const std::uint16_t> numbers, HalfFormat format,
                          std::shared_ptr<const void> owner) requires std::is_same_v<Scalar, float>;
    /// Of `count` numbers in the type of a file: 16-bit floats or blocks of codes (narrow.h).
    static Storage stored(std::shared_ptr<const Narrow> numbers,
                          std::size_t count) requires std::is_same_v<Scalar, float>;
    Storage(const Storage& other);
    Storage(Storage&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          count_(std::exchange(other.count_, 0)),
          owner_(std::move(other.owner_)),
          narrow_(std::move(other.narrow_)) {}
    Storage& operator=(Storage other) noexcept {
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        std::swap(owner_, other.owner_);
        std::swap(narrow_, other.narrow_);
        return *this;
    }
    ~Storage() {
        if (data_ != nullptr && !owner_) storage::give(data_, count_ * sizeof(Scalar));
    }

    Scalar* data() {
        if (owner_ || narrow_) *this = Storage(std::as_const(*this).data(), count_);
        return data_;
    }
    const Scalar* data() const {
        if constexpr (std::is_same_v<Scalar, float>)
            if (narrow_) return storage::floats(*narrow_);
        return data_;
    }
    /// nullptr: they are held in the type in which they are read.
    const Narrow* narrow() const { return narrow_.get(); }
    std::size_t size() const { return count_; }
    bool empty() const { return count_ == 0; }
    bool operator==(const Storage& other) const;

  private:
    Scalar* data_ = nullptr;
    std::size_t count_ = 0;
    std::shared_ptr<const void> owner_;     // null: this object
    std::shared_ptr<const Narrow> narrow_;  // in place of data_; of this object alone
};

}  // namespace attn
