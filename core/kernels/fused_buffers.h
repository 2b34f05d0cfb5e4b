#pragma once

#include <bit>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

#include <hwy/aligned_allocator.h>

#include "core/check.h"
#include "core/rounding.h"
#include "core/rows.h"
#include "core/sizes.h"

namespace attn {

/// Floats on a vector boundary, not initialised, that grow when more are asked for. Throws std::bad_alloc.
class AlignedFloats {
  public:
    Index count() const { return count_; }
    void release() { *this = {}; }
    float* at_least(Index count) {
        if (count > count_) {
            floats_ = hwy::AllocateAligned<float>(static_cast<std::size_t>(count));
            count_ = floats_ ? count : 0;
            if (!floats_) throw std::bad_alloc();
        }
        return floats_.get();
    }

  private:
    hwy::AlignedFreeUniquePtr<float[]> floats_;
    Index count_ = 0;
};

/// The memory that this thread works in, while this lives; one at a time. What is not large stays with the thread: fresh
/// pages take a small call longer than its arithmetic.
class CachedFloats {
  public:
    CachedFloats() : floats_(of_this_thread()) {}
    ~CachedFloats() {
        if (floats_.count() > kMaxCached) floats_.release();
    }
    CachedFloats(const CachedFloats&) = delete;
    CachedFloats& operator=(const CachedFloats&) = delete;
    AlignedFloats& operator*() const { return floats_; }

  private:
    static constexpr Index kMaxCached = Index{1} << 20;
    static AlignedFloats& of_this_thread() {
        thread_local AlignedFloats floats;
        return floats;
    }
    AlignedFloats& floats_;
};

/// Hands out runs of one allocation, each on a cache-line boundary.
class Carve {
  public:
    /// At least `count` of `floats`, which next() may not pass.
    Carve(AlignedFloats& floats, Index count) : from_(floats.at_least(count)), left_(count) {}
    float* next(Index count) {
        ATTN_CHECK(count <= left_, "what is handed out lies in what was allocated");
        left_ -= rounded(count);
        return std::exchange(from_, from_ + rounded(count));
    }
    static Index rounded(Index count) { return round_up(count, kLine); }

  private:
    static constexpr Index kLine = 32;  // floats: two cache lines
    float* from_;
    Index left_;
};

}  // namespace attn
