#pragma once

#include <span>
#include <string_view>

#include "core/sizes.h"

namespace attn {

// Sizes of known models as their authors published them, and where their parameters and their FLOP are.

struct KnownModel {
    std::string_view name;    // "GPT-2"
    std::string_view source;  // of its sizes
    Index layers = 0, width = 0, heads = 0, kv_heads = 0;
    Index key_width = 0, value_width = 0;  // of a head, as scores and context have them
    Index hidden = 0;                      // of the MLP, of layers without experts
    Index vocabulary = 0, positions = 0;   // positions: rows of a learned table; 0: RoPE
    bool gated = false;                    // gate, up and down; else two matrices
    bool biased = false;                   // matrices but the embedding have biases, norms a shift
    bool tied = false;                     // the read-out is the embedding
    // experts, of all layers but the first `dense_layers`
    Index experts = 0, experts_used = 0, shared_experts = 0, expert_hidden = 0, dense_layers = 0;
    // latent attention (DeepSeek-AI 2024, arXiv:2405.04434): ranks of queries and of keys and values, and the columns of a key
    // that turn; 0: there is none
    Index query_rank = 0, kv_rank = 0, turned = 0;
};
std::span<const KnownModel> known_models();

/// Where the parameters are.
struct KnownParameters {
    Index embedding = 0, attention = 0, mlp = 0, read_out = 0;  // norms with what reads them
    Index total() const { return embedding + attention + mlp + read_out; }
};
KnownParameters parameters_of(const KnownModel& model);

/// FLOP of the matrix products for one more token after a context of so many, it included. `pairs`: those with keys and values of
/// the context, QKᵀ and A V, which alone grow with it. A token goes through experts_used and the shared experts.
struct KnownFlop {
    double matrices = 0.0, pairs = 0.0;
    double total() const { return matrices + pairs; }
    double share_of_pairs() const { return pairs / total(); }
};
KnownFlop flop_of(const KnownModel& model, Index context);

}  // namespace attn
