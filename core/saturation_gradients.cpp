#include "core/saturation_gradients.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "core/normals.h"
#include "core/rng.h"
#include "core/saturation.h"
#include "core/softmax.h"
#include "core/threads.h"

// n keys; z logits that enter softmax, s = q·k raw scores, f = ∂z/∂s, d_… the gradient of the loss by …

namespace attn {
namespace {

enum Stream : std::uint64_t { kDirections, kAlong, kAcross };

/// χ² of a stream with so many degrees of freedom: 2 Γ(dof/2) by Marsaglia & Tsang 2000.
double chi_squared(std::uint64_t stream, Index dof) {
    if (dof <= 0) return 0.0;
    if (dof == 1) return std::pow(normal(stream, 0), 2);
    const double d = static_cast<double>(dof) / 2.0 - 1.0 / 3.0;
    const double c = 1.0 / std::sqrt(9.0 * d);
    for (std::uint64_t n = 0;; ++n) {
        const double x = normal(stream, n);
        const double v = std::pow(1.0 + c * x, 3);
        const double u = uniform(mix(stream, 0), n);
        if (v > 0.0 && std::log(1.0 - u) < 0.5 * x * x + d - d * v + d * std::log(v))
            return 2.0 * d * v;
    }
}

/// What does not depend on whether scores are scaled.
struct SampledRow {
    std::vector<double> directions;  // s_j / ‖q‖
    std::vector<double> upstream;    // ∂L/∂a
    double q = 0.0;                  // ‖q‖
    double across = 0.0;             // ‖·‖ of N(0, 1) in the d_k − 1 directions across q

    void draw(const GradientSampling& sampling, Index row, Index d_k) {
        const std::uint64_t seed = mix(sampling.seed, static_cast<std::uint64_t>(row));
        const auto n = static_cast<std::size_t>(sampling.keys);
        directions.resize(n);
        upstream.resize(n);
        NormalBlock block;
        for (std::size_t at = 0; at < 2 * n; ++at) {
            if (at % kNormalBlock == 0)
                fill_normal_block(mix(seed, kDirections), at / kNormalBlock, block);
            (at < n ? directions[at] : upstream[at - n]) = block[at % kNormalBlock];
        }
        q = std::sqrt(chi_squared(mix(seed, kAlong), d_k));
        across = std::sqrt(chi_squared(mix(seed, kAcross), d_k - 1));
    }
};

/// Norms of one row on one side.
struct Norms {
    double p_max = 0.0, jacobian = 0.0, z = 0.0, q = 0.0;
};

/// ‖diag(a) − a aᵀ‖_F = √(Σ_j a_j² (1 − a_j)² + Σ_{i≠j} a_i² a_j²), where 1 − a_top is the sum of the others, so that it does
/// not drown in rounding.
double jacobian_norm(std::span<const double> a, std::size_t top) {
    double rest = 0.0, squares = 0.0, fourth = 0.0, diagonal = 0.0;
    for (std::size_t j = 0; j < a.size(); ++j) {
        if (j == top) continue;
        const double square = a[j] * a[j];
        rest += a[j];
        squares += square;
        fourth += square * square;
        diagonal += square * (1.0 - a[j]) * (1.0 - a[j]);
    }
    const double largest = a[top] * a[top];
    return std::sqrt(diagonal + largest * rest * rest + 2.0 * largest * squares +
                     squares * squares - fourth);
}

/// Forward and backward; `a` is scratch. d_z is centred at the largest weight, so that it does not drown in rounding either:
///   d_z_j = a_j ((d_a_j − d_a_top) − Σ_i a_i (d_a_i − d_a_top)).
Norms norms_of(const SampledRow& row, double factor, std::vector<double>& a) {
    for (std::size_t j = 0; j < a.size(); ++j) a[j] = factor * row.q * row.directions[j];
    softmax_row(std::span<const double>(a), a, EmptyRows::zero);
    const auto top = static_cast<std::size_t>(std::ranges::max_element(a) - a.begin());
    double mean = 0.0, squares = 0.0, along = 0.0;
    for (std::size_t j = 0; j < a.size(); ++j) mean += a[j] * (row.upstream[j] - row.upstream[top]);
    for (std::size_t j = 0; j < a.size(); ++j) {
        const double d_z = a[j] * (row.upstream[j] - row.upstream[top] - mean);
        squares += d_z * d_z;
        along += d_z * row.directions[j];  // k_j along q is s_j/‖q‖
    }
    const double z = std::sqrt(squares);
    return {a[top], jacobian_norm(a, top), z, factor * std::hypot(along, z * row.across)};
}

/// One side of one width, a number for each row or batch.
struct Samples {
    std::vector<double> p_max, jacobian, z, q, w_q;

    explicit Samples(Index rows)
        : p_max(static_cast<std::size_t>(rows)),
          jacobian(p_max.size()),
          z(p_max.size()),
          q(p_max.size()),
          w_q(static_cast<std::size_t>(rows / kGradientBatch)) {}
    void set(std::size_t row, const Norms& norms) {
        p_max[row] = norms.p_max;
        jacobian[row] = norms.jacobian;
        z[row] = norms.z;
        q[row] = norms.q;
    }
    void close_batch(std::size_t batch) {
        const auto rows = std::span(q).subspan(batch * kGradientBatch, kGradientBatch);
        w_q[batch] = std::sqrt(std::inner_product(rows.begin(), rows.end(), rows.begin(), 0.0));
    }
};

/// At position p (n − 1) of n sorted values.
double at_share(std::span<const double> sorted, double p) {
    const double position = std::clamp(p, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

/// Of `factor` times the sorted values.
Spread spread_of(std::span<const double> sorted, double factor) {
    Spread spread;
    for (std::size_t n = 0; n < spread.percentiles.size(); ++n)
        spread.percentiles[n] = factor * at_share(sorted, static_cast<double>(n) / 100.0);
    const auto count = static_cast<double>(sorted.size());
    spread.mean = factor * std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
    const auto dead = std::ranges::partition_point(
        sorted, [&](double value) { return factor * value < kDeadGradient; });
    spread.dead = static_cast<double>(dead - sorted.begin()) / count;
    const double reach = 0.98 / std::sqrt(count);
    spread.sure_low = factor * at_share(sorted, 0.5 - reach);
    spread.sure_high = factor * at_share(sorted, 0.5 + reach);
    return spread;
}

Spread sorted_spread(std::vector<double>& values) {
    std::ranges::sort(values);
    return spread_of(values, 1.0);
}

/// Of the two sides. False when stopped.
bool draw_samples(const GradientSampling& sampling, Index d_k, const RunControl& control,
                  std::array<Samples, 2>& sides) {
    const double factors[] = {1.0 / std::sqrt(static_cast<double>(d_k)), 1.0};
    return parallel_for(sampling.rows / kGradientBatch, control, [&](Index batch, int) {
        SampledRow row;
        std::vector<double> a(sampling.keys);
        for (Index n = batch * kGradientBatch; n < (batch + 1) * kGradientBatch; ++n) {
            row.draw(sampling, n, d_k);
            for (std::size_t side = 0; side < 2; ++side)
                sides[side].set(static_cast<std::size_t>(n), norms_of(row, factors[side], a));
        }
        for (Samples& side : sides) side.close_batch(static_cast<std::size_t>(batch));
    });
}

GradientPoint point_of(Index d_k, std::array<Samples, 2>& sides) {
    GradientPoint point{d_k, {}, {}};
    const double root = 1.0 / std::sqrt(static_cast<double>(d_k));
    const auto tell = [&](Index n, int) {
        Samples& from = sides[n % 2];
        GradientSide& to = n % 2 == 0 ? point.scaled : point.unscaled;
        switch (n / 2) {
            case 0:
                to.p_max = sorted_spread(from.p_max);
                break;
            case 1:
                to.jacobian = sorted_spread(from.jacobian);
                break;
            case 2:
                to.z = sorted_spread(from.z);
                to.s = spread_of(from.z, n % 2 == 0 ? root : 1.0);
                break;
            case 3:
                to.q = sorted_spread(from.q);
                break;
            default:
                to.w_q = sorted_spread(from.w_q);
        }
    };
    parallel_for(10, {}, tell);
    return point;
}

Result<void> check_count(std::string_view name, Index value, Index least, Index most) {
    if (value >= least && value <= most) return {};
    return bad_input(fmt::format("{} is {}; expected {} to {}", name, value, least, most));
}

}  // namespace

Result<void> check_gradients(const GradientSampling& sampling, std::span<const Index> widths) {
    if (widths.empty()) return bad_input("the list of d_k is empty; expected at least one width");
    for (const Index d_k : widths)
        if (auto ok = check_count("d_k", d_k, 1, kMaxSaturationWidth); !ok) return ok;
    if (auto ok = check_count("the number of keys", sampling.keys, 1, kMaxSaturationKeys); !ok)
        return ok;
    if (sampling.rows % kGradientBatch != 0)
        return bad_input(
            fmt::format("the number of rows is {}; expected a multiple of {}, the rows "
                        "of a batch",
                        sampling.rows, kGradientBatch));
    return check_count("the number of rows", sampling.rows, kGradientBatch, kMostGradientRows);
}

Result<std::vector<GradientPoint>> gradient_sweep(const GradientSampling& sampling,
                                                  std::span<const Index> widths,
                                                  const RunControl& control) {
    if (auto ok = check_gradients(sampling, widths); !ok) return tl::unexpected(ok.error());
    std::array<Samples, 2> sides{Samples(sampling.rows), Samples(sampling.rows)};
    std::vector<GradientPoint> points;
    for (const Index d_k : widths) {
        if (!draw_samples(sampling, d_k, control, sides)) return failed("the sweep was cancelled");
        points.push_back(point_of(d_k, sides));
    }
    return points;
}

}  // namespace attn
