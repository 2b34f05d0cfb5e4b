// i query, j key, c column of the hidden layer; t = tanh(q_ic + k_jc). Nothing of [Tq, Tk, a] is stored.

#include "core/kernels/eigen_view.h"
#include "core/scores/functions.h"

namespace attn::score {

template <class Scalar>
void tanh_sums(MatrixView<const Scalar> q, MatrixView<const Scalar> k, const TensorOf<Scalar>& w,
               MatrixView<Scalar> scores) {
    const auto weights = eigen(w.values());
    for (Index i = 0; i < q.rows; ++i)
        for (Index j = 0; j < k.rows; ++j)
            scores(i, j) = ((eigen(q.row(i)) + eigen(k.row(j))).tanh() * weights).sum();
}

template <class Scalar>
void tanh_sums_backward(MatrixView<const Scalar> q, MatrixView<const Scalar> k,
                        const TensorOf<Scalar>& w, MatrixView<const Scalar> d_scores,
                        MatrixView<Scalar> d_q, MatrixView<Scalar> d_k, TensorOf<Scalar>& d_w) {
    if (d_w.empty()) d_w = TensorOf<Scalar>(w.shape());
    const auto weights = eigen(w.values());
    RowArray<Scalar> t(w.count());
    for (Index i = 0; i < q.rows; ++i)
        for (Index j = 0; j < k.rows; ++j) {
            const Scalar d = d_scores(i, j);
            if (d == Scalar{0}) continue;
            t = (eigen(q.row(i)) + eigen(k.row(j))).tanh();
            eigen(d_w.values()) += d * t;
            t = d * weights * (Scalar{1} - t.square());
            eigen(d_q.row(i)) += t;
            eigen(d_k.row(j)) += t;
        }
}

template void tanh_sums(MatrixView<const float>, MatrixView<const float>, const Tensor&,
                        MatrixView<float>);
template void tanh_sums(MatrixView<const double>, MatrixView<const double>, const TensorD&,
                        MatrixView<double>);
template void tanh_sums_backward(MatrixView<const float>, MatrixView<const float>, const Tensor&,
                                 MatrixView<const float>, MatrixView<float>, MatrixView<float>,
                                 Tensor&);
template void tanh_sums_backward(MatrixView<const double>, MatrixView<const double>, const TensorD&,
                                 MatrixView<const double>, MatrixView<double>, MatrixView<double>,
                                 TensorD&);

}  // namespace attn::score
