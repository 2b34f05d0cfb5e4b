#pragma once

#include <span>

#include "core/matrix_view.h"

namespace attn {

/// context[c] += Σ_n weights[n] · v(keys[n], c), every sum in the order of n with two roundings a term, as a plain loop
/// over n has it. Shape: weights and keys [n], context [d_v]; v [Tk,d_v].
void add_weighted_rows(std::span<const double> weights, std::span<const Index> keys,
                       MatrixView<const double> v, std::span<double> context);

}  // namespace attn
