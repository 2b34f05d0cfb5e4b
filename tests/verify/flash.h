#pragma once

#include <optional>

#include "core/trace.h"

namespace attn::test {

/// What is wrong with a kernel.
enum class Bug : std::uint8_t {
    none,
    first_tile_skipped,
    diagonal_tile_skipped,
    last_tile_skipped,
    tail_dropped,
    tail_counts_zeros,
    tail_counts_twice,
    tail_reads_next_head,
    tail_values_a_row_early,
    mask_ignored,
    mask_one_too_many,
    mask_one_too_few,
    mask_top_left,
    diagonal_tile_unmasked,
    causal_unasked,
    accumulator_not_rescaled,
    sum_not_rescaled,
    nothing_rescaled,
    rescaled_backwards,
    maximum_stale,
    not_normalised,
    normalised_by_last_tile,
    logsumexp_in_log2,
    logsumexp_unscaled_maximum,
    exp2_without_log2e,
    short_accumulator,
    query_tile_late,
    last_query_tile_clamped,
    query_tile_not_written,
    scale_forgotten,
    scale_twice,
    scale_of_the_model,
    group_tiled,
    group_next,
    group_next_values,
    batch_first,
    heads_reversed,
    layout,
    // that no row of the table knows
    column_left_out,
    values_swizzled,
    weights_squared,
    maximum_subtracted_twice,
    every_other_key_twice,
    queries_negated,
    keys_in_pairs,
    values_reversed_in_tiles,
    weights_clipped
};

/// The numbers that a kernel is given and gives.
enum class Number : std::uint8_t { fp32, fp16, bf16 };

/// Attention in tiles with an online softmax in float32 (Dao 2023, arXiv:2307.08691, algorithm 1), written from the paper
/// alone: what a GPU kernel does, bugs among it. b batch entry, h head, i query, j key.
struct Flash {
    Tensor q, k, v;  // [B,H,Tq,d], [B,Hkv,Tk,d], [B,Hkv,Tk,d_v]
    Index bq = 32, bk = 16;
    bool backwards = false;        // the last tile of keys first
    std::optional<Index> reach;    // causal: j ≤ i + reach
    Number number = Number::fp32;  // operands, weights before V, and output are rounded to it
    bool eager_scores = false;     // scores too
    Bug bug = Bug::none;
};

struct FlashOut {
    Tensor context;    // [B,H,Tq,d_v]
    Tensor logsumexp;  // [B,H,Tq,1]
};
FlashOut run_flash(const Flash& flash);

/// The number of the format next to `value`.
float to_number(Number number, float value);

}  // namespace attn::test
