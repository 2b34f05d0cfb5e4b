#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "core/spec.h"
#include "core/trace.h"

namespace attn {

// The effect of another order of the tokens on attention. order[place] = token.

using TokenPlaces = std::vector<Index>;

/// 0, 1, 2, …
TokenPlaces first_places(Index count);
/// One sequence of the tensor, with its rows in that order; empty of an empty one.
Tensor reordered(const Tensor& from, Index batch, const TokenPlaces& order);
/// Without anything that depends on places: no positions, no mask, no dropout.
AttentionSpec placeless(AttentionSpec spec);

/// The same tokens twice: in their own order, and in that of `order`.
struct PermutedCall {
    Inputs before, after;  // of one sequence
    AttentionSpec spec;
    TokenPlaces order;
    bool keys_only = false;  // keys and values are reordered, queries are not
    Index head = 0;
};

struct Permutation {
    std::string backend;
    Tensor before,
        after;  // weights of the head [1,1,Tq,Tk]; `after` with rows and columns put back as in `before`
    Tensor raw;                   // `after` as it was computed, in the new order
    double largest = 0.0;         // max |after − before|; NaN where one of them is NaN
    Index row = 0, column = 0;    // where
    double output_largest = 0.0;  // of the context, rows put back
    double output_size = 0.0;     // max |context| before
    // the same as `largest` and `output_largest` by the reference in double; NaN above kMostExactPairs
    double largest_float64 = 0.0, output_float64 = 0.0;
};

/// Up to this number of pairs of all heads is computed in double too.
inline constexpr Index kMostExactPairs = Index{1} << 17;

/// Both calls by the backend that "auto" chooses. Errors: what attend() refuses.
Result<Permutation> permutation_of(const PermutedCall& call);

}  // namespace attn
