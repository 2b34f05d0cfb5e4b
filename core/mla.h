#pragma once

#include <cstdint>

#include "core/result.h"
#include "core/trace.h"

namespace attn {

// Multi-head latent attention: keys and values of every head are made of one latent c_j of the token, and a part of each query and key
// carries RoPE. A cache holds c and k_rope alone. DeepSeek-AI 2024, arXiv:2405.04434, §2.1.
//   k_hj = [k_rope_j, c_j W_UK_h],  v_hj = c_j W_UV_h,  q_hi = [q_rope_hi, q_nope_hi]
// H heads, d_r and d_n widths of the two parts of a query, d_c width of the latent, d_v of a value.

struct LatentHeads {
    Tensor q_nope;  // [B,H,Tq,d_n]
    Tensor q_rope;  // [B,H,Tq,d_r]; empty: d_r = 0
    Tensor c_kv;    // [B,1,Tk,d_c]
    Tensor k_rope;  // [B,1,Tk,d_r], shared by all heads; empty: d_r = 0
    Tensor w_uk;    // [1,H,d_c,d_n]
    Tensor w_uv;    // [1,H,d_c,d_v]
    Params params;  // of the output, w_o [1,1,H·d_v,d_out] and b_o, where there are some
};

/// expanded: keys and values of each head are computed, as in training. absorbed: W_UK moves to the queries and W_UV to the output,
/// and every head reads the latents themselves, as in decoding: q_h = [q_rope, q_nope W_UK_hᵀ], k = [k_rope, c], v = c.
enum class LatentForm : std::uint8_t { expanded, absorbed };

/// The call of ordinary attention in that form, RoPE's columns first. Scores, weights and output are the same in both forms, up to
/// rounding; the context of the absorbed form is in the latents' space, and its W_O is W_UV_h W_O_h, or W_UV_h of each head without a W_O.
/// The scale is 1/√(d_r + d_n) in both, which is 1/√d_k of the expanded form alone. An error names the tensor that does not fit.
Result<Inputs> latent_call(const LatentHeads& heads, LatentForm form);

/// Numbers that a cache holds for each token: d_c + d_r absorbed, H · (d_r + d_n + d_v) expanded.
Index cached_numbers(const LatentHeads& heads, LatentForm form);

}  // namespace attn
