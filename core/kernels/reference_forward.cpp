// B batch, H query heads, Hkv key/value heads, Tq queries, Tk keys; b batch entry, h query head,
// g = h / (H / Hkv) its key/value head, i query row, j key column, c column of a head.

#include <algorithm>
#include <limits>
#include <vector>

#include "core/bias.h"
#include "core/call.h"
#include "core/dropout.h"
#include "core/entries.h"
#include "core/kernels/loops.h"
#include "core/kernels/reference.h"
#include "core/kernels/reference_parts.h"
#include "core/kernels/weighted_rows.h"
#include "core/masks.h"
#include "core/qk_norm.h"
#include "core/rotary.h"
#include "core/scores/operands.h"
#include "core/scores/pair_rule.h"
#include "core/scores/score.h"
#include "core/softmax.h"
#include "core/trace.h"

namespace attn {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// Q = X W_Q + b_Q, split into heads: head h owns columns h·d .. (h + 1)·d of the product.
TensorD project(const TensorD& x, const TensorD& weight, const TensorD& bias, const Shape& shape) {
    TensorD heads(shape);
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h) {
            const ViewD out = heads.matrix(b, h);
            add_product(x.matrix(b, 0), weight.matrix(0, 0).column_block(h * shape.d, shape.d),
                        out);
            if (!bias.empty())
                add_to_rows(bias.matrix(0, 0).column_block(h * shape.d, shape.d), out);
        }
    return heads;
}

}  // namespace

void fill_q_k_v(const CallD& call, TraceD& trace) {
    const InputsD& in = call.inputs();
    if (!in.projects()) {
        trace[Stage::q] = in.q;
        trace[Stage::k] = in.k;
        trace[Stage::v] = in.v;
        return;
    }
    const TensorD& x_kv = in.x_kv.empty() ? in.x : in.x_kv;
    const auto projected = [&](const TensorD& x, Param weight, Param bias, Stage stage) {
        return project(x, in.params[weight], in.params[bias],
                       stage_shape(stage, call.size(), call.spec()));
    };
    trace[Stage::x] = in.x;
    trace[Stage::x_kv] = in.x_kv;
    trace[Stage::q] = projected(in.x, Param::w_q, Param::b_q, Stage::q);
    trace[Stage::k] = projected(x_kv, Param::w_k, Param::b_k, Stage::k);
    trace[Stage::v] = projected(x_kv, Param::w_v, Param::b_v, Stage::v);
}

namespace {

void normalise_q_k(const CallD& call, TraceD& trace) {
    if (!call.spec().qk_norm) return;
    const ParamsD& params = call.inputs().params;
    const double epsilon = *call.spec().qk_norm;
    trace[Stage::q_norm] = normalise_rows(trace[Stage::q], params[Param::q_norm_weight], epsilon);
    trace[Stage::k_norm] = normalise_rows(trace[Stage::k], params[Param::k_norm_weight], epsilon);
}

void rotate_q_k(const CallD& call, TraceD& trace) {
    if (!call.spec().rope) return;
    const Rope& rope = *call.spec().rope;
    const Index offset = call.size().query_offset;
    const auto source = [&](Stage stage) -> const TensorD& {
        return trace[stage_or_source(stage, call.spec())];
    };
    trace[Stage::q_rot] = rotate(rope, source(Stage::q_norm), Rotated::queries, offset);
    trace[Stage::k_rot] = rotate(rope, source(Stage::k_norm), Rotated::keys, offset);
}

void fill_scores(const CallD& call, const TensorD& q, const TensorD& k, TensorD& scores) {
    const OperandsOf<double> made = make_operands(call, q, k);
    const TensorD& q_hat = made.q.empty() ? q : made.q;
    const TensorD& k_hat = made.k.empty() ? k : made.k;
    const Index sharing = call.size().heads / call.size().kv_heads;
    for (Index b = 0; b < call.size().batch; ++b)
        for (Index h = 0; h < call.size().heads; ++h) {
            const ConstViewD queries = q_hat.matrix(b, h);
            const ConstViewD keys = k_hat.matrix(b, h / sharing);
            if (is_dot(call.spec().score))
                add_product_transposed(queries, keys, scores.matrix(b, h));
            else
                pair_products(call, {h, 0, queries.rows}, queries, keys, scores.matrix(b, h));
        }
}

// forward:  S = scores · factor,  B = cap tanh(S / cap) + bias − slope |p − j|,  M = B where allowed, else −∞
void fill_masked_row(const CallD& call, TraceD& trace, Index b, Index h, Index i) {
    const AttentionSpec& spec = call.spec();
    const Dimensions& size = call.size();
    const double factor = score_factor(spec, size.d_k);
    const PairRule rule = pair_rule(spec, size, h);
    const auto view = [&](Stage stage) {
        return trace[stage_or_source(stage, spec)].matrix(b, h).row(i);
    };
    const auto scores = view(Stage::scores), scaled = view(Stage::scaled);
    const auto biased = view(Stage::biased), masked = view(Stage::masked);
    std::vector<std::uint8_t> allowed(scores.size());
    fill_allowed(spec.mask, size, b, h, i, allowed);
    for (std::size_t j = 0; j < scores.size(); ++j) {
        scaled[j] = scores[j] * factor;
        if (spec.biases())
            biased[j] = rule.biased(scaled[j], i + size.query_offset, static_cast<Index>(j),
                                    bias_at(spec.mask, b, h, i, static_cast<Index>(j)));
        masked[j] = allowed[j] != 0 ? biased[j] : kMinusInfinity;
    }
}

/// Weights of row i, `sink` one more logit in the denominator (−∞: none). A forbidden pair weighs 0 whatever the scores
/// hold; a row without an allowed key follows the empty-row policy unless there is a sink, which then takes all, and
/// allowed scores that are all −inf are 0/0. Returns the row's logsumexp.
double softmax_allowed(std::span<const double> masked, std::span<const std::uint8_t> allowed,
                       bool empty, double sink, EmptyRows policy, std::span<double> weights) {
    if (sink != kMinusInfinity) {
        std::vector<double> logits(masked.begin(), masked.end());
        logits.push_back(sink);
        std::vector<double> shares(logits.size());
        const SoftmaxRow sides = softmax_row(logits, shares, EmptyRows::nan);
        std::copy_n(shares.begin(), weights.size(), weights.begin());
        for (std::size_t j = 0; j < weights.size(); ++j)
            if (allowed[j] == 0) weights[j] = 0.0;
        return sides.logsumexp;
    }
    const SoftmaxRow sides = softmax_row(masked, weights, empty ? policy : EmptyRows::nan);
    if (!empty)
        for (std::size_t j = 0; j < weights.size(); ++j)
            if (allowed[j] == 0) weights[j] = 0.0;
    return sides.logsumexp;
}

/// The keys that contribute, and their weights, one after the other.
struct Contributing {
    std::vector<double> weights;
    std::vector<Index> keys;

    void take(std::span<const double> row, std::span<const std::uint8_t> contributes) {
        weights.clear(), keys.clear();
        for (std::size_t j = 0; j < row.size(); ++j)
            if (contributes[j] != 0)
                weights.push_back(row[j]), keys.push_back(static_cast<Index>(j));
    }
};

/// Scores, weights and context of one head, and its row of logsumexp.
class HeadForward {
  public:
    HeadForward(const CallD& call, TraceD& trace)
        : spec_(call.spec()),
          size_(call.size()),
          sinks_(call.inputs().params[Param::sinks]),
          trace_(trace),
          allowed_(static_cast<std::size_t>(size_.tk)),
          contributes_(allowed_.size()) {}

    void run(Index b, Index h, Index i) {
        weigh(b, h, i);
        mix(b, h, i);
    }

    /// From masked scores to weights and logsumexp.
    void weigh(Index b, Index h, Index i) {
        const std::span<const double> masked = view(Stage::masked, b, h).row(i);
        const bool sinks = !sinks_.empty();
        const Index count = fill_allowed(spec_.mask, size_, b, h, i, allowed_);
        trace_.logsumexp(b, h, i, 0) = softmax_allowed(
            masked, allowed_, count == 0, sinks ? sinks_(0, 0, 0, h) : kMinusInfinity,
            spec_.empty_rows, view(Stage::weights, b, h).row(i));
    }

    /// From weights to dropped ones and the context.
    void mix(Index b, Index h, Index i) {
        const ViewD weights = view(Stage::weights, b, h), dropped = view(Stage::dropped, b, h);
        if (spec_.drops())
            for (Index j = 0; j < size_.tk; ++j)
                dropped(i, j) = weights(i, j) * dropout_factor(spec_, size_, b, h, i, j);
        fill_contributing(spec_, size_, b, h, i, contributes_);
        const TraceD& trace = trace_;
        contributing_.take(dropped.row(i), contributes_);
        add_weighted_rows(contributing_.weights, contributing_.keys,
                          trace[Stage::v].matrix(b, h / (size_.heads / size_.kv_heads)),
                          trace_[Stage::context].matrix(b, h).row(i));
    }

  private:
    ViewD view(Stage stage, Index b, Index h) {
        return trace_[stage_or_source(stage, spec_)].matrix(b, h);
    }

    const AttentionSpec& spec_;
    const Dimensions& size_;
    const TensorD& sinks_;
    TraceD& trace_;
    std::vector<std::uint8_t> allowed_;
    std::vector<std::uint8_t> contributes_;
    Contributing contributing_;
};

}  // namespace

void fill_logits(const CallD& call, TraceD& trace) {
    const Dimensions& size = call.size();
    fill_q_k_v(call, trace);
    normalise_q_k(call, trace);
    rotate_q_k(call, trace);
    for (const Stage stage : {Stage::scores, Stage::scaled, Stage::biased, Stage::masked})
        trace[stage] = TensorD(stage_shape(stage, size, call.spec()));
    fill_scores(call, trace[stage_or_source(Stage::q_rot, call.spec())],
                trace[stage_or_source(Stage::k_rot, call.spec())], trace[Stage::scores]);
    for_each_query(size, [&](Index b, Index h, Index i) { fill_masked_row(call, trace, b, h, i); });
}

TensorD join_heads(const InputsD& in, const Dimensions& size, const TensorD& context) {
    const TensorD& w_o = in.params[Param::w_o];
    const TensorD& b_o = in.params[Param::b_o];
    TensorD output(Shape{size.batch, 1, size.tq, size.d_out});
    for (Index b = 0; b < size.batch; ++b) {
        const ViewD y = output.matrix(b, 0);
        for (Index h = 0; h < size.heads; ++h) {
            const ConstViewD head = context.matrix(b, h);
            if (!w_o.empty())
                add_product(head, w_o.matrix(0, 0).row_block(h * size.d_v, size.d_v), y);
            else
                for (Index i = 0; i < size.tq; ++i)
                    std::ranges::copy(head.row(i),
                                      y.column_block(h * size.d_v, size.d_v).row(i).begin());
        }
        if (!b_o.empty()) add_to_rows(b_o.matrix(0, 0), y);
    }
    return output;
}

namespace {

void drop_unneeded(TraceD& trace, StageSet keep) {
    for (std::size_t s = 0; s < kStageCount; ++s)
        if (!keep[s]) trace.stages[s] = {};
}

}  // namespace

namespace {

/// A row of every stage after `from` up to masked, of `from` as it was given.
void continue_row(const CallD& call, Stage from, TraceD& trace, Index b, Index h, Index i) {
    const AttentionSpec& spec = call.spec();
    const Dimensions& size = call.size();
    const double factor = score_factor(spec, size.d_k);
    const PairRule rule = pair_rule(spec, size, h);
    std::vector<std::uint8_t> allowed(size.tk);
    fill_allowed(spec.mask, size, b, h, i, allowed);
    for (Index j = 0; j < size.tk; ++j) {
        double value = trace[from](b, h, i, j);
        if (from < Stage::scaled) trace[Stage::scaled](b, h, i, j) = value *= factor;
        if (from < Stage::biased && spec.biases())
            trace[Stage::biased](b, h, i, j) = value =
                rule.biased(value, i + size.query_offset, j, bias_at(spec.mask, b, h, i, j));
        trace[Stage::masked](b, h, i, j) = allowed[j] != 0 ? value : kMinusInfinity;
    }
}

}  // namespace

Result<TraceD> reference_from(const CallD& call, Stage from, TensorD pairs, StageSet keep,
                              const RunControl& control) {
    const Dimensions& size = call.size();
    TraceD trace;
    for (const Stage stage : {Stage::scaled, Stage::biased, Stage::masked, Stage::weights,
                              Stage::dropped, Stage::context})
        if (stage > from) trace[stage] = TensorD(stage_shape(stage, size, call.spec()));
    trace[from] = std::move(pairs);
    trace[Stage::v] = call.inputs().v;
    if (from < Stage::weights) trace.logsumexp = TensorD(Shape{size.batch, size.heads, size.tq, 1});
    HeadForward head(call, trace);
    for (Index b = 0; b < size.batch; ++b)
        for (Index h = 0; h < size.heads; ++h)
            for (Index i = 0; i < size.tq; ++i) {
                if (control.stop.stop_requested()) return failed("the attention call was stopped");
                end_if_stopped();
                if (from < Stage::weights) {
                    continue_row(call, from, trace, b, h, i);
                    head.weigh(b, h, i);
                }
                head.mix(b, h, i);
            }
    trace[Stage::output] = join_heads(call.inputs(), size, trace[Stage::context]);
    drop_unneeded(trace, keep);
    return trace;
}

Result<TraceD> reference_forward(const CallD& call, StageSet keep, const RunControl& control) {
    const Dimensions& size = call.size();
    TraceD trace;
    fill_logits(call, trace);
    for (const Stage stage : {Stage::weights, Stage::dropped, Stage::context})
        trace[stage] = TensorD(stage_shape(stage, size, call.spec()));
    trace.logsumexp = TensorD(Shape{size.batch, size.heads, size.tq, 1});
    HeadForward head(call, trace);
    for (Index b = 0; b < size.batch; ++b)
        for (Index h = 0; h < size.heads; ++h)
            for (Index i = 0; i < size.tq; ++i) {
                if (control.stop.stop_requested()) return failed("the attention call was stopped");
                end_if_stopped();
                head.run(b, h, i);
            }
    trace[Stage::output] = join_heads(call.inputs(), size, trace[Stage::context]);
    drop_unneeded(trace, keep);
    return trace;
}

}  // namespace attn
