// RoPE and ALiBi. p position, c column pair, dims columns that turn.

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <type_traits>
#include <vector>

#include "core/check.h"
#include "core/rope_scale.h"
#include "core/rotary.h"
#include "core/rounding.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/threads.h"

namespace attn {
namespace {

/// So many positions in a row are turned on from the first of them, in double, which float32 does not see; double itself
/// takes sines and cosines of each.
template <class Scalar>
constexpr Index kRun = std::is_same_v<Scalar, float> ? 32 : 1;

/// cos and sin of every column pair, [position, pair], of a run of positions.
template <class Scalar>
struct Turns {
    std::vector<Scalar> cosine;
    std::vector<Scalar> sine;
};

template <class Scalar>
Turns<Scalar> turns_of(const std::vector<double>& frequencies, Index first, Index count,
                       double sign) {
    const std::size_t pairs = frequencies.size();
    const auto size = static_cast<std::size_t>(count) * pairs;
    Turns<Scalar> turns{std::vector<Scalar>(size), std::vector<Scalar>(size)};
    for (std::size_t c = 0; c < pairs; ++c) {
        const double omega = frequencies[c];
        const double angle = static_cast<double>(first) * omega;
        double cosine = std::cos(angle), sine = sign * std::sin(angle);
        const double step_cosine = std::cos(omega), step_sine = sign * std::sin(omega);
        for (std::size_t at = c; at < size; at += pairs) {
            turns.cosine[at] = static_cast<Scalar>(cosine);
            turns.sine[at] = static_cast<Scalar>(sine);
            const double next = cosine * step_cosine - sine * step_sine;
            sine = sine * step_cosine + cosine * step_sine;
            cosine = next;
        }
    }
    return turns;
}

/// One row: pair c of x is columns c and c + pairs, or 2c and 2c + 1.
template <class Scalar>
void turn_row(RopePairs order, const Scalar* x, const Scalar* cosine, const Scalar* sine,
              std::size_t pairs, Scalar* to) {
    const auto turn = [&](std::size_t c, std::size_t first, std::size_t second) {
        const Scalar turned = x[first] * cosine[c] - x[second] * sine[c];
        to[second] = x[first] * sine[c] + x[second] * cosine[c];
        to[first] = turned;
    };
    if (order == RopePairs::half)
        for (std::size_t c = 0; c < pairs; ++c) turn(c, c, c + pairs);
    else
        for (std::size_t c = 0; c < pairs; ++c) turn(c, 2 * c, 2 * c + 1);
}

double llama3_frequency(const RopeScaling& scaling, double omega, Index /*c*/, Index /*dims*/) {
    const double slow = omega / scaling.factor;
    const double turns = scaling.original_length * omega / (2.0 * std::numbers::pi);  // L / λ
    if (turns > scaling.high) return omega;
    if (turns < scaling.low) return slow;
    const double share = (turns - scaling.low) / (scaling.high - scaling.low);
    return (1.0 - share) * slow + share * omega;
}

double yarn_frequency(const RopeScaling& scaling, double omega, Index c, Index /*dims*/) {
    const double slower =
        std::clamp((static_cast<double>(c) - scaling.low) / (scaling.high - scaling.low), 0.0, 1.0);
    return (1.0 - slower) * omega + slower * (omega / scaling.factor);
}

double proportional_frequency(const RopeScaling& scaling, double omega, Index c, Index dims) {
    const double pairs = std::floor(scaling.low * static_cast<double>(dims) / 2.0);
    return c < static_cast<Index>(pairs) ? omega / scaling.factor : 0.0;
}

bool is_any(const RopeScaling& /*scaling*/) { return true; }

constexpr RopeScaleInfo kScales[] = {
    {RopeScale::none, "", 0, "", "none", "", "", is_any, "",
     [](const RopeScaling&, double omega, Index, Index) { return omega; }},
    {RopeScale::linear, "linear", 1, "FACTOR", "linear, factor {}", ", over {} (linear scaling)",
     "", is_any, "",
     [](const RopeScaling& scaling, double omega, Index, Index) { return omega / scaling.factor; }},
    {RopeScale::llama3, "llama3", 4, "FACTOR,LOW,HIGH,ORIGINAL_LENGTH",
     "llama3, factor {}, {} to {} turns in {}", ", the slow ones over {} (llama3 scaling)", "",
     [](const RopeScaling& scaling) {
         return scaling.low < scaling.high && scaling.original_length > 0.0;
     },
     "RoPE's llama3 scaling goes from {} to {} turns: the first must be the smaller",
     llama3_frequency},
    {RopeScale::yarn, "yarn", 3, "FACTOR,LOW,HIGH", "YaRN, factor {}, from pair {} to {}",
     ", the slow ones over {} (YaRN)", "",
     [](const RopeScaling& scaling) { return scaling.low < scaling.high; },
     "RoPE's yarn scaling goes from pair {} to {}: the first must be the smaller", yarn_frequency},
    {RopeScale::proportional, "proportional", 2, "FACTOR,SHARE",
     "proportional, factor {}, share {}", ", over {} in the first {} of the pairs, 0 in the others",
     " turns that share of the pairs",
     [](const RopeScaling& scaling) { return scaling.low > 0.0 && scaling.low <= 1.0; },
     "RoPE's proportional scaling has the share {}: expected the share of pairs that turn, above "
     "0 and at most 1",
     proportional_frequency},
    {RopeScale::ntk, "ntk", 1, "FACTOR", "NTK-aware, factor {}",
     ", the slowest over {} (NTK-aware scaling)",
     " multiplies the base by FACTOR^(N / (N − 2)), N the columns that turn", is_any, "",
     [](const RopeScaling& scaling, double omega, Index c, Index dims) {
         const double power =
             c == 0 ? 0.0 : -2.0 * static_cast<double>(c) / static_cast<double>(dims - 2);
         return omega * std::pow(scaling.factor, power);
     }},
};

constexpr bool scales_are_in_enum_order() {
    for (std::size_t n = 0; n < std::size(kScales); ++n)
        if (static_cast<std::size_t>(kScales[n].kind) != n) return false;
    return true;
}
static_assert(scales_are_in_enum_order());

/// Each row by its own cosines and sines, [1 or B, 1, T, pairs].
template <class Scalar>
TensorOf<Scalar> rotate_by(const Rope& rope, const Tensor& cos, const Tensor& sin,
                           const TensorOf<Scalar>& tensor, bool back) {
    const Shape shape = tensor.shape();
    const Index pairs = cos.shape().d;
    auto rotated = TensorOf<Scalar>::uninitialised(shape);
    parallel_for(shape.b * shape.t, {}, [&](Index n, int) {
        const Index b = n / shape.t, t = n % shape.t;
        const std::span<const float> own = cos.matrix(cos.shape().b == 1 ? 0 : b, 0).row(t);
        const std::span<const float> own_sine = sin.matrix(sin.shape().b == 1 ? 0 : b, 0).row(t);
        const std::vector<Scalar> cosine(own.begin(), own.end());
        std::vector<Scalar> sine(own_sine.begin(), own_sine.end());
        if (back)
            for (Scalar& each : sine) each = -each;
        for (Index h = 0; h < shape.h; ++h) {
            const Scalar* const from = tensor.data() + ((b * shape.h + h) * shape.t + t) * shape.d;
            Scalar* const to = rotated.data() + (from - tensor.data());
            turn_row(rope.pairs, from, cosine.data(), sine.data(), cosine.size(), to);
            std::copy(from + 2 * pairs, from + shape.d, to + 2 * pairs);
        }
    });
    return rotated;
}

}  // namespace

double rope_frequency(const Rope& rope, Index c, Index dims) {
    const double omega =
        std::pow(rope.base, -2.0 * static_cast<double>(c) / static_cast<double>(dims));
    return info(rope.scaling.kind).frequency(rope.scaling, omega, c, dims);
}

std::span<const RopeScaleInfo> rope_scale_table() { return kScales; }

template <class Scalar>
TensorOf<Scalar> rotate(const Rope& rope, const TensorOf<Scalar>& tensor, Index offset, bool back) {
    ATTN_CHECK(!rope.tables, "tables turn queries and keys by their own rows, not by an offset");
    const Shape shape = tensor.shape();
    const Index dims = rope.dims.value_or(shape.d);
    std::vector<double> frequencies;
    for (Index c = 0; c < dims / 2; ++c) frequencies.push_back(rope_frequency(rope, c, dims));
    const std::size_t pairs = frequencies.size();
    auto rotated = TensorOf<Scalar>::uninitialised(shape);
    // Runs begin at multiples of kRun, so that a row is turned alike whatever rows stand beside it.
    const Index begin = offset - (offset % kRun<Scalar> + kRun<Scalar>) % kRun<Scalar>;
    const Index end = offset + shape.t;
    parallel_for(divide_up(end - begin, kRun<Scalar>), {}, [&](Index n, int) {
        const Index first = begin + n * kRun<Scalar>;
        const Index last = std::min(first + kRun<Scalar>, end);
        const auto turns = turns_of<Scalar>(frequencies, first, last - first, back ? -1.0 : 1.0);
        for (Index head = 0; head < shape.b * shape.h; ++head)
            for (Index p = std::max(first, offset); p < last; ++p) {
                const auto at = static_cast<std::size_t>(p - first) * pairs;
                const Index row = (head * shape.t + p - offset) * shape.d;
                const Scalar* const from = tensor.data() + row;
                Scalar* const to = rotated.data() + row;
                turn_row(rope.pairs, from, turns.cosine.data() + at, turns.sine.data() + at, pairs,
                         to);
                std::copy(from + dims, from + shape.d, to + dims);
            }
    });
    return rotated;
}

template TensorOf<float> rotate(const Rope&, const TensorOf<float>&, Index, bool);
template TensorOf<double> rotate(const Rope&, const TensorOf<double>&, Index, bool);

template <class Scalar>
TensorOf<Scalar> rotate(const Rope& rope, const TensorOf<Scalar>& rows, Rotated side,
                        Index query_offset, bool back) {
    const bool queries = side == Rotated::queries;
    if (!rope.tables) return rotate(rope, rows, queries ? query_offset : 0, back);
    const RotaryTables& tables = *rope.tables;
    return queries ? rotate_by(rope, tables.q_cos, tables.q_sin, rows, back)
                   : rotate_by(rope, tables.k_cos, tables.k_sin, rows, back);
}

template Tensor rotate(const Rope&, const Tensor&, Rotated, Index, bool);
template TensorD rotate(const Rope&, const TensorD&, Rotated, Index, bool);

double alibi_slope(Index h, Index heads) {
    const auto power = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(heads)));
    const auto slope = [](Index n, Index of) {
        return std::exp2(-8.0 * static_cast<double>(n + 1) / static_cast<double>(of));
    };
    return h < power ? slope(h, power) : slope(2 * (h - power), 2 * power);
}

}  // namespace attn
