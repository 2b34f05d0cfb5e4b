#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/heads/place.h"
#include "core/models/ablation.h"
#include "core/models/model.h"

namespace attn {

// Edges between the parts of a model (path patching, Goldowsky-Dill et al. 2023, arXiv:2304.05969). The residual stream is
// a sum; with f the factor of a block's output and c_h the context of head h,
//   x_l = embedding + Σ_{layers < l} f · ( Σ_h c_h W_O[h] + b_O + MLP )
// An edge is one of these terms (the sender, y) and one reader of the sum. Cutting it gives that reader x − y in place of x, or
// x − y + mean of y over the positions of the text, at every position. The reader's norm is computed again, of the changed input.
// Everything else reads the stream as it was; everything that depends on the reader is computed again. b_O is not a sender.

enum class NodeKind : std::uint8_t { embedding, head, mlp, logits };
struct ModelNode {
    NodeKind kind = NodeKind::embedding;
    HeadPlace at = {};  // of an MLP its layer; of embedding and logits 0
    bool operator==(const ModelNode&) const = default;
};

struct PathEdge {
    ModelNode sender, receiver;
    /// Of logit A − logit B, cut minus untouched; 0 of rounding in float32 alone, NaN where a logit is not finite.
    double change = 0.0;
    /// Of a head: the same where only its queries, only its keys, only its values read the changed stream. They do not sum to `change`.
    std::optional<std::array<double, 3>> parts = {};
};
inline constexpr std::string_view kPathParts[] = {"Q", "K", "V"};

struct PathOptions {
    Ablation ablation = Ablation::zero;  // zero or mean
    std::optional<std::pair<Index, Index>> tokens =
        {};  // A and B; not set: the two likeliest of the untouched run
    std::optional<HeadPlace> receiver = {};  // its edges alone
};
struct PathEdges {
    Ablation ablation = Ablation::zero;
    Index a = 0, b = 0;       // tokens, or classes
    Index position = 0;       // whose logits they have
    double difference = 0.0;  // logit A − logit B of the untouched run
    Index layers = 0, heads = 0;
    std::vector<PathEdge>
        edges;  // by receiver, from the first layer to the logits; of each, senders in the same order
};

/// The largest number of edges: each cut computes the rest of a run, four times for a head.
inline constexpr Index kMostPathEdges = 4096;
/// Of a whole model, or of one head of a layer (`receiver`).
Index path_edge_count(const ModelConfig& config, const std::optional<HeadPlace>& receiver = {});

/// The term of a sender in the stream, y: [1, 1, T, width]. `run`: the untouched one, with `context`, or with `weights` and `v`.
Result<Tensor> sent_by(const Model& model, const ModelRun& run, const ModelNode& sender);

/// An error: a model whose stream is not this sum (a norm follows the addition or attention's output), one without logits, more than
/// kMostPathEdges edges, a head or a token that the model does not have, a patch. Fails soon after `control` was stopped.
Result<PathEdges> path_edges(const Model& model, const ModelRun& run, const Backend& backend,
                             const PathOptions& options = {}, const RunControl& control = {});

/// Of a head, the largest attention weight of one query.
struct LargestWeight {
    HeadPlace at;
    Index key = 0;        // the first of equal ones
    double weight = 0.0;  // NaN where one of the row is
    Index ties = 0;       // keys with the same weight
};
/// Layer by layer, head by head. `run`: with `weights`; empty without.
std::vector<LargestWeight> largest_weights(const ModelRun& run, Index query);

}  // namespace attn
