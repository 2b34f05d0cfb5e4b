#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/sizes.h"
#include "core/stages.h"

namespace attn {

// The cost of one attention call, counted. A multiplication and an addition are 2 FLOP; exp, a comparison and a division
// are 1 each. Nothing is skipped under a mask.
// B batch, H heads, G key/value heads (H of multi-head, 1 of multi-query attention, between them grouped), Tq queries, Tk
// keys, E d_model, O width of the output, c rows of a chunk, s bytes of a number, L layers; d_c width of a latent, d_r columns that carry
// RoPE beside d_k, N states of a column.

enum class CostSize : std::uint8_t {
    batch,
    heads,
    kv_heads,
    tq,
    tk,
    d_model,
    d_k,
    d_v,
    d_out,
    chunk,
    element_bytes,
    layers,
    latent,
    rope_columns,
    states
};
inline constexpr std::size_t kCostSizeCount = 15;

struct CostSizeInfo {
    std::string_view key;     // of files
    std::string_view symbol;  // in formulas
    std::string_view text;
    Index least, most;
};
const CostSizeInfo& info(CostSize size);

struct CostSizes {
    std::array<Index, kCostSizeCount> values{1,    32,  32, 8192, 8192, 4096, 128, 128,
                                             4096, 128, 4,  1,    512,  64,   16};

    Index& operator[](CostSize size) { return values[static_cast<std::size_t>(size)]; }
    Index operator[](CostSize size) const { return values[static_cast<std::size_t>(size)]; }
    bool operator==(const CostSizes&) const = default;
};

/// factor · size · size …
struct CostTerm {
    Index factor = 1;
    std::vector<CostSize> sizes;
};
/// A sum of terms: each count is one formula, which is shown and evaluated.
using CostFormula = std::vector<CostTerm>;

/// nullopt where the sum or a part of it is above 2⁶³ − 1. A chunk has at most Tq rows.
std::optional<Index> count_of(const CostFormula& formula, const CostSizes& sizes);
/// The same in double, rounded but never too large.
double estimate_of(const CostFormula& formula, const CostSizes& sizes);

/// forward: from X to Y. backward: from ∂L/∂Y to the gradients of X and of the parameters, A and all inputs kept.
enum class CostPass : std::uint8_t { forward, backward };

/// One stage, each operation of it reading its operands and writing its result once, as the staged backend does.
struct StageCost {
    Stage stage = Stage::q;
    CostFormula flop;
    CostFormula read, written;  // bytes
    CostFormula
        stored;  // bytes: forward the operands of the backward pass, backward the gradients of parameters
};
/// Q, K, V, scores, scaled, masked, weights, context, output, in this order. With d_model = 0 Q, K and V are
/// given and not computed; d_out = 0: the call has no W_O.
std::vector<StageCost> stage_costs(CostPass pass, const CostSizes& sizes);

/// How the weights are held. materialised: all B·H·Tq·Tk of them. chunked: those of c queries at a time. fused: none, but
/// one logsumexp for each row. kv_cache: the keys and values of all tokens and layers, which decoding keeps.
enum class Holding : std::uint8_t { materialised, chunked, fused, kv_cache };
inline constexpr std::size_t kHoldingCount = 4;
/// Bytes in addition to Q, K, V and the context.
CostFormula stored_bytes(Holding storage);

/// The matrix products alone: forward 2 B H Tq Tk (d_k + d_v); backward twice that, and where the weights are not
/// materialised Q Kᵀ once more.
CostFormula product_flop(CostPass pass, Holding storage);

/// Attention and its replacements, from Q, K and V (of MLA from q_nope, q_rope, latents and k_rope) to the context. Pairs
/// that a causal mask forbids count, as above.
enum class CostOperation : std::uint8_t {
    softmax,
    gated,
    differential,
    mla_expanded,
    mla_absorbed,
    linear,
    retention,
    gated_linear,
    gated_delta,
    kda,
    state_space
};
inline constexpr std::size_t kCostOperationCount = 11;
struct CostOperationInfo {
    CostOperation operation;
    std::string_view key, title, text;
};
/// In the order of the enum.
std::span<const CostOperationInfo, kCostOperationCount> cost_operations();

struct OperationCounts {
    CostFormula
        flop;  // forward: of a recurrence the Tq tokens that are new, whose earlier ones are in the state
    CostFormula held;  // bytes of the cache of Tk tokens, or of the state, of all layers
    CostFormula
        each_token;  // bytes that each further token adds; empty: a state that does not grow
};
OperationCounts operation_counts(CostOperation operation);

/// Each size within its limits, G divides H, and every count of both passes at most 2⁶³ − 1. An error names the first that
/// is not.
Result<void> check_cost(const CostSizes& sizes);

/// stored_bytes() with Q, K, V and the context; of kv_cache the cache alone, which K and V are part of.
CostFormula held_bytes(Holding storage);

/// The largest number of tokens T = Tq = Tk whose held_bytes() are no more than `bytes`, up to `most`; nullopt where one
/// token takes more.
std::optional<Index> tokens_within(Holding storage, CostSizes sizes, double bytes, Index most);
/// With T tokens: of a square call both Tq and Tk, else Tk alone.
CostSizes with_tokens(CostSizes sizes, Index tokens);

}  // namespace attn
