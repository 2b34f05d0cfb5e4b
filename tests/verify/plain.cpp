#include "tests/verify/plain.h"

#include <bit>
#include <cmath>

#include "core/cast.h"
#include "core/entries.h"

namespace attn::test {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

struct Made {
    TensorD scores, scaled, biased, masked, weights, context, logsumexp;
};

void fill_scores(const ViewActions& p, Made& made) {
    for_each_entry(made.scores.shape(), [&](Index b, Index h, Index i, Index j) {
        double sum = 0.0;
        for (Index c = 0; c < p.q.shape().d; ++c)
            sum += static_cast<double>(p.q(b, h, i, c)) *
                   static_cast<double>(p.k(b, p.key_head(h), j, c));
        made.scores(b, h, i, j) = sum;
        made.scaled(b, h, i, j) = sum * p.factor;
        made.biased(b, h, i, j) = p.bias(sum * p.factor, h, i, j);
        made.masked(b, h, i, j) = p.allowed(b, i, j) ? made.biased(b, h, i, j) : p.fill;
    });
}

void softmax_row(const ViewActions& p, Made& made, Index b, Index h, Index i) {
    const auto m = made.masked.matrix(b, h).row(i);
    const auto a = made.weights.matrix(b, h).row(i);
    const double most = *std::ranges::max_element(m);
    double sum = 0.0;
    for (std::size_t j = 0; j < m.size(); ++j)
        if (most != kMinusInfinity) sum += a[j] = std::exp(m[j] - most);
    for (double& weight : a) weight = sum > 0.0 ? weight / sum : p.empty;
    made.logsumexp(b, h, i, 0) = sum > 0.0 ? most + std::log(sum) : kMinusInfinity;
}

void softmax_columns(Made& made, Index b, Index h) {
    for (Index j = 0; j < made.masked.shape().d; ++j) {
        double sum = 0.0;
        for (Index i = 0; i < made.masked.shape().t; ++i) sum += std::exp(made.masked(b, h, i, j));
        for (Index i = 0; i < made.masked.shape().t; ++i)
            made.weights(b, h, i, j) = std::exp(made.masked(b, h, i, j)) / sum;
    }
}

void fill_context(const ViewActions& p, Made& made) {
    const Index keys = p.v.shape().t;
    for_each_entry(made.context.shape(), [&](Index b, Index h, Index i, Index c) {
        for (Index j = 0; j < keys; ++j)
            if (made.weights(b, h, i, j) != 0.0)
                made.context(b, h, i, c) += p.round(made.weights(b, h, i, j)) *
                                            static_cast<double>(p.v(b, p.value_head(h), j, c));
    });
}

Tensor merged(const Tensor& context, bool transposes) {
    const Shape s = context.shape();
    Tensor output({s.b, 1, s.t, s.h * s.d});
    for_each_entry(s, [&](Index b, Index h, Index t, Index c) {
        const Index flat = (h * s.t + t) * s.d + c, width = s.h * s.d;
        if (transposes)
            output(b, 0, t, h * s.d + c) = context(b, h, t, c);
        else
            output(b, 0, flat / width, flat % width) = context(b, h, t, c);
    });
    return output;
}

}  // namespace

Trace run_plain(const ViewActions& p) {
    const Shape q = p.q.shape(), k = p.k.shape();
    const Shape pairs{q.b, q.h, q.t, k.t};
    const TensorD none(pairs);
    Made made{none,
              none,
              none,
              none,
              none,
              TensorD({q.b, q.h, q.t, p.v.shape().d}),
              TensorD({q.b, q.h, q.t, 1})};
    fill_scores(p, made);
    for (Index b = 0; b < q.b; ++b)
        for (Index h = 0; h < q.h; ++h) {
            for (Index i = 0; i < q.t; ++i) softmax_row(p, made, b, h, i);
            if (p.over_queries) softmax_columns(made, b, h);
            for (Index i = 0; p.keep && i < q.t; ++i)
                for (Index j = 0; j < k.t; ++j) made.weights(b, h, i, j) *= p.keep(b, h, i, j);
        }
    fill_context(p, made);
    Trace trace;
    trace[Stage::scores] = cast<float>(made.scores);
    trace[Stage::scaled] = cast<float>(made.scaled);
    if (p.biases) trace[Stage::biased] = cast<float>(made.biased);
    trace[Stage::masked] = cast<float>(made.masked);
    trace[Stage::weights] = cast<float>(made.weights);
    trace[Stage::context] = cast<float>(made.context);
    trace[Stage::output] = merged(trace[Stage::context], p.transposes);
    if (!p.over_queries) trace.logsumexp = cast<float>(made.logsumexp);
    return trace;
}

Tensor turned(const Tensor& tensor, Index first, bool half,
              const std::function<double(Index p, Index c)>& angle) {
    Tensor made = tensor;
    const Shape s = tensor.shape();
    for_each_entry({s.b, s.h, s.t, s.d / 2}, [&](Index b, Index h, Index t, Index c) {
        const Index one = half ? c : 2 * c, two = half ? c + s.d / 2 : 2 * c + 1;
        const auto x = static_cast<double>(tensor(b, h, t, one));
        const auto y = static_cast<double>(tensor(b, h, t, two));
        const double turn = angle(first + t, c);
        made(b, h, t, one) = static_cast<float>(x * std::cos(turn) - y * std::sin(turn));
        made(b, h, t, two) = static_cast<float>(y * std::cos(turn) + x * std::sin(turn));
    });
    return made;
}

double to_bf16(double value) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const std::uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000;
    return static_cast<double>(std::bit_cast<float>(rounded));
}

}  // namespace attn::test
