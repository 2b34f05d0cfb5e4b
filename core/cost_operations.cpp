// Rows of attention and of its replacements: FLOP of a forward pass, and bytes that decoding keeps.

#include "core/cost.h"

namespace attn {
namespace {

using enum CostSize;
using Sizes = std::vector<CostSize>;

constexpr std::array<CostOperationInfo, kCostOperationCount> kOperations{{
    {CostOperation::softmax, "softmax", "softmax",
     "Scores, scale, softmax (5 for each pair) and A V. Each token adds its keys and values to the "
     "cache."},
    {CostOperation::gated, "gated", "gated",
     "Softmax attention, then σ(G) times each number of the context: 3 for σ and 1 for the "
     "product."},
    {CostOperation::differential, "differential", "differential",
     "Two softmaxes over half of d_k each, A₁ − λ A₂, then an RMSNorm of each row of the context."},
    {CostOperation::mla_expanded, "mla-expanded", "MLA, expanded",
     "Keys and values of every head are computed from the latents, for all Tk tokens in each "
     "pass. A query has d_k + d_r columns."},
    {CostOperation::mla_absorbed, "mla-absorbed", "MLA, absorbed",
     "Queries and contexts go through W_UK and W_UV instead: every head reads the d_c latents and "
     "d_r rotated columns, which are all that the cache keeps."},
    {CostOperation::linear, "linear", "linear",
     "φ = elu + 1 takes 2 for each entry. The state of the earlier tokens is given: Tq tokens "
     "write and read it."},
    {CostOperation::retention, "retention", "retention",
     "S = α S + k vᵀ, read by q: α is one number for each head and token."},
    {CostOperation::gated_linear, "gated-linear", "gated linear (GLA)",
     "Retention with an α for each row of S."},
    {CostOperation::gated_delta, "gated-delta", "gated delta rule",
     "The key’s old value is read from S before the new one is written; queries and keys are "
     "divided by their lengths."},
    {CostOperation::kda, "kda", "KDA", "The gated delta rule with an α for each row of S."},
    {CostOperation::state_space, "state-space", "state space",
     "N states for each column of V, with Δ, B and C made from V at each token, and B̄ = ΔB. No "
     "scores: Q and K are not read."},
}};

const Sizes kRows{batch, heads, tq};
const Sizes kEveryPair{batch, heads, tq, tk};

Sizes with(Sizes sizes, std::initializer_list<CostSize> more) {
    sizes.insert(sizes.end(), more);
    return sizes;
}

/// Scores of d_k columns, scale and softmax of each pair, and values of d_v columns.
CostFormula of_pairs() {
    return {{2, with(kEveryPair, {d_k})}, {6, kEveryPair}, {2, with(kEveryPair, {d_v})}};
}

/// Decay, write and read of the state, and the scale of the result. `channels`: α has a number for each row of S.
CostFormula recurrent(bool channels, bool delta) {
    CostFormula flop{{5, with(kRows, {d_k, d_v})},
                     {1, channels ? with(kRows, {d_k}) : kRows},
                     {1, with(kRows, {d_v})}};
    if (!delta) return flop;
    flop.push_back({2, with(kRows, {d_k, d_v})});       // the old value
    flop.push_back({2, with(kRows, {d_v})});            // β (v − r)
    for (const CostSize sharing : {heads, kv_heads}) {  // x / √(Σ x² + ε)
        flop.push_back({3, {batch, sharing, tq, d_k}});
        flop.push_back({1, {batch, sharing, tq}});
    }
    return flop;
}

CostFormula flop_of(CostOperation operation) {
    CostFormula flop;
    switch (operation) {
        case CostOperation::softmax:
            return of_pairs();
        case CostOperation::gated:
            flop = of_pairs();
            flop.push_back({4, with(kRows, {d_v})});
            return flop;
        case CostOperation::
            differential:  // 6 of each softmax, 2 of the difference; 4 d_v + 3 of the norm
            return {{2, with(kEveryPair, {d_k})},
                    {14, kEveryPair},
                    {2, with(kEveryPair, {d_v})},
                    {4, with(kRows, {d_v})},
                    {3, kRows}};
        case CostOperation::mla_expanded:
            return {{2, {batch, heads, tk, latent, d_k}},
                    {2, {batch, heads, tk, latent, d_v}},
                    {2, with(kEveryPair, {d_k})},
                    {2, with(kEveryPair, {rope_columns})},
                    {6, kEveryPair},
                    {2, with(kEveryPair, {d_v})}};
        case CostOperation::mla_absorbed:
            return {{2, with(kRows, {d_k, latent})},
                    {4, with(kEveryPair, {latent})},
                    {2, with(kEveryPair, {rope_columns})},
                    {6, kEveryPair},
                    {2, with(kRows, {latent, d_v})}};
        case CostOperation::linear:
            return {{2, {batch, kv_heads, tq, d_k, d_v}},
                    {3, {batch, kv_heads, tq, d_k}},
                    {2, with(kRows, {d_k, d_v})},
                    {4, with(kRows, {d_k})},
                    {1, with(kRows, {d_v})}};
        case CostOperation::retention:
            return recurrent(false, false);
        case CostOperation::gated_linear:
            return recurrent(true, false);
        case CostOperation::gated_delta:
            return recurrent(false, true);
        case CostOperation::kda:
            return recurrent(true, true);
        case CostOperation::
            state_space:  // Δ: d_v products, then ln(1 + eˣ); B, C: d_v products each; 8 of a state; D
            return {{2, with(kRows, {d_v, d_v})},
                    {12, with(kRows, {d_v, states})},
                    {4, with(kRows, {d_v})}};
    }
    return flop;
}

/// Of one token, where each adds to a cache; else empty.
CostFormula cached(CostOperation operation) {
    const auto numbers = [](std::initializer_list<CostSize> sizes) {
        return CostTerm{1, with({layers, batch}, sizes)};
    };
    CostFormula bytes;
    if (operation == CostOperation::softmax || operation == CostOperation::gated ||
        operation == CostOperation::differential)
        bytes = {numbers({kv_heads, d_k}), numbers({kv_heads, d_v})};
    if (operation == CostOperation::mla_expanded)
        bytes = {numbers({heads, d_k}), numbers({heads, rope_columns}), numbers({heads, d_v})};
    if (operation == CostOperation::mla_absorbed)
        bytes = {numbers({latent}), numbers({rope_columns})};
    for (CostTerm& term : bytes) term.sizes.push_back(element_bytes);
    return bytes;
}

CostFormula state_of(CostOperation operation) {
    const auto numbers = [](std::initializer_list<CostSize> sizes) {
        return CostTerm{1, with({layers, batch}, sizes)};
    };
    if (operation == CostOperation::linear)
        return {numbers({kv_heads, d_k, d_v, element_bytes}),
                numbers({kv_heads, d_k, element_bytes})};
    if (operation == CostOperation::state_space)
        return {numbers({heads, d_v, states, element_bytes})};
    return {numbers({heads, d_k, d_v, element_bytes})};
}

}  // namespace

std::span<const CostOperationInfo, kCostOperationCount> cost_operations() { return kOperations; }

OperationCounts operation_counts(CostOperation operation) {
    OperationCounts counts{flop_of(operation), {}, cached(operation)};
    if (counts.each_token.empty()) {
        counts.held = state_of(operation);
        return counts;
    }
    counts.held = counts.each_token;
    for (CostTerm& term : counts.held) term.sizes.insert(term.sizes.end() - 1, tk);
    return counts;
}

}  // namespace attn
