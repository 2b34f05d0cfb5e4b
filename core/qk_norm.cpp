#include "core/qk_norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/entries.h"
#include "core/threads.h"

namespace attn {
namespace {

template <class Scalar>
double norm_weight_at(const TensorOf<Scalar>& weight, Index c) {
    return weight.empty() ? 1.0 : static_cast<double>(weight(0, 0, 0, c));
}

}  // namespace

template <class Scalar>
double inverse_rms(std::span<const Scalar> row, double epsilon) {
    double squares = 0.0;
    for (const Scalar each : row) squares += static_cast<double>(each) * static_cast<double>(each);
    return 1.0 / std::sqrt(squares / static_cast<double>(row.size()) + epsilon);
}
template double inverse_rms(std::span<const float>, double);
template double inverse_rms(std::span<const double>, double);

template <class Scalar>
TensorOf<Scalar> normalise_rows(const TensorOf<Scalar>& rows, const TensorOf<Scalar>& weight,
                                double epsilon) {
    TensorOf<Scalar> normalised(rows.shape());
    const Shape shape = rows.shape();
    parallel_for(shape.b * shape.h, {}, [&](Index n, int) {
        const auto from = rows.matrix(n / shape.h, n % shape.h);
        const auto to = normalised.matrix(n / shape.h, n % shape.h);
        for (Index t = 0; t < shape.t; ++t) {
            const std::span<const Scalar> x = from.row(t);
            const double r = inverse_rms(x, epsilon);
            for (Index c = 0; c < shape.d; ++c)
                to(t, c) =
                    static_cast<Scalar>(static_cast<double>(x[c]) * r * norm_weight_at(weight, c));
        }
    });
    return normalised;
}
template Tensor normalise_rows(const Tensor&, const Tensor&, double);
template TensorD normalise_rows(const TensorD&, const TensorD&, double);

// forward:  y = x r ∘ γ,  r = (mean x² + ε)^(−1/2)  so  ∂r/∂x_c = −r³ x_c / d
template <class Scalar>
TensorOf<Scalar> normalise_rows_backward(const TensorOf<Scalar>& rows,
                                         const TensorOf<Scalar>& weight, double epsilon,
                                         const TensorOf<Scalar>& d, TensorOf<Scalar>& d_weight) {
    const Index width = rows.shape().d;
    TensorOf<Scalar> d_rows(rows.shape());
    std::vector<double> d_gamma(static_cast<std::size_t>(width));
    for_each_row(rows.shape(), [&](Index b, Index h, Index t) {
        const std::span<const Scalar> x = rows.matrix(b, h).row(t);
        const std::span<const Scalar> d_y = d.matrix(b, h).row(t);
        if (std::ranges::all_of(d_y, [](Scalar each) { return each == Scalar{0}; })) return;
        const double r = inverse_rms(x, epsilon);
        double along = 0.0;  // mean(x ∘ γ ∘ d)
        for (Index c = 0; c < width; ++c) {
            const double part = static_cast<double>(x[c]) * static_cast<double>(d_y[c]);
            d_gamma[c] += part * r;
            along += part * norm_weight_at(weight, c) / static_cast<double>(width);
        }
        for (Index c = 0; c < width; ++c)
            d_rows.matrix(b, h).row(t)[c] =
                static_cast<Scalar>(r * (norm_weight_at(weight, c) * static_cast<double>(d_y[c]) -
                                         static_cast<double>(x[c]) * r * r * along));
    });
    if (weight.empty()) return d_rows;
    if (d_weight.empty()) d_weight = TensorOf<Scalar>(weight.shape());
    for (Index c = 0; c < width; ++c) d_weight(0, 0, 0, c) += static_cast<Scalar>(d_gamma[c]);
    return d_rows;
}
template Tensor normalise_rows_backward(const Tensor&, const Tensor&, double, const Tensor&,
                                        Tensor&);
template TensorD normalise_rows_backward(const TensorD&, const TensorD&, double, const TensorD&,
                                         TensorD&);

}  // namespace attn
