// Y = X W for every head, products by Eigen or, in float32 forward, by matmul.h.  d_X = d_Y Wᵀ,  d_W = Σ Xᵀ d_Y over batch entries and heads.

#include <type_traits>

#include "core/kernels/eigen_view.h"
#include "core/kernels/matmul.h"
#include "core/scores/functions.h"

namespace attn::score {

template <class Scalar>
TensorOf<Scalar> rows_times(const TensorOf<Scalar>& x, const TensorOf<Scalar>& weight) {
    const Shape shape = x.shape();
    TensorOf<Scalar> y(Shape{shape.b, shape.h, shape.t, weight.shape().d});
    if constexpr (std::is_same_v<Scalar, float>) {
        const Index rows = shape.b * shape.h * shape.t;
        multiply({{x.data(), rows, shape.d, shape.d}}, {weight.matrix(0, 0)},
                 {y.data(), rows, y.shape().d, y.shape().d});
        return y;
    }
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h)
            eigen(y.matrix(b, h)).noalias() = eigen(x.matrix(b, h)) * eigen(weight.matrix(0, 0));
    return y;
}

template <class Scalar>
TensorOf<Scalar> rows_times_backward(const TensorOf<Scalar>& x, const TensorOf<Scalar>& weight,
                                     const TensorOf<Scalar>& d_y, TensorOf<Scalar>& d_weight) {
    const Shape shape = x.shape();
    if (d_weight.empty()) d_weight = TensorOf<Scalar>(weight.shape());
    TensorOf<Scalar> d_x(shape);
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h) {
            const auto d = eigen(d_y.matrix(b, h));
            eigen(d_x.matrix(b, h)).noalias() = d * eigen(weight.matrix(0, 0)).transpose();
            // Row by row: a forbidden key has no gradient, and 0 · NaN of it must not count.
            for (Index t = 0; t < shape.t; ++t)
                if (!d.row(t).isZero(Scalar{0}))
                    eigen(d_weight.matrix(0, 0)).noalias() +=
                        eigen(x.matrix(b, h)).row(t).transpose() * d.row(t);
        }
    return d_x;
}
template TensorOf<float> rows_times(const TensorOf<float>&, const TensorOf<float>&);
template TensorOf<double> rows_times(const TensorOf<double>&, const TensorOf<double>&);
template TensorOf<float> rows_times_backward(const TensorOf<float>&, const TensorOf<float>&,
                                             const TensorOf<float>&, TensorOf<float>&);
template TensorOf<double> rows_times_backward(const TensorOf<double>&, const TensorOf<double>&,
                                              const TensorOf<double>&, TensorOf<double>&);

}  // namespace attn::score
