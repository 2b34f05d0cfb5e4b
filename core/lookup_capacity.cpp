// n pairs, d_k width; a_ij weight that the key of pair i, as a query, gives pair j.
#include <algorithm>
#include <cmath>

#include "core/lookup.h"
#include "core/metrics.h"
#include "core/normals.h"
#include "core/rng.h"
#include "core/rows.h"
#include "core/softmax.h"

namespace attn {
namespace {

/// Rows of N(0, 1) numbers, each divided by its length: uniform on the sphere.
std::vector<double> unit_rows(std::uint64_t seed, Index rows, Index width) {
    std::vector<double> values(rows * width);
    NormalBlock block{};
    for (std::size_t n = 0; n < values.size(); ++n) {
        if (n % kNormalBlock == 0) fill_normal_block(seed, n / kNormalBlock, block);
        values[n] = block[n % kNormalBlock];
    }
    for (Index i = 0; i < rows; ++i) {
        const std::span<double> row{values.data() + i * width, static_cast<std::size_t>(width)};
        double square = 0.0;
        for (const double each : row) square += each * each;
        if (square == 0.0) row[0] = square = 1.0;  // never seen; a direction all the same
        for (double& each : row) each /= std::sqrt(square);
    }
    return values;
}

/// What one draw gives.
struct Draw {
    double interference = 0.0, worst = 0.0, error = 0.0, near_cosine = -1.0, squares = 0.0;
};

/// ‖Σ_j a_j v_j − v_i‖.
double recall_error(const Memory& memory, std::span<const double> weights, Index i) {
    std::vector<double> off(memory.value(i).begin(), memory.value(i).end());
    for (double& each : off) each = -each;
    for (Index j = 0; j < memory.size(); ++j)
        for (std::size_t c = 0; c < off.size(); ++c) off[c] += weights[j] * memory.value(j)[c];
    return std::sqrt(dot(off, off));
}

/// The others alone, so that a small share is not lost beside a weight near 1.
double others(std::span<const double> weights, Index i) {
    double sum = 0.0;
    for (Index j = 0; j < std::ssize(weights); ++j)
        if (j != i) sum += weights[j];
    return sum;
}

std::optional<Draw> measured_draw(const Memory& memory, double temperature,
                                  const std::stop_token& stop) {
    const Index n = memory.size();
    Draw draw;
    std::vector<double> row(n);
    for (Index i = 0; i < n; ++i) {
        if (stop.stop_requested()) return std::nullopt;
        for (Index j = 0; j < n; ++j) {
            const double cosine = dot(memory.key(i), memory.key(j));
            row[j] = cosine / temperature;
            if (j == i) continue;
            draw.near_cosine = std::max(draw.near_cosine, cosine);
            draw.squares += cosine * cosine;
        }
        softmax_row(row, row, EmptyRows::zero);
        const double rest = others(row, i);
        draw.interference += rest / static_cast<double>(n);
        draw.worst = std::max(draw.worst, rest);
        draw.error += recall_error(memory, row, i) / static_cast<double>(n);
    }
    return draw;
}

DrawnNumber drawn(std::vector<double> values) {
    const auto [low, high] = std::ranges::minmax(values);
    return {quantile(std::span<double>(values), 0.5), low, high};
}

}  // namespace

std::vector<Index> capacity_widths() {
    std::vector<Index> widths;
    for (Index d_k = kFewestCapacityWidth; d_k <= kMostCapacityWidth; d_k *= 2)
        widths.push_back(d_k);
    return widths;
}

Index nearest_capacity_width(double d_k) {
    if (!(d_k > 0.0)) return kFewestCapacityWidth;
    const double power = std::clamp(std::round(std::log2(d_k)), 1.0, 9.0);
    return Index{1} << static_cast<Index>(power);
}

Index next_capacity_width(Index d_k, int steps) {
    const Index here = nearest_capacity_width(static_cast<double>(d_k));
    return std::clamp(steps > 0 ? here * 2 : here / 2, kFewestCapacityWidth, kMostCapacityWidth);
}

Memory random_memory(const CapacitySettings& settings, Index d_k, Index draw) {
    const std::uint64_t stream = mix(settings.seed, static_cast<std::uint64_t>(draw));
    Memory memory;
    memory.d_k = d_k;
    memory.d_v = kCapacityValueWidth;
    memory.keys = unit_rows(mix(stream, 2 * static_cast<std::uint64_t>(d_k)), settings.pairs, d_k);
    memory.values = unit_rows(mix(stream, 1), settings.pairs, kCapacityValueWidth);
    return memory;
}

std::optional<CapacityPoint> capacity_at(const CapacitySettings& settings, Index d_k,
                                         const std::stop_token& stop) {
    std::vector<double> interference, worst, error, near_cosine;
    double squares = 0.0;
    for (Index n = 0; n < settings.draws; ++n) {
        const auto draw =
            measured_draw(random_memory(settings, d_k, n), settings.temperature, stop);
        if (!draw) return std::nullopt;
        interference.push_back(draw->interference);
        worst.push_back(draw->worst);
        error.push_back(draw->error);
        near_cosine.push_back(draw->near_cosine);
        squares += draw->squares;
    }
    const auto ordered = static_cast<double>(settings.pairs * (settings.pairs - 1));
    return CapacityPoint{d_k,
                         drawn(std::move(interference)),
                         drawn(std::move(worst)),
                         drawn(std::move(error)),
                         drawn(std::move(near_cosine)),
                         squares / (ordered * static_cast<double>(settings.draws))};
}

std::vector<CapacityPoint> capacity_sweep(const CapacitySettings& settings,
                                          std::span<const Index> widths,
                                          const std::stop_token& stop) {
    std::vector<CapacityPoint> points;
    for (const Index d_k : widths) {
        const auto point = capacity_at(settings, d_k, stop);
        if (!point) break;
        points.push_back(*point);
    }
    return points;
}

}  // namespace attn
