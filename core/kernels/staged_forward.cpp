// B batch, H query heads, Hkv key/value heads; b batch entry, h query head, g its key/value head,
// i query row, j key column.

#include <limits>
#include <vector>

#include "core/dropout.h"
#include "core/kernels/contributing.h"
#include "core/kernels/projections.h"
#include "core/kernels/staged.h"
#include "core/softmax.h"

namespace attn {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

void fill_q_k_v(const Inputs& in, const AttentionSpec& spec, const Dimensions& size, Trace& trace) {
    if (!in.projects()) {
        trace[Stage::q] = in.q;
        trace[Stage::k] = in.k;
        trace[Stage::v] = in.v;
        return;
    }
    trace[Stage::x] = in.x;
    trace[Stage::x_kv] = in.x_kv;
    for (const Stage stage : {Stage::q, Stage::k, Stage::v})
        trace[stage] = project(in, stage, stage_shape(stage, size, spec));
}

/// The [Tq,Tk] stages of one head. One that is not kept has a single head, reused for every (b,h).
class Pairs {
  public:
    Pairs(const AttentionSpec& spec, const Dimensions& size, StageSet keep, Trace& trace)
        : keep_(keep), trace_(trace), last_(spec.dropout > 0.0 ? Stage::dropped : Stage::weights) {
        for (const Stage stage :
             {Stage::scores, Stage::scaled, Stage::masked, Stage::weights, Stage::dropped}) {
            const Shape whole = stage_shape(stage, size, spec);
            if (whole.count() != 0)
                trace[stage] = Tensor(kept(stage) ? whole : Shape{1, 1, whole.t, whole.d});
        }
    }

    MatrixView<float> operator()(Stage stage, Index b, Index h) {
        return kept(stage) ? trace_[stage].matrix(b, h) : trace_[stage].matrix(0, 0);
    }
    /// What multiplies V: Ã with dropout, A without.
    MatrixView<float> last(Index b, Index h) { return (*this)(last_, b, h); }

  private:
    bool kept(Stage stage) const { return keep_[index_of(stage)]; }

    StageSet keep_;
    Trace& trace_;
    Stage last_;
};

/// Scores to weights of one head.
class HeadForward {
  public:
    HeadForward(const AttentionSpec& spec, const Dimensions& size, StageSet keep, Trace& trace)
        : spec_(spec),
          size_(size),
          trace_(trace),
          pairs_(spec, size, keep, trace),
          factor_(static_cast<float>(score_factor(spec, size.d_k))),
          allowed_(static_cast<std::size_t>(size.tk)) {}

    void run(Index b, Index h) {
        const Index g = h / (size_.heads / size_.kv_heads);
        const Trace& trace = trace_;
        eigen(pairs_(Stage::scores, b, h)).noalias() =
            eigen(trace[Stage::q].matrix(b, h)) * eigen(trace[Stage::k].matrix(b, g)).transpose();
        for (Index i = 0; i < size_.tq; ++i) {
            trace_.logsumexp(b, h, i, 0) = static_cast<float>(row(b, h, i));
            if (spec_.dropout > 0.0)
                apply_dropout(spec_, size_, b, h, i, stage_row(Stage::weights, b, h, i),
                              stage_row(Stage::dropped, b, h, i));
        }
        ContributingPairs(spec_, size_, b, h)
            .add_over_keys(pairs_.last(b, h), trace[Stage::v].matrix(b, g),
                           trace_[Stage::context].matrix(b, h));
    }

  private:
    std::span<float> stage_row(Stage stage, Index b, Index h, Index i) {
        return pairs_(stage, b, h).row(i);
    }

    /// One row from scores to weights; returns its logsumexp. Edges: as attend() in engine.h.
    double row(Index b, Index h, Index i) {
        const std::span<float> masked = stage_row(Stage::masked, b, h, i);
        const std::span<float> weights = stage_row(Stage::weights, b, h, i);
        auto scaled = eigen(stage_row(Stage::scaled, b, h, i));
        scaled = eigen(stage_row(Stage::scores, b, h, i)) * factor_;
        eigen(masked) = scaled;
        if (!spec_.mask.any()) return softmax_row(masked, weights, EmptyRows::nan).logsumexp;
        const Index count = fill_allowed(spec_.mask, size_, b, h, i, allowed_);
        if (count == size_.tk) return softmax_row(masked, weights, EmptyRows::nan).logsumexp;
        put_where_forbidden(kMinusInfinity, masked);
        if (count == 0) return softmax_row(masked, weights, spec_.empty_rows).logsumexp;
        const double logsumexp = softmax_row(masked, weights, EmptyRows::nan).logsumexp;
        put_where_forbidden(0.0F, weights);
        return logsumexp;
    }

    void put_where_forbidden(float value, std::span<float> row) const {
        for (std::size_t j = 0; j < row.size(); ++j) row[j] = allowed_[j] != 0 ? row[j] : value;
    }

    const AttentionSpec& spec_;
    const Dimensions& size_;
    Trace& trace_;
    Pairs pairs_;
    float factor_;
    std::vector<std::uint8_t> allowed_;
};

}  // namespace

Trace staged_forward(const Inputs& inputs, const AttentionSpec& spec, const Dimensions& size,
                     StageSet keep) {
    Trace trace;
    fill_q_k_v(inputs, spec, size, trace);
    trace[Stage::context] = Tensor(stage_shape(Stage::context, size, spec));
    trace.logsumexp = Tensor(Shape{size.batch, size.heads, size.tq, 1});
    HeadForward head(spec, size, keep, trace);
    for (Index b = 0; b < size.batch; ++b)
        for (Index h = 0; h < size.heads; ++h) head.run(b, h);
    if (keep[index_of(Stage::output)])
        trace[Stage::output] = join_heads(inputs, size, trace[Stage::context]);
    for (std::size_t s = 0; s < kStageCount; ++s)
        if (!keep[s]) trace.stages[s] = {};
    return trace;
}

}  // namespace attn
