// m rows, n columns, k what is summed over; p panel of columns of B, t run of k.
//
// Why it is fast. B is packed once into panels of two vectors; a panel's run of 256 rows (32 KiB) stays in the first-level
// cache while a block of 96 rows of A passes over it in tiles whose sums never leave the registers (staged_tiles.cpp).

#include "core/kernels/matmul.h"

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "core/check.h"
#include "core/kernels/block_product.h"
#include "core/kernels/eigen_view.h"
#include "core/kernels/fused_buffers.h"
#include "core/kernels/fused_forward.h"
#include "core/kernels/staged_tiles.h"
#include "core/kernels/widen.h"
#include "core/narrow.h"
#include "core/threads.h"

namespace attn {
namespace {

constexpr Index kBlockRows = 96;  // whole tiles, of 6 rows and of 8
constexpr Index kDepth = 256;
constexpr Index kSmall =
    Index{1} << 18;  // multiply-adds: below it threads and packing cost more than they save
constexpr Index kPackedColumns = 256;  // packed as one piece of work, at most
constexpr Index kWidened = Index{1}
                           << 18;  // numbers of 16 bits that are widened as one piece, at most
constexpr Index kPieces = 4;       // at least so many for each thread, so that none waits long
constexpr Index kManyBlocks = 8;   // of rows, for each thread
// Columns of B that one row of A is multiplied with as one piece of work: at least so many, and at most so many pieces,
// whatever the threads.
constexpr Index kRowColumns = 256;
constexpr Index kRowPieces = 16;
constexpr Index kBlockPieces = 32;  // the same of blocks of codes
constexpr Index kLeastBlockRows = 16;
constexpr Index kWidenedColumns = 128;   // the same of a B that is widened
constexpr Index kWidenedNumbers = 8192;  // of that B: a part that stays in the first-level cache

/// A factor of blocks of codes.
struct BlockFactor {
    BlockView stored;
    bool transposed = false;

    Index rows() const { return transposed ? stored.columns : stored.rows; }
    Index columns() const { return transposed ? stored.rows : stored.columns; }
};
/// Is made float32 a part at a time.
template <class B>
constexpr bool kIsWidened = !std::is_same_v<B, Factor>;

auto plain_product(const Factor& a, const Factor& b, MatrixView<float> out, Into into) {
    const auto add = [&](const auto& product) {
        if (into == Into::add)
            eigen(out).noalias() += product;
        else
            eigen(out).noalias() = product;
    };
    const auto x = eigen(a.stored);
    const auto y = eigen(b.stored);
    if (a.transposed && b.transposed)
        add(x.transpose() * y.transpose());
    else if (a.transposed)
        add(x.transpose() * y);
    else if (b.transposed)
        add(x * y.transpose());
    else
        add(x * y);
}

/// A part of B in float32.
MatrixView<const float> floats_of(const Factor&, MatrixView<const float> part, AlignedFloats&) {
    return part;
}
MatrixView<const float> floats_of(const HalfFactor& b, MatrixView<const std::uint16_t> part,
                                  AlignedFloats& memory) {
    const MatrixView<float> wide{memory.at_least(part.rows * part.columns), part.rows, part.columns,
                                 part.columns};
    widen_rows(part, b.format, wide);
    return wide;
}
MatrixView<const float> floats_of(const BlockFactor&, const BlockView& part,
                                  AlignedFloats& memory) {
    const MatrixView<float> wide{memory.at_least(part.rows * part.columns), part.rows, part.columns,
                                 part.columns};
    widen_view(part, wide);
    return wide;
}

template <class B>
Order order_of(const B& b) {
    return b.transposed ? Order::transposed : Order::stored;
}
/// A row times a part of B.
void multiply_part(std::span<const float> a, const Factor& b, const MatrixView<const float>& part,
                   std::span<float> out, AlignedFloats&, Into into) {
    row_product(a, part, order_of(b), out, into);
}
void multiply_part(std::span<const float> a, const HalfFactor& b,
                   const MatrixView<const std::uint16_t>& part, std::span<float> out,
                   AlignedFloats&, Into into) {
    row_product(a, part, b.format, order_of(b), out, into);
}
/// As it is stored: widened a few rows at a time, which stay in the first-level cache.
void multiply_part(std::span<const float> a, const BlockFactor& b, const BlockView& part,
                   std::span<float> out, AlignedFloats& memory, Into into) {
    const Index rows = std::max(Index{8}, kWidenedNumbers / part.columns / 8 * 8);
    for (Index k = 0; k < part.rows; k += rows) {
        const Index count = std::min(rows, part.rows - k);
        row_product(a.subspan(k, count), floats_of(b, part.row_block(k, count), memory),
                    Order::stored, out, k == 0 ? into : Into::add);
    }
}

/// One row of A uses each number of B once: packing it would cost more than it saves.
template <class B>
void multiply_row(const Factor& a, const B& b, MatrixView<float> out, Into into) {
    // A widened B is read in long runs, by each thread from a part of its own.
    const Index width =
        !kIsWidened<B>
            ? round_up(std::max(kRowColumns, divide_up(out.columns, kRowPieces)), kRowColumns)
        : b.transposed ? kWidenedColumns
                       : round_up(std::min(kRowColumns * 4, divide_up(out.columns, thread_count())),
                                  kWidenedColumns);
    std::vector<AlignedFloats> wide(thread_slots());
    parallel_for(divide_up(out.columns, width), {}, [&](Index n, int slot) {
        const Index first = n * width;
        const Index count = std::min(width, out.columns - first);
        AlignedFloats& memory = wide[static_cast<std::size_t>(slot)];
        const auto part =
            b.transposed ? b.stored.row_block(first, count) : b.stored.column_block(first, count);
        multiply_part(a.stored.row(0), b, part, out.row(0).subspan(first, count), memory, into);
    });
}

/// The same of a matrix stored [out, in]: each row of it is widened and used in the cache.
void multiply_row_with_blocks(std::span<const float> a, const BlockView& b, std::span<float> out,
                              Into into) {
    const Index width = std::max(kLeastBlockRows, divide_up(b.rows, kBlockPieces));
    const RowFactor row = row_factor(a, b);
    parallel_for(divide_up(b.rows, width), {}, [&](Index n, int) {
        const Index first = n * width;
        const Index count = std::min(width, b.rows - first);
        dot_block_rows(row, b.row_block(first, count), out.subspan(first, count),
                       into == Into::add);
    });
}

/// B: Factor, HalfFactor or BlockFactor.
template <class B>
class Product {
  public:
    Product(const Factor& a, const B& b, MatrixView<float> out, Into into)
        : a_(a),
          b_(b),
          out_(out),
          into_(into),
          depth_(a.columns()),
          width_(panel_width()),
          ones_(static_cast<std::size_t>(std::max(a.stored.columns, Index{1})), 1.0F),
          slots_(static_cast<std::size_t>(thread_slots())) {}

    void run() {
        const Index share = divide_up(out_.columns, kPieces * thread_count());
        const Index most = kIsWidened<B>
                               ? std::min(kPackedColumns, kWidened / std::max(depth_, Index{1}))
                               : kPackedColumns;
        const Index width = round_up(std::max(std::min(most, share), Index{1}), width_);
        const Index pieces = divide_up(out_.columns, width);
        const Index blocks = divide_up(out_.rows, kBlockRows);
        // Few blocks of rows leave threads without work: then a piece is multiplied where it was packed.
        const bool by_columns = blocks < kManyBlocks * thread_count() && pieces > blocks;
        float* const all =
            by_columns ? nullptr : packed_.at_least(panel_count(out_.columns) * width_ * depth_);
        parallel_for(pieces, {}, [&](Index n, int number) {
            const Index first = n * width;
            const Index count = std::min(width, out_.columns - first);
            Slot& slot = slots_[number];
            float* const panels =
                by_columns ? slot.panels.at_least(width * depth_) : all + first * depth_;
            pack(first, count, panels, slot);
            for (Index block = 0; by_columns && block < blocks; ++block)
                multiply_block(block, panels, first, count, slot);
        });
        if (by_columns) return;
        parallel_for(blocks, {}, [&](Index n, int slot) {
            multiply_block(n, all, 0, out_.columns, slots_[static_cast<std::size_t>(slot)]);
        });
    }

  private:
    struct Slot {
        AlignedFloats rows;    // of A, where it is stored transposed
        AlignedFloats panels;  // of a piece of B that no other thread needs
        AlignedFloats sums;    // [kBlockRows, panel]
        AlignedFloats wide;    // of B, where it is stored in 16 bits
    };

    void pack(Index first, Index count, float* to, Slot& slot) {
        if (b_.transposed)
            pack_rows(floats_of(b_, b_.stored.row_block(first, count), slot.wide), to);
        else
            pack_columns(floats_of(b_, b_.stored.column_block(first, count), slot.wide), to);
    }

    MatrixView<const float> rows_of_a(Index first, Index count, Slot& slot) {
        if (!a_.transposed) return a_.stored.row_block(first, count);
        const MatrixView<float> turned{slot.rows.at_least(count * depth_), count, depth_, depth_};
        transpose(a_.stored.column_block(first, count), ones_.data(), turned);
        return turned;
    }

    /// Columns from `column` on, whose panels these are.
    void multiply_block(Index block, const float* panels, Index column, Index columns, Slot& slot) {
        const Index first = block * kBlockRows;
        const Index count = std::min(kBlockRows, out_.rows - first);
        const MatrixView<const float> a = rows_of_a(first, count, slot);
        const MatrixView<float> sums{slot.sums.at_least(kBlockRows * width_), count, width_,
                                     width_};
        for (Index p = 0; p < panel_count(columns); ++p) {
            for (Index t = 0; t < depth_; t += kDepth) {
                const Index run = std::min(kDepth, depth_ - t);
                multiply_panels(a.column_block(t, run), panels + (p * depth_ + t) * width_, 1, sums,
                                t == 0 ? Into::replace : Into::add);
            }
            put(sums, first, column + p * width_);
        }
    }

    void put(MatrixView<const float> sums, Index first, Index column) {
        const Index columns = std::min(width_, out_.columns - column);
        auto to = eigen(out_.row_block(first, sums.rows).column_block(column, columns));
        const auto from = eigen(sums.column_block(0, columns));
        if (into_ == Into::add)
            to += from;
        else
            to = from;
    }

    Factor a_;
    B b_;
    MatrixView<float> out_;
    Into into_;
    Index depth_;
    Index width_;
    std::vector<float> ones_;
    AlignedFloats packed_;
    std::vector<Slot> slots_;
};

template <class B>
bool is_small(const Factor& a, const B& b, const MatrixView<float>& out) {
    ATTN_CHECK(a.rows() == out.rows && b.columns() == out.columns && a.columns() == b.rows(),
               "factors must fit each other and the product");
    return out.rows * out.columns * a.columns() < kSmall;
}

template <class B>
void multiply_large(const Factor& a, const B& b, MatrixView<float> out, Into into) {
    if (out.rows == 1 && !a.transposed)
        multiply_row(a, b, out, into);
    else
        Product<B>(a, b, out, into).run();
}

}  // namespace

void multiply(const Factor& a, const Factor& b, MatrixView<float> out, Into into) {
    if (is_small(a, b, out)) return plain_product(a, b, out, into);
    multiply_large(a, b, out, into);
}

void multiply_halves(const Factor& a, const HalfFactor& b, MatrixView<float> out, Into into) {
    if (!is_small(a, b, out)) return multiply_large(a, b, out, into);
    auto wide = Tensor::uninitialised({1, 1, b.stored.rows, b.stored.columns});
    widen_rows(b.stored, b.format, wide.matrix(0, 0));
    plain_product(a, {wide.matrix(0, 0), b.transposed}, out, into);
}

namespace {

/// In float32 as W would be held, so that small products have its numbers.
void multiply_blocks(const Factor& a, const BlockFactor& b, MatrixView<float> out, Into into) {
    if (is_small(a, b, out)) {
        AlignedFloats memory;
        const MatrixView<const float> wide = floats_of(b, b.stored, memory);
        if (!b.transposed) return plain_product(a, {wide, false}, out, into);
        auto turned = Tensor::uninitialised({1, 1, wide.columns, wide.rows});
        eigen(turned.matrix(0, 0)) = eigen(wide).transpose();
        return plain_product(a, {turned.matrix(0, 0), false}, out, into);
    }
    if (out.rows == 1 && !a.transposed && b.transposed)
        return multiply_row_with_blocks(a.stored.row(0), b.stored, out.row(0), into);
    multiply_large(a, b, out, into);
}

/// The part in the order in which the blocks are stored.
BlockFactor block_factor(const BlockMatrix& blocks, const WeightPart& b) {
    if (blocks.turned) return {{&blocks, b.column, b.columns, b.row, b.rows}, !b.transposed};
    return {{&blocks, b.row, b.rows, b.column, b.columns}, b.transposed};
}

}  // namespace

void multiply(const Factor& a, const WeightPart& b, MatrixView<float> out, Into into) {
    const auto part = [&](const auto* data) {
        const Index stride = b.of.shape().d;
        return MatrixView{data + b.row * stride + b.column, b.rows, b.columns, stride};
    };
    const Narrow* const narrow = b.of.narrow();
    if (narrow != nullptr && narrow->blocks() != nullptr)
        multiply_blocks(a, block_factor(*narrow->blocks(), b), out, into);
    else if (narrow != nullptr)
        multiply_halves(a, {part(narrow->data()), narrow->format(), b.transposed}, out, into);
    else
        multiply(a, Factor{part(b.of.data()), b.transposed}, out, into);
}

}  // namespace attn
