#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "core/block_code.h"
#include "core/halves.h"

namespace attn {

/// Immutable numbers in the type of a file, shared by many: 16-bit floats, or blocks of codes. And the same in float32, made
/// at the first request and kept as long as this object.
class Narrow {
  public:
    /// `owner` keeps them alive.
    Narrow(std::span<const std::uint16_t> numbers, HalfFormat format,
           std::shared_ptr<const void> owner)
        : numbers_(numbers), format_(format), owner_(std::move(owner)) {}
    Narrow(const BlockMatrix& blocks, std::shared_ptr<const void> owner)
        : blocks_(blocks), owner_(std::move(owner)) {}

    /// Null: blocks().
    const std::uint16_t* data() const { return numbers_.data(); }
    HalfFormat format() const { return format_; }
    /// nullptr: 16-bit floats.
    const BlockMatrix* blocks() const { return blocks_.code != nullptr ? &blocks_ : nullptr; }
    /// Any thread.
    const float* floats() const {
        std::call_once(once_, [this] { wide_ = blocks() ? widened_blocks() : widened_halves(); });
        return wide_.get();
    }
    /// The same numbers without those in float32.
    std::shared_ptr<const Narrow> again() const {
        return blocks() ? std::make_shared<const Narrow>(blocks_, owner_)
                        : std::make_shared<const Narrow>(numbers_, format_, owner_);
    }

  private:
    std::unique_ptr<float[]> widened_halves() const {
        auto wide = std::make_unique_for_overwrite<float[]>(numbers_.size());
        widen(numbers_, format_, {wide.get(), numbers_.size()});
        return wide;
    }
    std::unique_ptr<float[]> widened_blocks() const;

    std::span<const std::uint16_t> numbers_;
    HalfFormat format_ = HalfFormat::float16;
    BlockMatrix blocks_;
    std::shared_ptr<const void> owner_;
    mutable std::once_flag once_;
    mutable std::unique_ptr<float[]> wide_;
};

}  // namespace attn
