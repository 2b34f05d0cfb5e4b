#pragma once

#include <optional>

#include "core/trace.h"

namespace attn::test {

/// What is wrong with a backward kernel.
enum class BackwardBug : std::uint8_t {
    none,
    mask_missing_in_dk_and_dv,
    mask_missing_in_dq,
    mask_missing_in_dk,
    mask_one_too_many,
    scale_missing_in_dq,
    scale_missing_in_dk,
    scale_twice_in_dq,
    scale_missing_in_both,
    row_sum_left_out,
    row_sum_left_out_in_dk,
    weights_not_normalised,
    weights_in_twos,
    softcap_derivative_left_out,
    dv_of_the_next_head,
    dk_in_reverse,
    group_not_summed,
    group_mean,
    last_query_tile_left_out,
    first_query_tile_left_out,
    dq_overwritten,
    dv_not_transposed,
    dk_not_transposed,
    dq_not_turned,
    dq_turned_forwards,
    // that no row of the table knows
    upstream_negated,
    row_sum_twice,
    dv_of_squared_weights,
    keys_shifted
};

/// The gradients of attention in two passes over tiles in float32 (Dao 2023, arXiv:2307.08691, algorithm 2), written from the
/// paper alone: one sums dQ over keys, one dK and dV over queries. b batch entry, h head, i query, j key.
struct BackwardKernel {
    Tensor q, k, v, d_o;           // [B,H,Tq,d], [B,Hkv,Tk,d], [B,Hkv,Tk,d_v], [B,H,Tq,d_v]
    Index bq = 32, bk = 16;        // rows of a tile
    std::optional<Index> reach;    // causal: j ≤ i + reach
    std::optional<float> softcap;  // of scaled scores
    bool turns = false;            // RoPE, halves, base 10000, of q and k
    BackwardBug bug = BackwardBug::none;
};

struct BackwardOut {
    Tensor d_q, d_k, d_v;
};
BackwardOut run_backward(const BackwardKernel& kernel);

}  // namespace attn::test
