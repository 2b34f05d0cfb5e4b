#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/workspaces/lookup/controls.h"
#include "core/tensor.h"

namespace attn::view {

struct AppState;
struct Document;

// What the Lookup workspace computes.

/// The pairs as core reads them; `keys_as_values`: with V = K.
Memory memory_of(const LookupControls& controls, bool keys_as_values = false);
/// What the query reads at present. Settings are checked where they are set: it never fails.
MemoryRead memory_read(const LookupControls& controls);

/// S of queries and keys of the document without values, of the head shown.
struct SimilarityResult {
    // what it is of
    std::shared_ptr<const Document> document;
    Index batch = 0, head = 0;
    SimilarityOf of = SimilarityOf::qk;
    double temperature = 1.0;
    // what came of it
    std::string fault;                   // why there is none; "": there is
    Tensor dot, cosine;                  // [1,1,n,m], without temperature
    Tensor dot_rows, cosine_rows;        // softmax over keys of S / τ
    Tensor dot_columns, cosine_columns;  // softmax over queries

    const Tensor& scores(SimilarityMeasure measure) const {
        return measure == SimilarityMeasure::dot ? dot : cosine;
    }
    const Tensor& shown(SimilarityMeasure measure, SimilaritySoftmax softmax) const;
};

/// The document's attention with its tokens in another order.
struct PermutationResult {
    // what it is of
    std::shared_ptr<const Document> document;
    Index batch = 0, head = 0;
    std::vector<Index> order;
    PermutationPosition position = PermutationPosition::none;
    // what came of it
    std::string fault;       // why there is none; "": there is
    bool keys_only = false;  // cross-attention: keys and values are shuffled, queries stand
    std::string backend;
    Tensor before,
        after;  // weights of the head shown [1,1,Tq,Tk]; `after` with rows and columns as in the document
    Tensor raw;                    // `after` as it was computed, in the new order
    double largest = 0.0;          // max |after − before|; NaN where one of them is NaN
    Index row = 0, column = 0;     // where
    double output_largest = 0.0;   // of the context, rows as in the document
    double output_size = 0.0;      // max |context| before
    double largest_float64 = 0.0;  // the same as `largest` by the reference in double
};

// d_k of Capacity: powers of two.
inline constexpr Index kFewestCapacityWidth = 2;
inline constexpr Index kMostCapacityWidth = 512;
inline constexpr Index kMostCapacityPairs = 256;
std::vector<Index> capacity_widths();
/// The one next to `d_k` on a log axis.
Index nearest_capacity_width(double d_k);
/// The next one above (steps = 1) or below (−1).
Index next_capacity_width(Index d_k, int steps);

/// order[place] = token; of a list that is none of this document's: 0, 1, 2, ….
std::vector<Index> token_order(const AppState& state);
/// Computes where the workspace is shown and what it shows is not up to date. Called after every action.
void follow_lookup(AppState& state);

}  // namespace attn::view
