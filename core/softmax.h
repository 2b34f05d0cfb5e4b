#pragma once

#include <span>

#include "core/spec.h"

namespace attn {

/// The results of softmax in addition to the weights: the two side vectors, as numbers of one row.
struct SoftmaxRow {
    double max = 0.0;        // m = max_j M[j]; −inf for an empty row
    double sum = 0.0;        // Σ_j exp(M[j] − m); 0 for an empty row
    double logsumexp = 0.0;  // m + ln(sum); −inf for an empty row
};

/// One row of softmax: a[j] = exp(m[j] − max) / Σ exp(m[j'] − max). `a` may alias `m`.
/// Edge: a row of −inf follows `policy`; NaN in a row makes the whole row NaN; +inf gives NaN, never
/// a plausible number. Source: Milakov & Gimelshein 2018, arXiv:1805.02867.
SoftmaxRow softmax_row(std::span<const double> m, std::span<double> a, EmptyRows policy);

/// The side vectors alone, for a row of masked scores.
SoftmaxRow softmax_sides(std::span<const float> m);

}  // namespace attn
