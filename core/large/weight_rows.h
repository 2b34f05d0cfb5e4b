#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "core/large/cell.h"

namespace attn::large {

struct WeightSource;

// The SIMD part of a map of weights: rows of exact weights, pooled, never stored. Both functions share
// Q Kᵀ tiles with the fused kernels. B = score as softmax takes it (Finish), a = weight = exp(B − logsumexp),
// natural logarithms outside, base 2 inside. A row's logsumexp is of its keys and its sink; under ALiBi of B less that of
// the nearest key's distance, near_position(), so that queries far from their keys keep their digits.

/// Numbers for each texel of a grid, each of which pools some cells.
struct Texels {
    Index rows = 0;
    Index columns = 0;
    std::vector<float> mean;  // Σ a / cells, forbidden pairs counting as the zeros that they are
    std::vector<float> max;   // max a over the allowed pairs; −inf where there are none
    std::vector<float> log_mean;  // mean of ln a over the allowed pairs; −inf where there are none
    std::vector<std::uint32_t> allowed;  // pairs that may attend; empty: every pair of every texel

    std::size_t at(Index row, Index column) const {
        return static_cast<std::size_t>(row * columns + column);
    }
    /// Nothing in this texel may attend, and no NaN of EmptyRows::nan is in it.
    bool masked(Index row, Index column) const;
};

/// Whole rows of exact weights: queries `rows` (ascending, anywhere) against every key, each run of
/// `pool_keys` keys pooled (the last may be shorter), `pool_rows` consecutive entries of `rows` pooled
/// (1: none; the last group may be smaller). One pass over the keys: an online maximum and sum for
/// each row and run, joined when the row's logsumexp is known.
/// texels: [ceil(rows / pool_rows), ceil(Tk / pool_keys)]; logsumexp: one for each of `rows`
/// (−inf: nothing allowed, and no sink).
/// FLOPs: 2 · rows · allowed keys · d_k and one exponential a pair; twice that where pool_keys < 8, whose
/// runs would take more memory than the texels.
struct PooledRows {
    Texels texels;
    std::vector<float> logsumexp;
};
/// Edges: a row that holds NaN or +inf, or allowed scores that are all −inf without a sink, is NaN wherever it may attend;
/// a row with nothing allowed weighs 0, or NaN everywhere under EmptyRows::nan. A NaN weight makes NaN of the
/// three numbers of its texel.
/// Accuracy: a weight's relative error is that of exp(B − logsumexp) in single precision, see
/// tests/large/weight_rows_test.cpp.
/// On the calling thread; false when stopped. `out` is reused: its vectors are resized.
bool pool_rows(const WeightSource& source, Head head, std::span<const Index> rows, Index pool_rows,
               Index pool_keys, const std::stop_token& stop, PooledRows& out);

/// So many rows at once cost least: whole texels, and whole groups of SIMD lanes where that takes at most
/// 384 rows.
Index strip_rows(Index pool_rows);

/// Any part of the exact matrix: cells row … row + rows − 1, column … column + columns − 1, each
/// side × side of them (clipped at the matrix's edge) pooled into one texel. `logsumexp` of those rows.
/// side = 1 gives the weights themselves. Edges as pool_rows(). On the calling thread; false when stopped.
bool pool_cells(const WeightSource& source, Head head, std::span<const float> logsumexp, Index row,
                Index column, Index rows, Index columns, Index side, const std::stop_token& stop,
                Texels& out);

}  // namespace attn::large
