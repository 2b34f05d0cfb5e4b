#pragma once

#include <functional>
#include <utility>
#include <vector>

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

    /// Those of this rank: block n belongs to rank 0, 1, …, P − 1, P − 1, …, 0, so that early and late ones, which a causal
    /// mask makes unequal, come to the same.
    Dealt deal() const;
    /// use(rows, tensors, ring) of every block in order.
    void pass(const std::function<void(KeyRange rows, const std::vector<Tensor>& tensors,
                                       Ring& ring)>& use) const;
    std::size_t floats(Index rows) const;
};

/// What their ranks have made of blocks that were dealt: tensors of `shapes` on rank 0, none elsewhere.
std::vector<Tensor> collect(Dealt mine, const Pieces& pieces, std::span<const Shape> shapes);

}  // namespace attn::cluster
