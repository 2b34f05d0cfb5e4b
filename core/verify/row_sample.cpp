#include "core/verify/row_sample.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/entries.h"

namespace attn::verify {
namespace {

constexpr double kMismatch = 1e12;   // squared error of NaN or ∞ against a number
constexpr double kUnnoticed = 1e-9;  // squared error of a row that is not looked at
constexpr std::size_t kSample = 8;   // rows

double squared(double actual, double expected) {
    if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0.0;
    const double square = (actual - expected) * (actual - expected);
    return std::isfinite(square) ? std::min(square, kMismatch) : kMismatch;
}

}  // namespace

RowSample::RowSample(TraceD reference, const Dimensions& size, const Trace& results)
    : reference_(std::move(reference)), results_(results) {
    const bool shown = !results[Stage::context].empty() || !results[Stage::weights].empty() ||
                       !results.logsumexp.empty();
    if (!shown || reference_[Stage::context].empty()) return;
    std::vector<std::pair<double, RowPlace>> wrong;
    double most = 0.0;
    for_each_query(size, [&](Index b, Index h, Index i) {
        const TraceD& t = reference_;
        const RowPlace at{b, h, i};
        const double e = error(at, t[Stage::weights].matrix(b, h).row(i),
                               t[Stage::context].matrix(b, h).row(i), t.logsumexp(b, h, i, 0));
        most = std::max(most, e);
        if (e > kUnnoticed) wrong.emplace_back(e, at);
    });
    std::erase_if(wrong, [&](const auto& each) { return each.first < 1e-4 * most; });
    std::ranges::stable_sort(wrong, std::greater{}, [](const auto& each) { return each.first; });
    const std::size_t step = std::max<std::size_t>(1, wrong.size() / kSample);
    for (std::size_t n = 0; n < wrong.size(); n += step) {
        rows_.push_back(wrong[n].second);
        errors_.push_back(wrong[n].first);
        before_ += wrong[n].first;
    }
}

double RowSample::error(const RowPlace& at, std::span<const double> weights,
                        std::span<const double> context, double logsumexp) const {
    double sum = 0.0;
    const auto add = [&](const Tensor& actual, std::span<const double> expected) {
        if (actual.empty()) return;
        const auto shown = actual.matrix(at.b, at.h).row(at.i);
        for (std::size_t n = 0; n < shown.size(); ++n)
            sum += squared(static_cast<double>(shown[n]), expected[n]);
    };
    add(results_[Stage::context], context);
    add(results_[Stage::weights], weights);
    add(results_.logsumexp, std::span(&logsumexp, 1));
    return sum;
}

}  // namespace attn::verify
