#pragma once

#include <algorithm>
#include <cmath>

#include "core/stop.h"
#include "core/tensor.h"

namespace attn {

// Of the finite entries; NaN and infinities count as 0.

inline double finite_or_zero(double value) { return std::isfinite(value) ? value : 0.0; }

/// max |x|; 0 of an empty tensor.
inline double largest_entry(const TensorD& tensor) {
    end_if_stopped();
    double largest = 0.0;
    for (const double value : tensor.values())
        largest = std::max(largest, std::abs(finite_or_zero(value)));
    return largest;
}

/// max_t Σ_c |W[t,c]| of batch entry 0, head 0; 0 of an empty tensor.
inline double largest_row_sum(const TensorD& weight) {
    double largest = 0.0;
    for (Index t = 0; t < weight.shape().t; ++t) {
        double sum = 0.0;
        for (const double value : weight.matrix(0, 0).row(t))
            sum += std::abs(finite_or_zero(value));
        largest = std::max(largest, sum);
    }
    return largest;
}

}  // namespace attn
