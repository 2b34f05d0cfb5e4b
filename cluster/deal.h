#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "cluster/kept.h"
#include "cluster/parts.h"
#include "cluster/ring.h"

namespace attn::cluster {

/// Blocks of rows of some tensors, by their number.
using Dealt = std::vector<std::pair<Index, std::vector<Tensor>>>;

/// Tensors that rank 0 has, in blocks of rows, of which each rank gets its own, or which pass every rank.
struct Blocks {
    std::vector<const Tensor*> from;  // on rank 0
    std::vector<Shape> shapes;        // with the tokens of all
    Pieces pieces;

    /// Of `blocks` those of this rank: they go to rank 0, 1, …, P − 1, P − 1, …, 0, so that early and late ones, which a
    /// causal mask makes unequal, come to the same.
    Dealt deal(const std::vector<Index>& blocks) const;
    /// use(rows, tensors, ring) of every block in order.
    void pass(const std::function<void(KeyRange rows, const std::vector<Tensor>& tensors,
                                       Ring& ring)>& use) const;
    std::size_t floats(Index rows) const;
};

using ComputeBlocks = std::function<Dealt(const std::vector<Index>& blocks)>;
/// Tensors of `shapes` on rank 0, none elsewhere, of blocks that are kept and, a round of them after the other, of those
/// that are not: compute(blocks) is what this rank makes of its own of these.
std::vector<Tensor> assemble(const Pieces& pieces, std::span<const Shape> shapes,
                             SavedBlocks& saved, const ComputeBlocks& compute);

}  // namespace attn::cluster
