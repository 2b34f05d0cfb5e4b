#include "core/verify/row_trials.h"
#include "core/entries.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/reference_parts.h"

namespace attn::verify {
namespace {

constexpr double kMismatch = 1e12;   // squared error of NaN or ∞ beside another number
constexpr double kUnnoticed = 1e-9;  // squared error of a row that is not looked at
constexpr std::size_t kSample = 8;   // rows

double squared(double actual, double expected) {
    if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0.0;
    const double square = (actual - expected) * (actual - expected);
    return std::isfinite(square) ? std::min(square, kMismatch) : kMismatch;
}

bool is_empty(const Row& row) {
    return std::ranges::all_of(row.logits, [](double s) { return s == kMinusInfinity; });
}

std::vector<double> mixed(const Row& row, const std::vector<double>& weights) {
    std::vector<double> context(row.v.columns, 0.0);
    for (std::size_t j = 0; j < weights.size(); ++j) {
        if (weights[j] == 0.0) continue;
        const auto value = row.v.row(static_cast<Index>(j));
        for (std::size_t c = 0; c < context.size(); ++c) context[c] += weights[j] * value[c];
    }
    return context;
}

/// Only gradients are looked at.
bool is_nothing(const Results& results) {
    return held_stages(results).none() && results.logsumexp.empty();
}

}  // namespace

RowTrials::RowTrials(const Trial& trial, const Take& take, Sinks sinks)
    : trial_(trial), take_(take), sinks_(sinks) {
    if (possible()) choose_sample();
}

bool RowTrials::possible() const {
    return !is_nothing(results()) && !subject().spec.drops() &&
           (sinks_ == Sinks::counted || subject().inputs.params[Param::sinks].empty()) &&
           !subject().reference[Stage::context].empty();
}

Row RowTrials::row(Index b, Index h, Index i) const {
    const TraceD& t = subject().reference;
    const TensorD& open = t[Stage::biased].empty() ? t[Stage::scaled] : t[Stage::biased];
    const Index group = subject().size.heads / subject().size.kv_heads;
    return {b,
            h,
            i,
            t[Stage::masked].matrix(b, h).row(i),
            open.matrix(b, h).row(i),
            t[Stage::v].matrix(b, h / group)};
}

MadeRow RowTrials::right(const Place& at) const {
    const TraceD& t = subject().reference;
    const auto weights = t[Stage::weights].matrix(at.b, at.h).row(at.i);
    const auto context = t[Stage::context].matrix(at.b, at.h).row(at.i);
    return {{weights.begin(), weights.end()},
            t.logsumexp(at.b, at.h, at.i, 0),
            {context.begin(), context.end()}};
}

MadeRow RowTrials::made(const Place& at, const MakeRow& make) const {
    const Row one = row(at.b, at.h, at.i);
    if (is_empty(one)) return right(at);
    MadeRow made = make(one);
    if (made.context.empty()) made.context = mixed(one, made.weights);
    return made;
}

double RowTrials::error(const Place& at, const MadeRow& made) const {
    const Results& results = trial_.results;
    double sum = 0.0;
    const auto add = [&](const Tensor& actual, const std::vector<double>& expected) {
        if (actual.empty()) return;
        const auto shown = actual.matrix(at.b, at.h).row(at.i);
        for (std::size_t n = 0; n < shown.size(); ++n)
            sum += squared(static_cast<double>(shown[n]), expected[n]);
    };
    add(results[Stage::context], made.context);
    add(results[Stage::weights], made.weights);
    add(results.logsumexp, {made.logsumexp});
    return sum;
}

/// The worst rows, and some between them and the least that differ.
void RowTrials::choose_sample() {
    const Dimensions& size = subject().size;
    std::vector<std::pair<double, Place>> wrong;
    double most = 0.0;
    for_each_query(size, [&](Index b, Index h, Index i) {
        const Place at{b, h, i};
        const double e = error(at, right(at));
        most = std::max(most, e);
        if (e > kUnnoticed) wrong.emplace_back(e, at);
    });
    std::erase_if(wrong, [&](const auto& each) { return each.first < 1e-4 * most; });
    std::ranges::stable_sort(wrong, std::greater{}, [](const auto& each) { return each.first; });
    const std::size_t step = std::max<std::size_t>(1, wrong.size() / kSample);
    for (std::size_t n = 0; n < wrong.size(); n += step) {
        sample_.push_back(wrong[n].second);
        before_ += wrong[n].first;
    }
}

/// Half of the error is gone in the sample, or there is none.
bool RowTrials::comes_near(const MakeRow& make) const {
    double after = 0.0;
    for (const Place& at : sample_) {
        after += error(at, made(at, make));
        if (after > before_ / 4.0) return false;
    }
    return true;
}

bool RowTrials::concerns(Index b) const {
    return sample_.empty() || std::ranges::count(sample_, b, &Place::b) > 0;
}

TraceD RowTrials::planted(const MakeRow& make) const {
    const Dimensions& size = subject().size;
    TraceD t = subject().reference;
    for_each_query(size, [&](Index b, Index h, Index i) {
        const MadeRow one = made({b, h, i}, make);
        std::ranges::copy(one.weights, t[Stage::weights].matrix(b, h).row(i).begin());
        std::ranges::copy(one.context, t[Stage::context].matrix(b, h).row(i).begin());
        t.logsumexp(b, h, i, 0) = one.logsumexp;
    });
    t[Stage::output] = join_heads(subject().inputs, size, t[Stage::context]);
    return t;
}

bool RowTrials::attempt(const std::string& variant, const MakeRow& make) {
    if (!comes_near(make)) return true;
    taken_ = true;
    return take_(variant, planted(make));
}

Reason RowTrials::reason() const {
    if (is_nothing(results())) return "gradients do not show which rows it would change";
    if (!possible()) return "a call with dropout, with sinks or without V is not tried";
    return taken_ ? "" : "no way of it comes near the rows that differ";
}

MadeRow softmax_over(const Row& row, const std::vector<Entry>& entries) {
    double most = kMinusInfinity;
    for (const Entry& entry : entries) most = std::max(most, entry.logit);
    MadeRow made{std::vector<double>(row.logits.size(), 0.0), kMinusInfinity,
                 std::vector<double>(row.v.columns, 0.0)};
    if (most == kMinusInfinity) return made;
    double sum = 0.0;
    for (const Entry& entry : entries) sum += std::exp(entry.logit - most);
    for (const Entry& entry : entries) {
        const double weight = std::exp(entry.logit - most) / sum;
        if (entry.key >= 0) made.weights[entry.key] += weight;
        for (std::size_t c = 0; entry.value != nullptr && c < made.context.size(); ++c)
            made.context[c] += weight * entry.value[c];
    }
    made.logsumexp = most + std::log(sum);
    return made;
}

MadeRow softmax_of(const std::vector<double>& logits) {
    MadeRow made{std::vector<double>(logits.size(), 0.0), kMinusInfinity};
    const double most = *std::ranges::max_element(logits);
    if (most == kMinusInfinity) return made;
    double sum = 0.0;
    for (const double s : logits) sum += std::exp(s - most);
    for (std::size_t j = 0; j < logits.size(); ++j)
        made.weights[j] = std::exp(logits[j] - most) / sum;
    made.logsumexp = most + std::log(sum);
    return made;
}

}  // namespace attn::verify
