#include "core/online_softmax.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/rounding.h"

namespace attn {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// NaN stays.
double larger(double a, double b) { return std::isnan(b) || b > a ? b : a; }

bool takes_part(const OnlineRow& row, Index j) { return row.allowed[j] != 0; }

double score(const OnlineRow& row, Index j) { return row.scores[j]; }

/// The chunk's keys: how many take part, and the largest score.
void look_at(const OnlineRow& row, OnlineStep& step) {
    step.largest = -kInf;
    for (Index j = step.first; j < step.last; ++j) {
        if (!takes_part(row, j)) continue;
        ++step.seen;
        step.largest = larger(step.largest, score(row, j));
    }
}

/// exp(M_j − m′) and what these add. −∞ − (−∞) is no number, but such a key weighs nothing yet.
void add_terms(const OnlineRow& row, double largest, OnlineStep& step) {
    step.added_output.assign(row.values.columns, 0.0);
    for (Index j = step.first; j < step.last; ++j) {
        step.terms.push_back(0.0);
        if (!takes_part(row, j) || largest == -kInf) continue;
        const double term = step.terms.back() = std::exp(score(row, j) - largest);
        step.added_sum += term;
        for (Index c = 0; c < row.values.columns; ++c)
            step.added_output[c] += term * row.values(j, c);
    }
}

OnlineStep step_from(const OnlineRow& row, const OnlineState& before, Index first, Index last) {
    OnlineStep step;
    step.first = first;
    step.last = last;
    look_at(row, step);
    const double largest = larger(before.largest, step.largest);
    step.rescale = largest == -kInf ? 1.0 : std::exp(before.largest - largest);
    add_terms(row, largest, step);
    step.rescaled_sum = step.rescale * before.sum;
    step.after = {largest, step.rescaled_sum + step.added_sum, {}};
    for (std::size_t c = 0; c < before.output.size(); ++c) {
        step.rescaled_output.push_back(step.rescale * before.output[c]);
        step.after.output.push_back(step.rescaled_output[c] + step.added_output[c]);
    }
    return step;
}

std::vector<double> divided(const OnlineRow& row, const OnlineState& last) {
    const bool any = std::ranges::any_of(row.allowed, [](std::uint8_t one) { return one != 0; });
    if (!any && !row.sink) {
        const double fill =
            row.empty_rows == EmptyRows::nan ? std::numeric_limits<double>::quiet_NaN() : 0.0;
        return std::vector<double>(last.output.size(), fill);
    }
    std::vector<double> result = last.output;
    for (double& each : result) each /= last.sum;
    return result;
}

}  // namespace

OnlineSoftmax online_softmax(const OnlineRow& row, Index chunk) {
    ATTN_CHECK(chunk >= 1, "a chunk has a key at least");
    OnlineSoftmax online;
    online.start.output.assign(row.values.columns, 0.0);
    if (row.sink) online.start.largest = *row.sink, online.start.sum = 1.0;
    const auto keys = static_cast<Index>(row.scores.size());
    const OnlineState* before = &online.start;
    online.steps.reserve(divide_up(keys, chunk));
    for (Index first = 0; first < keys; first += std::min(chunk, keys)) {
        online.steps.push_back(
            step_from(row, *before, first, first + std::min(chunk, keys - first)));
        before = &online.steps.back().after;
    }
    online.result = divided(row, *before);
    return online;
}

}  // namespace attn
