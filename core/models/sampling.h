#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/result.h"
#include "core/sizes.h"

namespace attn {

// From the logits of the next token to the token. All sums in float64; of equal logits the lower id comes first.

/// Carried out in this order, as Hugging Face's generate() does.
struct Sampling {
    double temperature = 1.0;  // logits are divided by it; 0: greedy, the largest logit is taken
    std::optional<Index> top_k = {};  // only so many of the largest logits are kept; at least 1
    /// Of those the fewest largest are kept whose p after temperature sum to it or more: 0 to 1, one at least; of 1 all.
    std::optional<double> top_p = {};
    std::uint64_t seed = 0;

    bool greedy() const { return temperature == 0.0; }
    bool operator==(const Sampling&) const = default;
};
/// An error names the number that cannot be and what was expected.
Result<void> check_sampling(const Sampling& how);

/// A token and how probable it is.
struct Candidate {
    Index id = 0;
    double logit = 0.0;
    double before = 0.0;  // softmax of the logits
    double after =
        0.0;  // what it is drawn with: after temperature, top-k and top-p; 0 of one that is not kept
    bool retained = true;
    bool operator==(const Candidate&) const = default;
};

/// Every token of the vocabulary, the largest logit first.
struct Candidates {
    std::vector<Candidate> all;
    Index retained = 0;  // the first so many of them
    /// Of its place in `all`. An id that is none: all.size().
    std::size_t rank(Index id) const;
};
/// Errors: check_sampling(); no logit; one that is NaN or infinite, by its id and value.
Result<Candidates> candidates_of(std::span<const float> logits, const Sampling& how);

/// Which is taken by a number u in [0, 1): the first whose running sum of `after` is above u; a place in `all`.
std::size_t choose(const Candidates& candidates, double u);
/// The number of step n (the n-th token that is drawn, from 0): uniform(seed, n).
double draw_of(const Sampling& how, std::uint64_t step);

}  // namespace attn
