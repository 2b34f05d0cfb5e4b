#pragma once

#include <vector>

#include "core/dimensions.h"
#include "core/kernels/eigen_view.h"
#include "core/masks.h"
#include "core/spec.h"

namespace attn {

/// The mask of one head as its products over keys and queries see it. A matrix product adds 0 · x for a
/// forbidden pair, which is nothing unless x is NaN or inf; only then are the pairs taken one by one.
class ContributingPairs {
  public:
    ContributingPairs(const AttentionSpec& spec, const Dimensions& size, Index b, Index h)
        : spec_(spec), size_(size), b_(b), h_(h), row_(static_cast<std::size_t>(size.tk)) {}

    /// C[i] += Σ_j P[i,j] Y[j] over contributing j: context from Ã and V, d_Q from d_scores and K.
    void add_over_keys(MatrixView<const float> p, MatrixView<const float> y, MatrixView<float> c);
    /// C[j] += Σ_i P[i,j] Y[i] over contributing i: d_V from Ã and d_context, d_K from d_scores and Q.
    void add_over_queries(MatrixView<const float> p, MatrixView<const float> y,
                          MatrixView<float> c);

  private:
    bool product_is_exact(MatrixView<const float> y) const;
    template <class Pair>
    void for_each_pair(Pair pair);

    const AttentionSpec& spec_;
    const Dimensions& size_;
    Index b_;
    Index h_;
    std::vector<std::uint8_t> row_;
};

}  // namespace attn
