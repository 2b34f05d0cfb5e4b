// RoPE and ALiBi. p position, c column pair, dims columns that turn.

#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/scores/score.h"

namespace attn {
namespace {

/// Where the two columns of pair c lie.
struct Columns {
    std::size_t first;
    std::size_t second;
};

Columns columns_of(RopePairs pairs, Index c, Index dims) {
    const Index first = pairs == RopePairs::half ? c : 2 * c;
    const Index second = pairs == RopePairs::half ? c + dims / 2 : 2 * c + 1;
    return {static_cast<std::size_t>(first), static_cast<std::size_t>(second)};
}

struct Turn {
    double cosine;
    double sine;
};

/// One turn a pair of columns, for position p.
std::vector<Turn> turns_at(const Rope& rope, Index dims, Index p, bool back) {
    std::vector<Turn> turns;
    for (Index c = 0; c < dims / 2; ++c) {
        const double angle = static_cast<double>(p) * rope_frequency(rope, c, dims);
        turns.push_back({std::cos(angle), back ? -std::sin(angle) : std::sin(angle)});
    }
    return turns;
}

}  // namespace

double rope_frequency(const Rope& rope, Index c, Index dims) {
    const double omega =
        std::pow(rope.base, -2.0 * static_cast<double>(c) / static_cast<double>(dims));
    const RopeScaling& scaling = rope.scaling;
    if (scaling.kind == RopeScale::none) return omega;
    const double slow = omega / scaling.factor;
    if (scaling.kind == RopeScale::linear) return slow;
    const double turns = scaling.original_length * omega / (2.0 * std::numbers::pi);  // L / λ
    if (turns > scaling.high) return omega;
    if (turns < scaling.low) return slow;
    const double share = (turns - scaling.low) / (scaling.high - scaling.low);
    return (1.0 - share) * slow + share * omega;
}

template <class Scalar>
TensorOf<Scalar> rotate(const Rope& rope, const TensorOf<Scalar>& tensor, Index offset, bool back) {
    const Shape shape = tensor.shape();
    const Index dims = rope.dims.value_or(shape.d);
    TensorOf<Scalar> rotated = tensor;
    for (Index t = 0; t < shape.t; ++t) {
        const std::vector<Turn> turns = turns_at(rope, dims, offset + t, back);
        for (Index b = 0; b < shape.b; ++b)
            for (Index h = 0; h < shape.h; ++h) {
                const std::span<Scalar> row = rotated.matrix(b, h).row(t);
                for (Index c = 0; c < dims / 2; ++c) {
                    const auto [first, second] = columns_of(rope.pairs, c, dims);
                    const auto x = static_cast<double>(row[first]);
                    const auto y = static_cast<double>(row[second]);
                    const Turn turn = turns[static_cast<std::size_t>(c)];
                    row[first] = static_cast<Scalar>(x * turn.cosine - y * turn.sine);
                    row[second] = static_cast<Scalar>(x * turn.sine + y * turn.cosine);
                }
            }
    }
    return rotated;
}

template TensorOf<float> rotate(const Rope&, const TensorOf<float>&, Index, bool);
template TensorOf<double> rotate(const Rope&, const TensorOf<double>&, Index, bool);

double alibi_slope(Index h, Index heads) {
    const auto power = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(heads)));
    const auto slope = [](Index n, Index of) {
        return std::exp2(-8.0 * static_cast<double>(n + 1) / static_cast<double>(of));
    };
    return h < power ? slope(h, power) : slope(2 * (h - power), 2 * power);
}

}  // namespace attn
