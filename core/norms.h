#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "core/forward.h"
#include "core/sizes.h"
#include "core/stop.h"
#include "core/tensor.h"

namespace attn {

// Of the finite entries; NaN and infinities count as 0.

inline double finite_or_zero(double value) { return std::isfinite(value) ? value : 0.0; }

/// max |x|; 0 of an empty tensor.
inline double largest_finite(const TensorD& tensor) {
    end_if_stopped();
    // Four at a time: each comparison waits for the one before it.
    std::array<double, 4> most{};
    const std::span<const double> values = tensor.values();
    for (std::size_t n = 0; n < values.size(); n += most.size())
        for (std::size_t u = 0; u < std::min(most.size(), values.size() - n); ++u) {
            const double size = std::abs(values[n + u]);
            if (size > most[u] && size <= std::numeric_limits<double>::max()) most[u] = size;
        }
    return std::ranges::max(most);
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
