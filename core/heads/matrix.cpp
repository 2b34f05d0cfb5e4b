#include "core/heads/matrix.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attn {
namespace {

HeadMatrix lacking(std::string why) {
    HeadMatrix none;
    none.lacks = std::move(why);
    return none;
}

HeadMatrix owning(std::vector<float> values, Index rows, Index columns) {
    HeadMatrix matrix;
    matrix.own = std::move(values);
    matrix.values = {matrix.own.data(), rows, columns, columns};
    return matrix;
}

HeadMatrix by_norms(const HeadsResult& result, HeadPlace place,
                    const std::vector<std::vector<double>>& norms, const std::string& fault) {
    if (!fault.empty()) return lacking(fault);
    const auto weights = result.weights(place);
    return owning(
        times_norms(weights, norms[static_cast<std::size_t>(place.head)], result.allowed(place)),
        weights.rows, weights.columns);
}

HeadMatrix by_gradient(const HeadsResult& result, const HeadsLayer& layer, HeadPlace place) {
    if (!layer.gradient_fault.empty()) return lacking(layer.gradient_fault);
    if (layer.gradient.empty()) return lacking("its gradient is not computed");
    const auto weights = result.weights(place);
    return owning(times_gradient(weights, layer.gradient.matrix(result.batch, place.head),
                                 result.allowed(place)),
                  weights.rows, weights.columns);
}

HeadMatrix matrix_of(const HeadsResult& result, HeadShow show, HeadPlace place) {
    const HeadsLayer& layer = result.layers[static_cast<std::size_t>(place.layer)];
    switch (show) {
        case HeadShow::value_norm:
            return by_norms(result, place, layer.value_norms, layer.value_fault);
        case HeadShow::output_norm:
            return by_norms(result, place, layer.output_norms, layer.output_fault);
        case HeadShow::gradient:
            return by_gradient(result, layer, place);
        case HeadShow::rollout: {
            if (!layer.rollout_fault.empty()) return lacking(layer.rollout_fault);
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

HeadMatrix head_matrix(const HeadsResult& result, HeadShow show, HeadPlace place) {
    HeadMatrix matrix = matrix_of(result, show, place);
    if (matrix.lacks.empty() && show != HeadShow::rollout) matrix.allowed = result.allowed(place);
    return matrix;
}

ClippedKeys heavy_keys(MatrixView<const float> weights, double limit) {
    ClippedKeys keys(static_cast<std::size_t>(weights.columns), 0);
    for (Index j = 0; j < weights.columns; ++j) {
        double sum = 0.0;
        for (Index i = 0; i < weights.rows; ++i) sum += weights(i, j);
        if (sum >= limit * static_cast<double>(weights.rows)) keys[static_cast<std::size_t>(j)] = 1;
    }
    return std::ranges::find(keys, 1) == keys.end() ? ClippedKeys() : keys;
}

double largest_of(MatrixView<const float> values, const ClippedKeys& clipped) {
    double largest = 0.0;
    for (Index i = 0; i < values.rows; ++i)
        for (Index j = 0; j < values.columns; ++j) {
            const double size = std::abs(double{values(i, j)});
            if (!std::isfinite(size)) continue;
            if (clipped.empty() || clipped[static_cast<std::size_t>(j)] == 0)
                largest = std::max(largest, size);
        }
    return largest;
}

HeadBlock block_of(const HeadMatrix& matrix, const ClippedKeys& clipped, const BlockRange& range) {
    HeadBlock block;
    for (Index i = range.first_row; i < range.end_row; ++i)
        for (Index j = range.first_key; j < range.end_key; ++j) {
            const float value = matrix.values(i, j);
            block.nan = block.nan || std::isnan(value);
            block.any = block.any || matrix.may(i, j);
            if (!clipped.empty() && clipped[static_cast<std::size_t>(j)] != 0) continue;
            block.clipped = false;
            if (std::abs(value) > std::abs(block.largest)) block.largest = value;
        }
    return block;
}

}  // namespace attn
