#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/workspaces/lookup/state.h"
#include "core/permutation.h"
#include "core/similarity.h"

namespace attn::view {

struct AppState;
struct Document;

// What the Lookup workspace computes.

/// The pairs as core reads them; `keys_as_values`: with V = K.
Memory memory_of(const LookupControls& controls, bool keys_as_values = false);
/// What the query reads at present. Settings are checked where they are set: it never fails.
MemoryRead memory_read(const LookupControls& controls);

/// What a result is of: the document, and of it the head shown.
struct ResultOf {
    std::shared_ptr<const Document> document;
    Index batch = 0, head = 0;
    bool operator==(const ResultOf&) const = default;
};

/// S of queries and keys of the document without values.
struct SimilarityResult : Similarity, ResultOf {
    SimilarityOf of = SimilarityOf::qk;
    double temperature = 1.0;
    bool scaled = false;  // dot products are of q and k × d_k^(−1/4) each, as the scores are
    std::string fault;    // why the result is missing; "": it is there

    const Tensor& scores(SimilarityMeasure measure) const {
        return measure == SimilarityMeasure::dot ? dot : cosine;
    }
    const Tensor& shown(SimilarityMeasure measure, SimilaritySoftmax softmax) const;
};

/// The document's attention with its tokens in another order.
struct PermutationResult : Permutation, ResultOf {
    std::vector<Index> order;
    PermutationPosition position = PermutationPosition::none;
    std::string fault;       // why the result is missing; "": it is there
    bool keys_only = false;  // cross-attention: keys and values are shuffled, queries are not
};

/// order[place] = token; 0, 1, 2, … if the list does not fit this document.
std::vector<Index> token_order(const AppState& state);
/// Computes where the workspace is shown and what it shows is not up to date. Called after every action.
void follow_lookup(AppState& state);

}  // namespace attn::view
