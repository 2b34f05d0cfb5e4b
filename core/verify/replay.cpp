// b batch entry, h query head, i query row, j key column, p position of a query.

#include "core/verify/replay.h"
#include "core/entries.h"

#include <algorithm>
#include <cmath>

#include "core/dropout.h"
#include "core/kernels/reference_parts.h"
#include "core/scores/score.h"

namespace attn::verify {
namespace {

/// One set of logits that a softmax makes weights of: cells of `masked` and `weights`, and what one of them is.
struct Line {
    std::vector<std::array<Index, 4>> cells;
    double sink = kMinusInfinity;
};

class Runner {
  public:
    Runner(const Subject& subject, const Replay& r)
        : subject_(subject), r_(r), t_(subject.reference) {}

    TraceD run() {
        t_[Stage::scores] = r_.scores;
        for (const Stage stage : {Stage::scaled, Stage::masked, Stage::weights})
            t_[stage] = TensorD(r_.scores.shape());
        t_[Stage::biased] = subject_.spec.biases() ? TensorD(r_.scores.shape()) : TensorD();
        fill_logits();
        fill_weights();
        drop();
        mix();
        return std::move(t_);
    }

  private:
    const Dimensions& size() const { return subject_.size; }

    double biased(double scaled, Index b, Index h, Index i, Index j) const {
        double value = r_.cap ? *r_.cap * std::tanh(scaled / *r_.cap) : scaled;
        if (r_.slopes.empty()) return value;
        const double moved = r_.shift.empty() ? 0.0 : r_.shift[b];
        const auto distance = static_cast<double>(i + size().query_offset - j) + moved;
        return value - r_.slopes[h] * std::abs(distance);
    }

    void fill_logits() {
        for_each_pair(size(), [&](Index b, Index h, Index i, Index j) {
            const double scaled = r_.scores(b, h, i, j) * r_.factor;
            const double value = biased(scaled, b, h, i, j);
            t_[Stage::scaled](b, h, i, j) = scaled;
            if (!t_[Stage::biased].empty()) t_[Stage::biased](b, h, i, j) = value;
            const double hidden = r_.fill_is_added ? value + r_.fill : r_.fill;
            t_[Stage::masked](b, h, i, j) = r_.allowed(b, h, i, j) != 0 ? value : hidden;
        });
    }

    void fill_weights() {
        switch (r_.over) {
            case SoftmaxOver::keys:
                return over_keys();
            case SoftmaxOver::queries:
                return over({size().batch, size().heads, 1, size().tk}, 2, size().tq);
            case SoftmaxOver::heads:
                return over({size().batch, 1, size().tq, size().tk}, 1, size().heads);
            case SoftmaxOver::batch:
                return over({1, size().heads, size().tq, size().tk}, 0, size().batch);
        }
    }

    void over_keys() {
        for_each_query(size(), [&](Index b, Index h, Index i) {
            Line line;
            if (!r_.sinks.empty()) line.sink = r_.sinks(0, 0, 0, h);
            for (Index j = 0; j < size().tk; ++j) line.cells.push_back({b, h, i, j});
            t_.logsumexp(b, h, i, 0) = softmax(line);
        });
    }

    /// Lines along `axis`, `length` cells long, from every cell of `starts`. logsumexp stays the reference's.
    void over(const Shape& starts, std::size_t axis, Index length) {
        for_each_entry(starts, [&](Index b, Index h, Index i, Index j) {
            Line line;
            for (Index n = 0; n < length; ++n) {
                std::array<Index, 4> cell{b, h, i, j};
                cell[axis] = n;
                line.cells.push_back(cell);
            }
            softmax(line);
        });
    }

    double& at(Stage stage, const std::array<Index, 4>& cell) {
        return t_[stage](cell[0], cell[1], cell[2], cell[3]);
    }

    /// Weights of the line; its logsumexp.
    double softmax(const Line& line) {
        double most = line.sink;
        bool any = line.sink != kMinusInfinity;
        for (const auto& cell : line.cells) {
            const double m = at(Stage::masked, cell);
            any = any || counts(cell);
            if (std::isnan(m) || m > most) most = m;
        }
        if (!any) return empty(line);
        double sum = std::exp(line.sink - most);
        for (const auto& cell : line.cells)
            if (counts(cell)) sum += std::exp(at(Stage::masked, cell) - most);
        for (const auto& cell : line.cells)
            at(Stage::weights, cell) =
                counts(cell) ? std::exp(at(Stage::masked, cell) - most) / sum : 0.0;
        return most + std::log(sum);
    }

    /// Whether a pair takes part: it is allowed, or a finite number stands in its place.
    bool counts(const std::array<Index, 4>& cell) const {
        return r_.fill != kMinusInfinity || r_.allowed(cell[0], cell[1], cell[2], cell[3]) != 0;
    }

    double empty(const Line& line) {
        const double weight = r_.empty == EmptyWeights::zero ? 0.0
                              : r_.empty == EmptyWeights::nan
                                  ? std::nan("")
                                  : 1.0 / static_cast<double>(line.cells.size());
        for (const auto& cell : line.cells) at(Stage::weights, cell) = weight;
        return kMinusInfinity;
    }

    void drop() {
        t_[Stage::dropped] = r_.dropout.empty() ? TensorD() : t_[Stage::weights];
        for (std::size_t n = 0; n < t_[Stage::dropped].values().size(); ++n)
            t_[Stage::dropped].values()[n] *= r_.dropout.values()[n];
    }

    void mix() {
        const TensorD& whole = r_.dropout.empty() ? t_[Stage::weights] : t_[Stage::dropped];
        const TensorD weights = r_.round_weights ? rounded_to(*r_.round_weights, whole) : whole;
        TensorD context(t_[Stage::context].shape());
        for_each_pair(size(), [&](Index b, Index h, Index i, Index j) {
            const double weight = weights(b, h, i, j);
            if (weight == 0.0 && r_.allowed(b, h, i, j) == 0) return;
            const Index g = r_.value_head[h];
            for (Index c = 0; c < context.shape().d; ++c)
                context(b, h, i, c) += weight * r_.v(b, g, j, c);
        });
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
    for (Index h = 0; subject.spec.alibi && h < subject.size.heads; ++h)
        replay.slopes.push_back(alibi_slope(h, subject.size.heads));
    replay.empty =
        subject.spec.empty_rows == EmptyRows::nan ? EmptyWeights::nan : EmptyWeights::zero;
    replay.sinks = subject.inputs.params[Param::sinks];
    replay.dropout = dropout_factors(subject);
    return replay;
}

TraceD run(const Subject& subject, const Replay& replay) { return Runner(subject, replay).run(); }

}  // namespace attn::verify
