// b batch entry, h query head, i query row, j key column, p position of a query.

#include "core/verify/replay.h"
#include "core/entries.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/bias.h"
#include "core/call.h"
#include "core/dropout.h"
#include "core/kernels/reference_parts.h"
#include "core/kernels/weighted_rows.h"
#include "core/numerics.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/stop.h"
#include "core/verify/faults.h"
#include "core/verify/row_sample.h"

namespace attn::verify {
namespace {

/// K of every query head, [B,H,Tk,d].
TensorD expanded(const TensorD& k, const Dimensions& size, const HeadPlace& place) {
    TensorD made(Shape{size.batch, size.heads, k.shape().t, k.shape().d});
    for (Index b = 0; b < size.batch; ++b)
        for (Index h = 0; h < size.heads; ++h) {
            const auto [from_b, from_h] = place(b, h);
            for (Index t = 0; t < k.shape().t; ++t) {
                end_if_stopped();
                std::ranges::copy(k.matrix(from_b, from_h).row(t),
                                  made.matrix(b, h).row(t).begin());
            }
        }
    return made;
}

/// One set of logits that a softmax makes weights of: cells of [B,H,Tq,Tk], `step` entries from one to the next.
struct Line {
    std::size_t first = 0, step = 1, count = 0;
    double sink = kMinusInfinity;
};

/// Each number is made by the same operations in the same order as in a plain loop over [B,H,Tq,Tk].
class Runner {
  public:
    Runner(const Subject& subject, const Replay& r)
        : subject_(subject), r_(r), t_(subject.reference) {}

    /// Whether the results are near in the rows of the sample. Not checked: a softmax over other axes, or heads joined in another way.
    bool comes_near(const RowSample& sample) const {
        if (r_.over != SoftmaxOver::keys || r_.merge != Merge::transposed) return true;
        double after = 0.0;
        for (const RowPlace& at : sample.rows()) {
            end_if_stopped();
            const OneRow row = one_row(at);
            after += sample.error(at, row.weights, row.context, row.logsumexp);
            if (after > sample.near_error()) return false;
        }
        return true;
    }

    TraceD run() {
        if (!r_.right_weights) {
            t_[Stage::scores] = r_.scores.empty() ? dot_products() : r_.scores;
            if (r_.round_scores)
                t_[Stage::scores] = rounded_to(*r_.round_scores, std::move(t_[Stage::scores]));
            fill_logits();
            fill_weights();
        }
        drop();
        mix();
        return std::move(t_);
    }

  private:
    const Dimensions& size() const { return subject_.size; }
    std::pair<Index, Index> keys_of(Index b, Index h) const {
        if (r_.key_place) return r_.key_place(b, h);
        return {b, h / (size().heads / r_.k.shape().h)};
    }
    std::pair<Index, Index> values_of(Index b, Index h) const {
        return r_.value_place ? r_.value_place(b, h) : std::pair(b, r_.value_head[h]);
    }

    // ---- a row by itself

    struct OneRow {
        std::vector<double> weights, context;
        double logsumexp = kMinusInfinity;
    };
    OneRow one_row(const RowPlace& at) const {
        OneRow row;
        const auto [b, h, i] = at;
        const TraceD& t = subject_.reference;
        if (r_.right_weights) {
            const auto weights = t[Stage::weights].matrix(b, h).row(i);
            row.weights.assign(weights.begin(), weights.end());
            row.logsumexp = t.logsumexp(b, h, i, 0);
        } else {
            weigh(at, row);
        }
        std::vector<double> mixing = row.weights;
        for (std::size_t j = 0; j < mixing.size(); ++j) {
            if (!r_.dropout.empty()) mixing[j] *= r_.dropout(b, h, i, static_cast<Index>(j));
            if (r_.round_weights)
                mixing[j] = rounded(*r_.round_weights, static_cast<long double>(mixing[j]));
        }
        const auto [from_b, from_h] = values_of(b, h);
        const auto v = r_.v.matrix(from_b, from_h);
        const auto allowed = r_.allowed.matrix(b, h).row(i);
        row.context.assign(static_cast<std::size_t>(v.columns), 0.0);
        for (std::size_t j = 0; j < mixing.size(); ++j) {
            if (mixing[j] == 0.0 && allowed[j] == 0) continue;
            const auto value = v.row(static_cast<Index>(j));
            for (std::size_t c = 0; c < row.context.size(); ++c)
                row.context[c] += mixing[j] * operand_of(value[c]);
        }
        if (r_.gate.empty()) return row;
        const auto open = r_.gate.matrix(b, h).row(i);
        for (std::size_t c = 0; c < row.context.size(); ++c) row.context[c] *= open[c];
        return row;
    }
    static double in_format(std::optional<FloatFormat> format, double value) {
        return format ? rounded(*format, static_cast<long double>(value)) : value;
    }
    double operand_of(double value) const { return in_format(r_.round_operands, value); }
    double score(const RowPlace& at, Index j) const {
        return in_format(r_.round_scores, exact_score(at, j));
    }
    double exact_score(const RowPlace& at, Index j) const {
        if (!r_.scores.empty()) return r_.scores(at.b, at.h, at.i, j);
        const auto [from_b, from_h] = keys_of(at.b, at.h);
        const auto q = r_.q.matrix(at.b, at.h).row(at.i);
        const auto k = r_.k.matrix(from_b, from_h).row(j);
        double dot = 0.0;
        for (std::size_t c = 0; c < q.size(); ++c) dot += operand_of(q[c]) * operand_of(k[c]);
        const double of_operands = operand_factor(subject_.spec, size().d_k);
        return of_operands * of_operands * dot;
    }
    void weigh(const RowPlace& at, OneRow& row) const {
        const auto [b, h, i] = at;
        const auto allowed = r_.allowed.matrix(b, h).row(i);
        const double sink = r_.sinks.empty() ? kMinusInfinity : r_.sinks(0, 0, 0, h);
        std::vector<double> logits(allowed.size());
        double most = sink;
        bool any = sink != kMinusInfinity;
        for (std::size_t j = 0; j < logits.size(); ++j) {
            const auto key = static_cast<Index>(j);
            const double value = biased(score(at, key) * r_.factor, b, h, i, key);
            const double hidden = r_.fill_is_added ? value + r_.fill : r_.fill;
            logits[j] = allowed[j] != 0 ? value : hidden;
            any = any || r_.fill != kMinusInfinity || allowed[j] != 0;
            if (std::isnan(logits[j]) || logits[j] > most) most = logits[j];
        }
        row.weights.assign(logits.size(), 0.0);
        if (!any) {
            const double weight = r_.empty == EmptyWeights::zero  ? 0.0
                                  : r_.empty == EmptyWeights::nan ? std::nan("")
                                                                  : 1.0 / real_count(logits);
            std::ranges::fill(row.weights, weight);
            return;
        }
        double sum = std::exp(sink - most);
        for (std::size_t j = 0; j < logits.size(); ++j)
            if (r_.fill != kMinusInfinity || allowed[j] != 0)
                sum += row.weights[j] = std::exp(logits[j] - most);
        for (double& weight : row.weights) weight /= sum;
        row.logsumexp = most + std::log(sum);
    }
    static double real_count(const std::vector<double>& values) {
        return static_cast<double>(values.size());
    }

    // ---- every row

    TensorD dot_products() const {
        if (r_.round_operands)
            return scores_of(subject_, rounded_to(*r_.round_operands, r_.q),
                             rounded_to(*r_.round_operands, r_.k));
        return r_.key_place ? scores_of(subject_, r_.q, expanded(r_.k, size(), r_.key_place))
                            : scores_of(subject_, r_.q, r_.k);
    }

    double biased(double scaled, Index b, Index h, Index i, Index j) const {
        const double bias = r_.bias ? r_.bias(b, h, i, j) : 0.0;
        double value = r_.bias_first ? scaled + bias : scaled;
        if (r_.cap) value = *r_.cap * std::tanh(value / *r_.cap);
        if (r_.bias && !r_.bias_first) value += bias;
        if (r_.slopes.empty()) return value;
        const double moved = r_.shift.empty() ? 0.0 : r_.shift[b];
        const auto distance = static_cast<double>(i + size().query_offset - j) + moved;
        return value - r_.slopes[h] * std::abs(distance);
    }

    void fill_logits() {
        const Shape shape = std::as_const(t_)[Stage::scores].shape();
        auto scaled = TensorD::uninitialised(shape), masked = TensorD::uninitialised(shape);
        auto bent = subject_.spec.biases() ? TensorD::uninitialised(shape) : TensorD();
        const bool bends = r_.cap || r_.bias || !r_.slopes.empty();
        const double* const scores = std::as_const(t_)[Stage::scores].data();
        const std::uint8_t* const allowed = r_.allowed.data();
        double *const to_scaled = scaled.data(), *const to_masked = masked.data();
        double* const to_bent = bent.empty() ? nullptr : bent.data();
        std::size_t n = 0;
        for_each_query(size(), [&](Index b, Index h, Index i) {
            for (Index j = 0; j < size().tk; ++j, ++n) {
                const double product = scores[n] * r_.factor;
                const double value = bends ? biased(product, b, h, i, j) : product;
                to_scaled[n] = product;
                if (to_bent != nullptr) to_bent[n] = value;
                const double hidden = r_.fill_is_added ? value + r_.fill : r_.fill;
                to_masked[n] = allowed[n] != 0 ? value : hidden;
            }
        });
        t_[Stage::scaled] = std::move(scaled);
        t_[Stage::biased] = std::move(bent);
        t_[Stage::masked] = std::move(masked);
    }

    void fill_weights() {
        t_[Stage::weights] = TensorD::uninitialised(std::as_const(t_)[Stage::scores].shape());
        masked_ = std::as_const(t_)[Stage::masked].data();
        weights_ = t_[Stage::weights].data();
        const auto heads = static_cast<std::size_t>(size().heads);
        const auto tq = static_cast<std::size_t>(size().tq);
        const auto tk = static_cast<std::size_t>(size().tk);
        switch (r_.over) {
            case SoftmaxOver::keys:
                return over_keys();
            case SoftmaxOver::queries:
                return over({size().batch, size().heads, 1, size().tk}, tk, tq);
            case SoftmaxOver::heads:
                return over({size().batch, 1, size().tq, size().tk}, tq * tk, heads);
            case SoftmaxOver::batch:
                return over({1, size().heads, size().tq, size().tk}, heads * tq * tk,
                            static_cast<std::size_t>(size().batch));
        }
    }

    std::size_t place(Index b, Index h, Index i, Index j) const {
        return static_cast<std::size_t>(((b * size().heads + h) * size().tq + i) * size().tk + j);
    }

    void over_keys() {
        TensorD logsumexp(t_.logsumexp.shape());
        for_each_query(size(), [&](Index b, Index h, Index i) {
            Line line{place(b, h, i, 0), 1, static_cast<std::size_t>(size().tk)};
            if (!r_.sinks.empty()) line.sink = r_.sinks(0, 0, 0, h);
            logsumexp(b, h, i, 0) = softmax(line);
        });
        t_.logsumexp = std::move(logsumexp);
    }

    /// Lines of `length` cells from every cell of `starts` on. logsumexp stays the reference's.
    void over(const Shape& starts, std::size_t step, std::size_t length) {
        for_each_entry(starts, [&](Index b, Index h, Index i, Index j) {
            softmax({place(b, h, i, j), step, length});
        });
    }

    /// Weights of the line; its logsumexp.
    double softmax(const Line& line) {
        double most = line.sink;
        bool any = line.sink != kMinusInfinity;
        for_cells(line, [&](std::size_t cell) {
            const double m = masked_[cell];
            any = any || counts(cell);
            if (std::isnan(m) || m > most) most = m;
        });
        if (!any) return empty(line);
        double sum = std::exp(line.sink - most);
        for_cells(line, [&](std::size_t cell) {
            weights_[cell] = 0.0;
            if (counts(cell)) sum += weights_[cell] = std::exp(masked_[cell] - most);
        });
        for_cells(line, [&](std::size_t cell) {
            if (counts(cell)) weights_[cell] /= sum;
        });
        return most + std::log(sum);
    }

    template <class Visit>
    static void for_cells(const Line& line, Visit visit) {
        for (std::size_t n = 0; n < line.count; ++n) visit(line.first + n * line.step);
    }

    /// Whether a pair takes part: it is allowed, or a finite number stands in its place.
    bool counts(std::size_t cell) const {
        return r_.fill != kMinusInfinity || r_.allowed.data()[cell] != 0;
    }

    double empty(const Line& line) {
        const double weight = r_.empty == EmptyWeights::zero ? 0.0
                              : r_.empty == EmptyWeights::nan
                                  ? std::nan("")
                                  : 1.0 / static_cast<double>(line.count);
        for_cells(line, [&](std::size_t cell) { weights_[cell] = weight; });
        return kMinusInfinity;
    }

    void drop() {
        t_[Stage::dropped] = r_.dropout.empty() ? TensorD() : t_[Stage::weights];
        const std::span<double> dropped = t_[Stage::dropped].values();
        for (std::size_t n = 0; n < dropped.size(); ++n) dropped[n] *= r_.dropout.values()[n];
    }

    void mix() {
        const TraceD& t = t_;
        const TensorD& whole = r_.dropout.empty() ? t[Stage::weights] : t[Stage::dropped];
        const TensorD short_ones =
            r_.round_weights ? rounded_to(*r_.round_weights, whole) : TensorD();
        const TensorD& weights = r_.round_weights ? short_ones : whole;
        const TensorD short_v =
            r_.round_operands ? rounded_to(*r_.round_operands, r_.v) : TensorD();
        const TensorD& v = r_.round_operands ? short_v : r_.v;
        TensorD context(t[Stage::context].shape());
        std::vector<double> row;
        std::vector<Index> keys;
        if (!context.empty())
            for_each_query(size(), [&](Index b, Index h, Index i) {
                row.clear(), keys.clear();
                const auto all = weights.matrix(b, h).row(i);
                const auto allowed = r_.allowed.matrix(b, h).row(i);
                for (std::size_t j = 0; j < all.size(); ++j)
                    if (all[j] != 0.0 || allowed[j] != 0)
                        row.push_back(all[j]), keys.push_back(static_cast<Index>(j));
                const auto [from_b, from_h] = values_of(b, h);
                add_weighted_rows(row, keys, v.matrix(from_b, from_h), context.matrix(b, h).row(i));
            });
        const std::span<const double> open = r_.gate.values();
        const std::span<double> entries = context.values();
        for (std::size_t n = 0; n < std::min(open.size(), entries.size()); ++n)
            entries[n] *= open[n];
        t_[Stage::output] = join_heads(subject_.inputs, size(), joined_from(context));
        t_[Stage::context] = std::move(context);
    }

    /// What join_heads() would have to be given to make the rows that lie there without the transpose.
    TensorD joined_from(const TensorD& context) const {
        if (r_.merge == Merge::transposed) return context;
        TensorD moved(context.shape());
        const Shape shape = context.shape();
        for (Index b = 0; b < shape.b; ++b)
            for (Index n = 0; n < shape.h * shape.t * shape.d; ++n) {
                const Index t = n / (shape.h * shape.d), h = n / shape.d % shape.h;
                moved(b, h, t, n % shape.d) =
                    context(b, n / (shape.t * shape.d), n / shape.d % shape.t, n % shape.d);
            }
        return moved;
    }

    const Subject& subject_;
    const Replay& r_;
    TraceD t_;
    const double* masked_ = nullptr;
    double* weights_ = nullptr;
};

TensorD dropout_factors(const Subject& subject) {
    if (!subject.spec.drops()) return {};
    const Dimensions& size = subject.size;
    TensorD factors(Shape{size.batch, size.heads, size.tq, size.tk});
    for_each_pair(size, [&](Index b, Index h, Index i, Index j) {
        factors(b, h, i, j) = dropout_factor(subject.spec, size, b, h, i, j);
    });
    return factors;
}

}  // namespace

std::vector<Index> grouped_heads(const Dimensions& size) {
    std::vector<Index> heads;
    for (Index h = 0; h < size.heads; ++h) heads.push_back(h / (size.heads / size.kv_heads));
    return heads;
}

TensorD rounded_to(FloatFormat format, TensorD tensor) {
    for (double& value : tensor.values()) value = rounded(format, static_cast<long double>(value));
    return tensor;
}

Replay replay_of(const Subject& subject) {
    Replay replay;
    replay.scores = subject.reference[Stage::scores];
    replay.v = subject.reference[Stage::v];
    replay.value_head = grouped_heads(subject.size);
    replay.allowed = subject.allowed;
    replay.factor = score_factor(subject.spec, subject.size.d_k);
    replay.cap = subject.spec.softcap;
    replay.bias_first = subject.spec.bias_before_softcap;
    if (subject.spec.mask.bias)
        replay.bias = [mask = subject.spec.mask](Index b, Index h, Index i, Index j) {
            return bias_at(mask, b, h, i, j);
        };
    for (Index h = 0; subject.spec.alibi && h < subject.size.heads; ++h)
        replay.slopes.push_back(alibi_slope(h, subject.size.heads));
    replay.empty =
        subject.spec.empty_rows == EmptyRows::nan ? EmptyWeights::nan : EmptyWeights::zero;
    replay.sinks = subject.inputs.params[Param::sinks];
    replay.dropout = dropout_factors(subject);
    replay.gate = subject.gate;
    for (double& factor : replay.gate.values()) factor = sigmoid(factor);
    return replay;
}

void set_scores(const Subject& subject, TensorD q, TensorD k, Replay& replay, HeadPlace place) {
    if (subject.spec.score != Score::dot) {
        replay.scores = scores_of(subject, q, place ? expanded(k, subject.size, place) : k);
        return;
    }
    replay.scores = {};
    replay.key_place = std::move(place);
    replay.q = std::move(q);
    replay.k = std::move(k);
}

TraceD run(const Subject& subject, const Replay& replay) {
    Runner runner(subject, replay);
    if (subject.screen && !runner.comes_near(*subject.screen)) return {};
    return runner.run();
}

}  // namespace attn::verify
