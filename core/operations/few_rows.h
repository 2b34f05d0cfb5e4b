#pragma once

#include <cstdint>
#include <vector>

#include "core/operations/parts.h"
#include "core/spec.h"

namespace attn {

// What the operations share in which tokens attend to a few rows: latents.cpp, linformer.cpp.

/// C = factor · A Bᵀ; C comes as zeros.
void add_scores(ConstViewD a, ConstViewD b, double factor, ViewD c);
/// Forbidden columns become −∞ before softmax and exactly 0 after it.
void softmax_rows(ViewD scores, const std::vector<std::uint8_t>& open, EmptyRows policy,
                  ViewD weights);
/// C += A B without the rows of B whose `takes` is 0: they may hold NaN.
void add_open_product(ConstViewD a, ConstViewD b, const std::vector<std::uint8_t>& takes, ViewD c);
/// The keys that take part in sums: the open ones, and where there is none under EmptyRows::nan all, so that NaN travels.
std::vector<std::uint8_t> contributing(const CallD& call, std::vector<std::uint8_t> open);

/// forward:  A = softmax(S)  so  d_S = A ∘ (d_A − Σ_j d_A ∘ A), over the columns that `takes` has
void softmax_backward(ConstViewD a, ConstViewD d_a, const std::vector<std::uint8_t>& takes,
                      ViewD d_s);
/// forward:  S = factor · A Bᵀ  so  d_A += factor · d_S B,  d_B += factor · d_Sᵀ A, where `takes` has B's row
void scores_backward(ConstViewD d_s, ConstViewD a, ConstViewD b, double factor,
                     const std::vector<std::uint8_t>& takes, ViewD d_a, ViewD d_b);

}  // namespace attn
