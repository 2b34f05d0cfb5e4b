#include "core/heads/matrix.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/heads/all.h"
#include "core/stop.h"
#include "core/trace.h"

namespace attn {
namespace {

HeadMatrix owning(std::vector<float> values, Index rows, Index columns) {
    HeadMatrix matrix;
    matrix.own = std::move(values);
    matrix.values = {matrix.own.data(), rows, columns, columns};
    return matrix;
}

HeadMatrix by_norms(const HeadsResult& result, HeadPlace place,
                    const std::vector<std::vector<double>>& norms) {
    const auto weights = result.weights(place);
    return owning(times_norms(weights, norms[place.head], result.allowed(place)), weights.rows,
                  weights.columns);
}

HeadMatrix by_gradient(const HeadsResult& result, const HeadsLayer& layer, HeadPlace place) {
    const auto weights = result.weights(place);
    return owning(times_gradient(weights, layer.gradient.matrix(result.batch, place.head),
                                 result.allowed(place)),
                  weights.rows, weights.columns);
}

HeadMatrix matrix_of(const HeadsResult& result, HeadShow show, HeadPlace place) {
    const HeadsLayer& layer = result.layers[place.layer];
    switch (show) {
        case HeadShow::value_norm:
            return by_norms(result, place, layer.value_norms);
        case HeadShow::output_norm:
            return by_norms(result, place, layer.output_norms);
        case HeadShow::gradient:
            return by_gradient(result, layer, place);
        case HeadShow::rollout: {
            HeadMatrix matrix;
            matrix.values = {layer.rollout.data(), layer.tq, layer.tk, layer.tk};
            return matrix;
        }
        case HeadShow::weights:
            break;
    }
    HeadMatrix matrix;
    matrix.values = result.weights(place);
    return matrix;
}

}  // namespace

std::string head_missing_data(const HeadsResult& result, HeadShow show, HeadPlace place) {
    const HeadsLayer& layer = result.layers[place.layer];
    switch (show) {
        case HeadShow::value_norm:
            return layer.value_fault;
        case HeadShow::output_norm:
            return layer.output_fault;
        case HeadShow::gradient:
            return layer.gradient_fault.empty() && layer.gradient.empty()
                       ? "its gradient is not computed"
                       : layer.gradient_fault;
        case HeadShow::rollout:
            return layer.rollout_fault;
        case HeadShow::weights:
            break;
    }
    return {};
}

HeadMatrix head_matrix(const HeadsResult& result, HeadShow show, HeadPlace place) {
    HeadMatrix matrix;
    if (std::string missing_data = head_missing_data(result, show, place); !missing_data.empty()) {
        matrix.missing_data = std::move(missing_data);
        return matrix;
    }
    matrix = matrix_of(result, show, place);
    if (show != HeadShow::rollout) matrix.allowed = result.allowed(place);
    return matrix;
}

std::vector<double> key_means(MatrixView<const float> weights) {
    std::vector<double> means(weights.columns, 0.0);
    for (Index i = 0; i < weights.rows; ++i)
        std::ranges::transform(means, weights.row(i), means.begin(), std::plus<>());
    for (double& mean : means) mean /= static_cast<double>(weights.rows);
    return means;
}

std::vector<double> key_largest(MatrixView<const float> values) {
    std::vector<double> largest(values.columns, 0.0);
    for (Index i = 0; i < values.rows; ++i)
        std::ranges::transform(
            largest, values.row(i), largest.begin(), [](double most, float value) {
                return std::isfinite(value) ? std::max(most, std::abs(double{value})) : most;
            });
    return largest;
}

ClippedKeys heavy_keys(std::span<const double> means, double limit) {
    ClippedKeys keys;
    for (const double mean : means) keys.push_back(mean >= limit ? 1 : 0);
    return std::ranges::find(keys, 1) == keys.end() ? ClippedKeys() : keys;
}

double largest_of(std::span<const double> keys, const ClippedKeys& clipped) {
    double largest = 0.0;
    for (std::size_t j = 0; j < keys.size(); ++j)
        if (clipped.empty() || clipped[j] == 0) largest = std::max(largest, keys[j]);
    return largest;
}

HeadBlock block_of(const HeadMatrix& matrix, const ClippedKeys& clipped, const BlockRange& range) {
    HeadBlock block;
    for (Index i = range.first_row; i < range.end_row; ++i) {
        end_if_stopped();
        for (Index j = range.first_key; j < range.end_key; ++j) {
            const float value = matrix.values(i, j);
            block.nan = block.nan || std::isnan(value);
            block.any = block.any || matrix.may(i, j);
            if (!clipped.empty() && clipped[j] != 0) continue;
            block.clipped = false;
            if (std::abs(value) > std::abs(block.largest)) block.largest = value;
        }
    }
    return block;
}

}  // namespace attn
