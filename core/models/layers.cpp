#include "core/models/layers.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "core/models/config.h"
#include "core/models/family.h"
#include "core/models/weights.h"
#include "core/rounding.h"
#include "core/spec_arrays.h"
#include "core/threads.h"

namespace attn {
namespace {

void normalise_row(std::span<float> row, const NormWeights& norm, Norm kind, double epsilon) {
    const auto n = static_cast<double>(row.size());
    double mean = 0.0;
    if (kind == Norm::layer) {
        for (const float value : row) mean += value;
        mean /= n;
    }
    double squares = 0.0;
    for (const float value : row) squares += (value - mean) * (value - mean);
    const double factor = 1.0 / std::sqrt(squares / n + epsilon);
    for (std::size_t c = 0; c < row.size(); ++c) {
        const double shift = norm.shift.empty() ? 0.0 : norm.shift.values()[c];
        row[c] = static_cast<float>((row[c] - mean) * factor * norm.scale.values()[c] + shift);
    }
}

float activated(float x, Activation activation) {
    switch (activation) {
        case Activation::relu:
            return x < 0.0F ? 0.0F : x;
        case Activation::gelu:
            return 0.5F * x * (1.0F + std::erf(x * static_cast<float>(std::numbers::sqrt2 / 2)));
        case Activation::gelu_tanh: {
            constexpr float kTwoRoots =
                1.5957691216057308F;  // 2 √(2/π); (1 + tanh u) / 2 = 1 / (1 + e^−2u)
            return x / (1.0F + std::exp(-kTwoRoots * (x + 0.044715F * x * x * x)));
        }
        case Activation::silu:
            return x / (1.0F + std::exp(-x));
        case Activation::quick_gelu:
            return x / (1.0F + std::exp(-1.702F * x));
    }
    return x;
}

/// [1, 1, T, H·d].
Tensor joined_heads(const Tensor& x) {
    const Shape shape = x.shape();
    auto joined = Tensor::uninitialised({1, 1, shape.t, shape.h * shape.d});
    for (Index h = 0; h < shape.h; ++h)
        for (Index t = 0; t < shape.t; ++t)
            std::ranges::copy(x.matrix(0, h).row(t),
                              joined.matrix(0, 0).row(t).begin() + h * shape.d);
    return joined;
}

void take_heads(const Tensor& joined, Tensor& x) {
    const Shape shape = x.shape();
    for (Index h = 0; h < shape.h; ++h)
        for (Index t = 0; t < shape.t; ++t)
            std::ranges::copy(joined.matrix(0, 0).column_block(h * shape.d, shape.d).row(t),
                              x.matrix(0, h).row(t).begin());
}

}  // namespace

Tensor normalised(const Tensor& x, const NormWeights& norm, Norm kind, double epsilon) {
    Tensor result = x;
    normalise_heads(result, norm, kind, epsilon);
    return result;
}

void normalise_heads(Tensor& x, const NormWeights& norm, Norm kind, double epsilon) {
    if (x.shape().h > 1 && norm.scale.count() == x.shape().h * x.shape().d) {
        Tensor joined = joined_heads(x);
        normalise_heads(joined, norm, kind, epsilon);
        return take_heads(joined, x);
    }
    ATTN_CHECK(x.shape().d == norm.scale.count(), "a norm has an entry for each column");
    const Shape shape = x.shape();
    const MatrixView<float> rows{x.data(), shape.b * shape.h * shape.t, shape.d, shape.d};
    parallel_for(rows.rows, {},
                 [&](Index row, int) { normalise_row(rows.row(row), norm, kind, epsilon); });
}

Tensor through(const Tensor& x, const LinearWeights& linear) {
    const Index out = linear.weight.shape().d;
    auto y = Tensor::uninitialised({1, 1, x.shape().t, out});
    const bool biased = !linear.bias.empty();
    if (biased)
        for (Index row = 0; row < x.shape().t; ++row)
            std::copy_n(linear.bias.data(), out, y.data() + row * out);
    linear.weight.multiply_from_left(x.matrix(0, 0), y.matrix(0, 0),
                                     biased ? Into::add : Into::replace);
    return y;
}

void activate(Tensor& x, Activation activation) {
    const MatrixView<float> whole{x.data(), 1, x.count(), x.count()};
    constexpr Index kPiece = 4096;
    parallel_for(divide_up(x.count(), kPiece), {}, [&](Index piece, int) {
        const Index first = piece * kPiece;
        const auto part = whole.column_block(first, std::min(kPiece, x.count() - first));
        for (float& value : part.row(0)) value = activated(value, activation);
    });
}

void turn_heads(Tensor& x, const RopeRules& rules, Index first) {
    const Shape shape = x.shape();
    const Index pairs = rules.dims.value_or(shape.d) / 2;
    const bool halves = rules.pairs == RopePairs::half;
    const Rope rope{rules.pairs, rules.base, rules.dims, rules.scaling};
    const auto& divisors =
        first + shape.t > rules.short_length ? rules.long_divisors : rules.divisors;
    for (Index t = 0; t < shape.t; ++t)
        for (Index c = 0; c < pairs; ++c) {
            const double by = divisors.empty() ? 1.0 : divisors[c];
            const double angle =
                static_cast<double>(first + t) * rope_frequency(rope, c, 2 * pairs) / by;
            const double cosine = rules.magnitude * std::cos(angle);
            const double sine = rules.magnitude * std::sin(angle);
            for (Index h = 0; h < shape.h; ++h) {
                float &a = x(0, h, t, halves ? c : 2 * c),
                      &b = x(0, h, t, halves ? c + pairs : 2 * c + 1);
                const double left = a, right = b;
                a = static_cast<float>(left * cosine - right * sine);
                b = static_cast<float>(right * cosine + left * sine);
            }
        }
}

Tensor gated(const Tensor& both, Gated kind, Activation activation) {
    constexpr float kMost = 7.0F, kSlope = 1.702F;
    const Index rows = both.shape().t, half = both.shape().d / 2;
    auto made = Tensor::uninitialised({1, 1, rows, half});
    if (kind == Gated::halves) {
        const MatrixView<const float> all = both.matrix(0, 0);
        auto up = Tensor::uninitialised(made.shape());
        for (Index row = 0; row < rows; ++row) {
            std::ranges::copy(all.column_block(0, half).row(row),
                              made.matrix(0, 0).row(row).begin());
            std::ranges::copy(all.column_block(half, half).row(row),
                              up.matrix(0, 0).row(row).begin());
        }
        activate(made, activation);
        scale_by(made, up);
        return made;
    }
    for (Index row = 0; row < rows; ++row)
        for (Index c = 0; c < half; ++c) {
            const float gate = std::min(both(0, 0, row, 2 * c), kMost);
            const float up = std::clamp(both(0, 0, row, 2 * c + 1), -kMost, kMost);
            made(0, 0, row, c) = gate / (1.0F + std::exp(-kSlope * gate)) * (up + 1.0F);
        }
    return made;
}

void add(Tensor& x, const Tensor& y, double factor) {
    ATTN_CHECK(x.shape() == y.shape(), "equal shapes are added");
    const auto by = static_cast<float>(factor);
    std::ranges::transform(x.values(), y.values(), x.values().begin(),
                           [by](float a, float b) { return a + by * b; });
}

void scale_columns(Tensor& x, const Tensor& factors) {
    ATTN_CHECK(x.shape().d == factors.count(), "every column has a factor");
    for (Index row = 0; row < x.shape().t; ++row)
        for (Index c = 0; c < x.shape().d; ++c) x(0, 0, row, c) *= factors.data()[c];
}

void cap(Tensor& x, double most) {
    for (float& value : x.values())
        value = static_cast<float>(most * std::tanh(static_cast<double>(value) / most));
}

void scale_by(Tensor& x, const Tensor& y) {
    ATTN_CHECK(x.shape() == y.shape(), "equal shapes are multiplied");
    std::ranges::transform(x.values(), y.values(), x.values().begin(), std::multiplies<>());
}

namespace {

/// Column i turns by e^(−step · i).
void add_turning(Tensor& x, Index first, double step) {
    const Index half = x.shape().d / 2;
    for (Index row = 0; row < x.shape().t; ++row)
        for (Index i = 0; i < half; ++i) {
            const double angle =
                static_cast<double>(first + row) * std::exp(-step * static_cast<double>(i));
            x(0, 0, row, i) += static_cast<float>(std::sin(angle));
            x(0, 0, row, half + i) += static_cast<float>(std::cos(angle));
        }
}

}  // namespace

void add_waves(Tensor& x, Index first) {
    const Index half = x.shape().d / 2;
    add_turning(x, first, std::log(10000.0) / static_cast<double>(std::max<Index>(half - 1, 1)));
}

void add_sines(Tensor& x) {
    add_turning(x, 0, std::log(10000.0) / static_cast<double>(std::max<Index>(x.shape().d / 2, 1)));
}

}  // namespace attn
