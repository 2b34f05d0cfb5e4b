#include "core/kernels/contributing.h"

namespace attn {

bool ContributingPairs::product_is_exact(MatrixView<const float> y) const {
    return !spec_.mask.any() || eigen(y).allFinite();
}

template <class Pair>
void ContributingPairs::for_each_pair(Pair pair) {
    for (Index i = 0; i < size_.tq; ++i) {
        fill_contributing(spec_, size_, b_, h_, i, row_);
        for (Index j = 0; j < size_.tk; ++j)
            if (row_[j] != 0) pair(i, j);
    }
}

void ContributingPairs::add_over_keys(MatrixView<const float> p, MatrixView<const float> y,
                                      MatrixView<float> c) {
    if (product_is_exact(y))
        eigen(c).noalias() += eigen(p) * eigen(y);
    else
        for_each_pair([&](Index i, Index j) { eigen(c.row(i)) += p(i, j) * eigen(y.row(j)); });
}

void ContributingPairs::add_over_queries(MatrixView<const float> p, MatrixView<const float> y,
                                         MatrixView<float> c) {
    if (product_is_exact(y))
        eigen(c).noalias() += eigen(p).transpose() * eigen(y);
    else
        for_each_pair([&](Index i, Index j) { eigen(c.row(j)) += p(i, j) * eigen(y.row(i)); });
}

}  // namespace attn
