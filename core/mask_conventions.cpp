#include "core/mask_conventions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"

namespace attn {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// M at one pair, from its score and its entry of the array.
float masked_score(const MaskConvention& convention, float score, bool entry) {
    if (convention.moment != MaskMoment::before) return score;
    if (convention.reading == MaskReading::added) return score + (entry ? 1.0F : 0.0F);
    const bool allowed = entry == (convention.reading == MaskReading::keep);
    if (allowed) return score;
    const float fill = fill_value(convention.fill);
    return convention.mode == FillMode::written ? fill : score + fill;
}

/// Whether the reading forbids that pair; a mask that is added forbids none.
bool forbids(const MaskConvention& convention, bool entry) {
    if (convention.reading == MaskReading::added) return false;
    return entry != (convention.reading == MaskReading::keep);
}

struct Row {
    std::span<const float> scores;
    std::span<const std::uint8_t> mask;
    std::span<float> masked, weights;
    float max = -kInfinity;
    float sum = 0.0F;
};

/// A = e / Σ e of M, the sink's exp last.
void softmax(Row& row, std::optional<float> sink) {
    row.max = sink.value_or(-kInfinity);
    for (const float score : row.masked) row.max = std::max(row.max, score);
    for (std::size_t j = 0; j < row.masked.size(); ++j)
        row.sum += row.weights[j] = std::exp(row.masked[j] - row.max);
    if (sink) row.sum += std::exp(*sink - row.max);
    for (float& weight : row.weights) weight /= row.sum;
}

void mask_after(const MaskConvention& convention, Row& row) {
    if (convention.moment == MaskMoment::never) return;
    float sum = 0.0F;
    for (std::size_t j = 0; j < row.weights.size(); ++j) {
        if (forbids(convention, row.mask[j] != 0)) row.weights[j] = 0.0F;
        sum += row.weights[j];
    }
    if (convention.moment == MaskMoment::after) return;
    for (float& weight : row.weights) weight /= sum;
}

bool is_empty(const MaskConvention& convention, const Row& row) {
    return std::ranges::all_of(row.mask,
                               [&](std::uint8_t entry) { return forbids(convention, entry != 0); });
}

void fill_row(const MaskConvention& convention, Row& row, std::optional<float> sink) {
    for (std::size_t j = 0; j < row.scores.size(); ++j)
        row.masked[j] = masked_score(convention, row.scores[j], row.mask[j] != 0);
    softmax(row, sink);
    if (convention.moment != MaskMoment::before) mask_after(convention, row);
    if (convention.empty == EmptyResult::computed || sink || !is_empty(convention, row)) return;
    const float even = 1.0F / static_cast<float>(row.weights.size());
    std::ranges::fill(row.weights, convention.empty == EmptyResult::zero ? 0.0F : even);
}

/// |a − b|: 0 for two NaN, ∞ for one.
double apart(double a, double b) {
    if (std::isnan(a) || std::isnan(b))
        return std::isnan(a) && std::isnan(b) ? 0.0 : std::numeric_limits<double>::infinity();
    return std::abs(a - b);
}

void look_at(RowComparison& row, Index j, std::array<double, 2> weight) {
    const double difference = apart(weight[0], weight[1]);
    if (difference <= row.difference) return;
    row.difference = difference;
    row.key = j;
    row.weight = weight;
}

}  // namespace

float fill_value(MaskFill fill) {
    switch (fill) {
        case MaskFill::minus_infinity:
            return -kInfinity;
        case MaskFill::minus_1e9:
            return -1e9F;
        case MaskFill::minus_1e5:
            return -1e5F;
        case MaskFill::lowest:
            return std::numeric_limits<float>::lowest();
        case MaskFill::zero:
            return 0.0F;
    }
    return kNan;
}

ConventionResult apply_convention(const MaskConvention& convention, const ConventionInput& input) {
    const Index keys = input.scores.columns;
    ATTN_CHECK(static_cast<Index>(input.mask.size()) == input.scores.rows * keys,
               "the mask must have an entry for each score");
    ConventionResult result;
    result.masked = result.weights = Tensor(Shape{1, 1, input.scores.rows, keys});
    for (Index i = 0; i < input.scores.rows; ++i) {
        Row row{input.scores.row(i), input.mask.subspan(i * keys, static_cast<std::size_t>(keys)),
                result.masked.matrix(0, 0).row(i), result.weights.matrix(0, 0).row(i)};
        fill_row(convention, row, input.sink);
        result.max.push_back(row.max);
        result.sums.push_back(row.sum);
    }
    return result;
}

std::vector<RowComparison> compare_rows(std::span<const std::uint8_t> mask, const Tensor& a,
                                        const Tensor& b) {
    const Index keys = a.shape().d;
    std::vector<RowComparison> rows;
    for (Index i = 0; i < a.shape().t; ++i) {
        RowComparison row{.row = i, .empty = true};
        row.weight = {a(0, 0, i, 0), b(0, 0, i, 0)};
        for (Index j = 0; j < keys; ++j) {
            const std::array<double, 2> weight{a(0, 0, i, j), b(0, 0, i, j)};
            const bool allowed = mask[i * keys + j] != 0;
            if (allowed) row.empty = false;
            look_at(row, j, weight);
            for (std::size_t side = 0; side < 2; ++side) {
                row.sum[side] += weight[side];
                row.forbidden[side] += allowed ? 0.0 : weight[side];
                row.has_nan[side] = row.has_nan[side] || std::isnan(weight[side]);
            }
        }
        row.differs = row.difference > rounding_of(keys);
        rows.push_back(row);
    }
    return rows;
}

double rounding_of(Index keys) { return (static_cast<double>(keys) + 100.0) * 0x1p-23; }

}  // namespace attn
