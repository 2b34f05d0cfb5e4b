#include "core/lookup.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "core/engine.h"
#include "core/metrics.h"
#include "core/spec.h"
#include "core/text.h"
#include "core/trace.h"

namespace attn {
namespace {

constexpr double kRounding = 1e-12;  // of a sum of a few products in double

Result<void> check_memory(const Memory& memory, std::span<const double> query, double temperature) {
    const auto finite = [](double value) { return std::isfinite(value); };
    if (memory.size() < 1 || memory.d_v < 1) return bad_input("the memory has no pair");
    if (std::ssize(memory.keys) != memory.size() * memory.d_k ||
        std::ssize(memory.values) != memory.size() * memory.d_v)
        return bad_input(fmt::format(
            "{} numbers of keys and {} of values do not make {} pairs of widths {} and {}",
            memory.keys.size(), memory.values.size(), memory.size(), memory.d_k, memory.d_v));
    if (std::ssize(query) != memory.d_k)
        return bad_input(fmt::format("the query has {} and each key {}",
                                     counted(query.size(), "number"), memory.d_k));
    if (!(temperature > 0.0) || !finite(temperature))
        return bad_input(
            fmt::format("the temperature is {}: expected a finite number above 0", temperature));
    if (!std::ranges::all_of(memory.keys, finite) || !std::ranges::all_of(memory.values, finite) ||
        !std::ranges::all_of(query, finite))
        return bad_input("a number of the memory or the query is not finite");
    return {};
}

double norm_of(std::span<const double> x) {
    return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
}

double distance(std::span<const double> a, std::span<const double> b) {
    double sum = 0.0;
    for (std::size_t c = 0; c < a.size(); ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
    return std::sqrt(sum);
}

std::vector<double> mean_of(const Memory& memory, const std::vector<Index>& pairs) {
    std::vector<double> mean(memory.d_v, 0.0);
    for (const Index j : pairs)
        for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += memory.value(j)[c];
    for (double& each : mean) each /= static_cast<double>(pairs.size());
    return mean;
}

InputsD inputs_of(const Memory& memory, std::span<const double> query) {
    const auto tensor = [](Index rows, Index width, std::span<const double> values) {
        return TensorD({1, 1, rows, width}, std::vector<double>(values.begin(), values.end()));
    };
    InputsD inputs;
    inputs.q = tensor(1, memory.d_k, query);
    inputs.k = tensor(memory.size(), memory.d_k, memory.keys);
    inputs.v = tensor(memory.size(), memory.d_v, memory.values);
    return inputs;
}

std::vector<double> values_of(const TensorD& tensor) {
    return {tensor.values().begin(), tensor.values().end()};
}

void find_cosines(MemoryRead& read, const Memory& memory, std::span<const double> query) {
    const double length = norm_of(query);
    for (Index j = 0; j < memory.size(); ++j) {
        const double both = length * norm_of(memory.key(j));
        const double score = read.scores[j];
        read.cosines.push_back(both > 0.0 ? score / both
                                          : std::numeric_limits<double>::quiet_NaN());
    }
    read.most_similar = largest_places(std::span<const double>(read.cosines), kRounding);
}

/// Twice the area of the triangle o, a, b; above 0 where it turns to the left.
double turn(const PlanePoint& o, const PlanePoint& a, const PlanePoint& b) {
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
}

}  // namespace

Result<MemoryRead> read_memory(const Memory& memory, std::span<const double> query,
                               double temperature) {
    if (auto valid = check_memory(memory, query, temperature); !valid)
        return tl::unexpected(valid.error());
    AttentionSpec spec;
    spec.scale = ScaleKind::none;
    spec.temperature = temperature;
    const auto trace = attend_exact(inputs_of(memory, query), spec);
    if (!trace) return tl::unexpected(trace.error());
    MemoryRead read;
    read.scores = values_of((*trace)[Stage::scores]);
    read.weights = values_of((*trace)[Stage::weights]);
    read.output = values_of((*trace)[Stage::context]);
    find_cosines(read, memory, query);
    for (Index j = 0; j < memory.size(); ++j)
        read.contributions.push_back(read.weights[j] * norm_of(memory.value(j)));
    std::vector<Index> all(memory.size());
    std::iota(all.begin(), all.end(), Index{0});
    read.best = largest_places(std::span<const double>(read.scores), kRounding);
    read.hard = mean_of(memory, read.best);
    read.mean = mean_of(memory, all);
    read.entropy = row_metrics(std::span<const double>(read.weights), memory.size()).entropy;
    read.to_hard = distance(read.output, read.hard);
    read.to_mean = distance(read.output, read.mean);
    return read;
}

std::vector<Index> convex_hull(std::span<const PlanePoint> points) {
    std::vector<Index> order(points.size());
    std::iota(order.begin(), order.end(), Index{0});
    const auto at = [&](Index n) -> const PlanePoint& { return points[n]; };
    std::ranges::stable_sort(order, [&](Index a, Index b) { return at(a) < at(b); });
    const auto same = std::ranges::unique(order, [&](Index a, Index b) { return at(a) == at(b); });
    order.erase(same.begin(), same.end());
    if (order.size() < 3) return order;
    std::vector<Index> hull;
    const auto add = [&](Index next, std::size_t floor) {
        while (hull.size() >= floor + 2 &&
               turn(at(hull[hull.size() - 2]), at(hull.back()), at(next)) <= 0.0)
            hull.pop_back();
        hull.push_back(next);
    };
    for (const Index n : order) add(n, 0);
    const std::size_t lower = hull.size() - 1;
    for (std::size_t n = order.size() - 1; n-- > 0;) add(order[n], lower);
    hull.pop_back();  // the first once more
    return hull;
}

}  // namespace attn
