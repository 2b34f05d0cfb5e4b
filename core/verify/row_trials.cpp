#include "core/verify/row_trials.h"
#include "core/entries.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/reference_parts.h"
#include "core/verify/replay.h"

namespace attn::verify {
namespace {

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
    if (!possible()) return;
    sample_ = subject().screen;
    if (!sample_)
        sample_ = std::make_shared<const RowSample>(subject().reference, subject().size, results());
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

MadeRow RowTrials::right(const RowPlace& at) const {
    const TraceD& t = subject().reference;
    const auto weights = t[Stage::weights].matrix(at.b, at.h).row(at.i);
    const auto context = t[Stage::context].matrix(at.b, at.h).row(at.i);
    return {{weights.begin(), weights.end()},
            t.logsumexp(at.b, at.h, at.i, 0),
            {context.begin(), context.end()},
            true};
}

MadeRow RowTrials::made(const RowPlace& at, const MakeRow& make) const {
    const Row one = row(at.b, at.h, at.i);
    if (is_empty(one)) return right(at);
    MadeRow made = make(one);
    if (made.context.empty()) made.context = mixed(one, made.weights);
    if (!made.gated) open_gate(subject(), at.b, at.h, at.i, made.context);
    return made;
}

/// Half of the error is gone in the sample, or there is none.
bool RowTrials::comes_near(const MakeRow& make) const {
    double after = 0.0;
    for (const RowPlace& at : sample_->rows()) {
        const MadeRow row = made(at, make);
        after += sample_->error(at, row.weights, row.context, row.logsumexp);
        if (after > sample_->near_error()) return false;
    }
    return true;
}

bool RowTrials::concerns(Index b) const {
    if (!sample_) return true;
    double others = 0.0;
    for (std::size_t n = 0; n < sample_->rows().size(); ++n)
        if (sample_->rows()[n].b != b) others += sample_->before(n);
    return others <= sample_->near_error();
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
    if (!sample_ || !comes_near(make)) return true;
    taken_ = true;
    return take_(variant, planted(make));
}

Reason RowTrials::reason() const {
    if (is_nothing(results())) return "gradients do not show which rows it would change";
    if (!possible()) return "a call with dropout, with sinks or without V is not tried";
    return taken_ ? "" : "no variant of it comes near the rows that differ";
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
