#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "core/halves.h"

namespace attn {

/// Immutable 16-bit floats, shared by many; and the same in float32, made at the first request and
/// kept as long as this object.
class Narrow {
  public:
    /// `owner` keeps them alive.
    Narrow(std::span<const std::uint16_t> numbers, HalfFormat format,
           std::shared_ptr<const void> owner)
        : numbers_(numbers), format_(format), owner_(std::move(owner)) {}

    const std::uint16_t* data() const { return numbers_.data(); }
    HalfFormat format() const { return format_; }
    /// Any thread.
    const float* floats() const {
        std::call_once(once_, [this] {
            wide_ = std::make_unique_for_overwrite<float[]>(numbers_.size());
            widen(numbers_, format_, {wide_.get(), numbers_.size()});
        });
        return wide_.get();
    }
    /// The same numbers without those in float32.
    std::shared_ptr<const Narrow> again() const {
        return std::make_shared<const Narrow>(numbers_, format_, owner_);
    }

  private:
    std::span<const std::uint16_t> numbers_;
    HalfFormat format_;
    std::shared_ptr<const void> owner_;
    mutable std::once_flag once_;
    mutable std::unique_ptr<float[]> wide_;
};

}  // namespace attn
