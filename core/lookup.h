#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "core/result.h"
#include "core/sizes.h"

namespace attn {

// Attention as a soft dictionary.
// n pairs, d_k width of a key and of the query, d_v width of a value; j pair, τ temperature.

/// Key/value pairs: `keys` [n, d_k] and `values` [n, d_v], row-major.
struct Memory {
    Index d_k = 0;
    Index d_v = 0;
    std::vector<double> keys;
    std::vector<double> values;

    Index size() const { return d_k > 0 ? std::ssize(keys) / d_k : 0; }
    std::span<const double> key(Index j) const {
        return {keys.data() + j * d_k, static_cast<std::size_t>(d_k)};
    }
    std::span<const double> value(Index j) const {
        return {values.data() + j * d_v, static_cast<std::size_t>(d_v)};
    }
};

/// The result of one query.
struct MemoryRead {
    std::vector<double> scores;         // s_j = q·k_j
    std::vector<double> cosines;        // s_j / (‖q‖ ‖k_j‖); NaN where a norm is 0
    std::vector<double> weights;        // a = softmax(s / τ)
    std::vector<double> output;         // o = Σ_j a_j v_j
    std::vector<double> contributions;  // ‖a_j v_j‖, the pair's part of the output
    std::vector<Index> best;            // every j of the largest score: several on a tie
    std::vector<Index> most_similar;  // every j of the largest cosine; none where no cosine exists
    std::vector<double> hard;         // the mean of the best pairs' values: lim τ → 0 of o
    std::vector<double> mean;         // the mean of all values: lim τ → ∞ of o
    double entropy = 0.0;             // H = −Σ a ln a, nats
    double to_hard = 0.0;             // ‖o − hard‖
    double to_mean = 0.0;             // ‖o − mean‖
};

/// Reads a memory: scores, weights and output are one attention call of one query by the reference in double, without
/// 1/√d_k (τ = √d_k is the scaled dot product). o is a convex combination: it lies in the hull of the values.
/// Errors: no pair, a query of another width, τ that is not above 0, a number that is not finite.
Result<MemoryRead> read_memory(const Memory& memory, std::span<const double> query,
                               double temperature);

using PlanePoint = std::array<double, 2>;
/// The corners of the convex hull of points in a plane, counter-clockwise from the lowest x (then y); points on an edge are
/// no corners. One point gives one corner, points on one line give two.
/// Source: Andrew 1979, monotone chain.
std::vector<Index> convex_hull(std::span<const PlanePoint> points);

// How many pairs a memory keeps apart.

/// n random unit keys of width d_k with random unit values of width kCapacityValueWidth; each pair is read with its own
/// key, at softmax(k_i·k_j / τ).
struct CapacitySettings {
    Index pairs = 32;          // n >= 2
    double temperature = 0.1;  // τ > 0
    Index draws = 15;          // of keys and values, >= 1
    std::uint64_t seed = 1;
    bool operator==(const CapacitySettings&) const = default;
};
inline constexpr Index kCapacityValueWidth = 16;

/// One number of each draw: its median and its smallest and largest.
struct DrawnNumber {
    double median = 0.0, low = 0.0, high = 0.0;
};
struct CapacityPoint {
    Index d_k = 0;
    DrawnNumber interference;  // mean over i of Σ_{j≠i} a_ij = 1 − a_ii
    DrawnNumber worst;         // max over i of it
    DrawnNumber error;         // mean over i of ‖o_i − v_i‖, ‖v_i‖ = 1
    DrawnNumber near_cosine;   // of the pair of keys that are nearest: max_{i≠j} k_i·k_j
    double mean_square = 0.0;  // of k_i·k_j over i ≠ j and all draws; 1/d_k is expected
};

// d_k of a sweep: powers of two.
inline constexpr Index kFewestCapacityWidth = 2;
inline constexpr Index kMostCapacityWidth = 512;
inline constexpr Index kMostCapacityPairs = 256;
std::vector<Index> capacity_widths();
/// The one next to `d_k` on a log axis.
Index nearest_capacity_width(double d_k);
/// The next one above (steps = 1) or below (−1).
Index next_capacity_width(Index d_k, int steps);

/// Keys and values of draw `draw`, the same on every machine; each row has length 1.
Memory random_memory(const CapacitySettings& settings, Index d_k, Index draw);
/// nullopt when stopped.
std::optional<CapacityPoint> capacity_at(const CapacitySettings& settings, Index d_k,
                                         const std::stop_token& stop = {});
/// One point for each width that was done when it was stopped.
std::vector<CapacityPoint> capacity_sweep(const CapacitySettings& settings,
                                          std::span<const Index> widths,
                                          const std::stop_token& stop = {});

}  // namespace attn
