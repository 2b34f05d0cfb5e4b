#pragma once

#include <memory>

#include "core/large/cell.h"
#include "core/large/weight_rows.h"
#include "core/masks.h"

namespace attn {
struct Dimensions;
}  // namespace attn

namespace attn::large {

/// Some rows of one head's operands, as [rows, d_k] each, where the others are elsewhere.
struct HeldRows {
    const float* q = nullptr;
    Index first_query = 0;
    const float* k = nullptr;
    Index first_key = 0;
};

/// pool_rows() of texels pool × pool for whoever has the keys a piece at a time: the same numbers, bit for bit. Of `source` what
/// is not an operand is looked at. Both it and `held`, whose keys change between add()s, outlive it.
class RowPool {
  public:
    /// How many keys a piece has, or a multiple of it; the last may be shorter.
    static constexpr Index kPieceKeys = 128;
    /// Shorter runs of keys need every key twice: pool_rows() takes them.
    static bool takes(Index pool, const Dimensions& size);

    RowPool(const WeightSource& source, Head head, const HeldRows& held,
            std::span<const Index> rows, Index pool);
    RowPool(RowPool&&) noexcept;
    ~RowPool();

    /// Piece after piece from key 0 on; those that no row attends to may be left out.
    void add(KeyRange keys);
    PooledRows finish();

  private:
    struct Work;
    std::unique_ptr<Work> work_;
};

}  // namespace attn::large
