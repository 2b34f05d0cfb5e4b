// B batch, Hkv key/value heads; b batch entry, h query head, g its key/value head, i query row.
// A task is one key/value head, and so all queries that share it, against a part of its key blocks: blocks
// part, part + parts, … so that a causal mask loads the parts evenly. Each part sums its own d_Q. Heads that share entries of
// a bias belong to one task, one after the other, so that d_bias needs no copy and is the same in every run.

#include "core/kernels/fused_drive_backward.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>
#include <vector>

#include "core/call.h"
#include "core/kernels/fused_head_gradient.h"
#include "core/rounding.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/threads.h"
#include "core/trace.h"

namespace attn {
namespace {

Index key_blocks(const Dimensions& size) { return divide_up(size.tk, HeadGradient::kBlockKeys); }

/// How many key/value heads and batch entries one task takes: those that share entries of a bias.
struct Shared {
    Index batch = 1, heads = 1;
};
Shared shared_by(const AttentionSpec& spec, const Dimensions& size) {
    if (!spec.mask.bias) return {};
    const Shape bias = spec.mask.bias->values.shape();
    return {bias.b == 1 ? size.batch : 1, bias.h == 1 ? size.kv_heads : 1};
}

/// The fewest parts that divide the tasks evenly among the threads.
Index key_parts(const Dimensions& size, const Shared& shared) {
    const Index threads = thread_count();
    const Index tasks = size.batch / shared.batch * (size.kv_heads / shared.heads);
    return std::min(threads / std::gcd(tasks, threads), key_blocks(size));
}

bool every_input_finite(const BackwardInputs& in) {
    return all_finite(in.heads.q.values()) && all_finite(in.heads.k.values()) &&
           all_finite(in.heads.v.values()) && all_finite(in.d_context.values());
}

double row_sum(std::span<const float> d_context, std::span<const float> context) {
    return all_finite(d_context) ? dot(d_context, context)
                                 : std::numeric_limits<double>::quiet_NaN();
}

/// exp(sink − logsumexp) from the row's two numbers, with the sink rounded as forward had it. Those of a query far from its
/// keys under ALiBi are larger by that distance: logsumexp is not.
double sink_weight(const BackwardInputs& in, Index b, Index h, Index i) {
    const Dimensions& size = in.call.size();
    const auto sink = static_cast<double>(in.call.inputs().params[Param::sinks](0, 0, 0, h));
    const Trace& forward = in.forward;
    if (in.call.spec().alibi && near_position(i + size.query_offset, size).distance != 0)
        return std::exp(sink - static_cast<double>(forward.logsumexp(b, h, i, 0)));
    const double rounded = static_cast<float>(sink * std::numbers::log2e);
    return std::exp2(rounded - static_cast<double>(forward.row_max(b, h, i, 0)) -
                     static_cast<double>(forward.row_log2_sum(b, h, i, 0)));
}

/// d_sink = −Σ_i exp(sink − logsumexp_i) · Σ_c d_context ∘ context: a sink's share of a row has no value.
Tensor sink_gradients(const BackwardInputs& in) {
    const Dimensions& size = in.call.size();
    const Tensor& sinks = in.call.inputs().params[Param::sinks];
    Tensor d(sinks.shape());
    if (sinks.empty()) return d;
    for (Index b = 0; b < size.batch; ++b)
        for (Index h = 0; h < size.heads; ++h) {
            double sum = 0.0;
            for (Index i = 0; i < size.tq; ++i)
                sum += sink_weight(in, b, h, i) *
                       row_sum(in.d_context.matrix(b, h).row(i),
                               in.forward[Stage::context].matrix(b, h).row(i));
            d(0, 0, 0, h) -= static_cast<float>(sum);
        }
    return d;
}

bool is_empty_row(const BackwardInputs& in, Index b, Index h, Index i) {
    return in.forward.logsumexp(b, h, i, 0) == -std::numeric_limits<float>::infinity() &&
           PairMask(in.call.spec(), in.call.size(), b, h, false).allowed_keys(i) == 0;
}

void fill_nan(MatrixView<float> rows) {
    for (Index i = 0; i < rows.rows; ++i)
        std::ranges::fill(rows.row(i), std::numeric_limits<float>::quiet_NaN());
}

/// Row i of d_bias, which has one or none for all queries.
MatrixView<float> bias_rows(Tensor& d_bias, Index b, Index h, Index i) {
    if (d_bias.empty()) return {};
    const Shape shape = d_bias.shape();
    return d_bias.matrix(shape.b == 1 ? 0 : b, shape.h == 1 ? 0 : h)
        .row_block(shape.t == 1 ? 0 : i, 1);
}

/// An empty row's NaN weights reach all its keys, in value and in gradient.
void spread_empty_rows(const BackwardInputs& in, HeadGradients& out) {
    const Dimensions& size = in.call.size();
    for (Index b = 0; b < size.batch; ++b)
        for (Index h = 0; h < size.heads; ++h) {
            const Index g = h / (size.heads / size.kv_heads);
            bool found = false;
            for (Index i = 0; i < size.tq; ++i)
                if (is_empty_row(in, b, h, i)) {
                    fill_nan(out.d_q.matrix(b, h).row_block(i, 1));
                    fill_nan(bias_rows(out.d_bias, b, h, i));
                    found = true;
                }
            if (!found) continue;
            fill_nan(out.d_k.matrix(b, g));
            fill_nan(out.d_v.matrix(b, g));
        }
}

class BackwardRun {
  public:
    BackwardRun(const BackwardInputs& in, const RunControl& control)
        : in_(in),
          spec_(in.call.spec()),
          size_(in.call.size()),
          control_(control),
          shared_(shared_by(spec_, size_)),
          parts_(key_parts(size_, shared_)),
          bias_(spec_, size_),
          pairwise_(spec_.mask.any() && !every_input_finite(in)),
          d_q_parts_(static_cast<std::size_t>(parts_), Tensor(in.heads.q.shape())),
          d_k_(in.heads.k.shape()),
          d_v_(in.heads.v.shape()),
          d_bias_parts_(bias_parts()),
          workers_(static_cast<std::size_t>(thread_slots())) {}

    std::optional<HeadGradients> run() {
        if (!bias_.pack(control_)) return std::nullopt;
        const Index sets =
            size_.kv_heads / shared_.heads;  // of heads, in each set of batch entries
        const Index tasks = size_.batch / shared_.batch * sets;
        const bool finished = parallel_for(tasks * parts_, control_, [&](Index n, int slot) {
            auto& worker = workers_[slot];
            if (!worker) worker = std::make_unique<HeadGradient>(in_, bias_, pairwise_);
            const Index task = n / parts_;
            const Index b = task / sets * shared_.batch, g = task % sets * shared_.heads;
            for (Index more = 0; more < shared_.batch * shared_.heads; ++more)
                part_task(b + more / shared_.heads, g + more % shared_.heads, n % parts_, *worker);
        });
        if (!finished || control_.stop.stop_requested()) return std::nullopt;
        HeadGradients out{sum_of(d_q_parts_), std::move(d_k_), std::move(d_v_), {}, {}};
        if (bias_) out.d_bias = sum_of(d_bias_parts_);
        finish_gradients(in_, out);
        return out;
    }

  private:
    void part_task(Index b, Index g, Index part, HeadGradient& worker) {
        const Index sharing = size_.heads / size_.kv_heads;
        for (Index h = g * sharing; h < (g + 1) * sharing; ++h) {
            worker.start(b, h);
            for (Index block = part; block < key_blocks(size_); block += parts_) {
                if (control_.stop.stop_requested()) return;
                const Index begin = block * HeadGradient::kBlockKeys;
                const Index end = std::min(begin + HeadGradient::kBlockKeys, size_.tk);
                worker.add_block({begin, end}, d_k_.matrix(b, g).row_block(begin, end - begin),
                                 d_v_.matrix(b, g).row_block(begin, end - begin),
                                 d_bias_parts_[std::ssize(d_bias_parts_) > 1 ? part : 0]);
            }
            worker.write_d_q(d_q_parts_[part].matrix(b, h));
        }
    }

    static Tensor sum_of(std::vector<Tensor>& parts) {
        Tensor sum = std::move(parts[0]);
        for (std::size_t part = 1; part < parts.size(); ++part)
            std::transform(sum.values().begin(), sum.values().end(), parts[part].values().begin(),
                           sum.values().begin(), std::plus<>());
        return sum;
    }

    /// Parts have their own keys, and so their own entries of d_bias, unless it has one number for all keys.
    std::vector<Tensor> bias_parts() const {
        if (!bias_) return std::vector<Tensor>(1);
        const Shape shape = spec_.mask.bias->values.shape();
        return std::vector<Tensor>(shape.d == 1 ? static_cast<std::size_t>(parts_) : 1,
                                   Tensor(shape));
    }

    const BackwardInputs& in_;
    const AttentionSpec& spec_;
    const Dimensions& size_;
    const RunControl& control_;
    Shared shared_;
    Index parts_;
    BiasTiles bias_;
    bool pairwise_;
    std::vector<Tensor> d_q_parts_;
    Tensor d_k_;
    Tensor d_v_;
    std::vector<Tensor> d_bias_parts_;
    std::vector<std::unique_ptr<HeadGradient>> workers_;
};

}  // namespace

double backward_bytes(const Call& call) {
    const Dimensions& size = call.size();
    const auto& bias = call.spec().mask.bias;
    const auto real = [](Index count) { return static_cast<double>(count); };
    const double d_q = real(size.batch * size.heads) * real(size.tq) * real(size.d_k);
    const double d_k_d_v =
        real(size.batch * size.kv_heads) * real(size.tk) * real(size.d_k + size.d_v);
    const double working = real(HeadGradient::working_floats(size));
    const double parts = real(key_parts(size, shared_by(call.spec(), size)));
    return sizeof(float) * (parts * d_q + d_k_d_v + (bias ? real(bias->values.count()) : 0.0) +
                            real(thread_slots()) * working);
}

void finish_gradients(const BackwardInputs& in, HeadGradients& out) {
    out.d_sinks = sink_gradients(in);
    const AttentionSpec& spec = in.call.spec();
    if (spec.mask.any() && spec.empty_rows == EmptyRows::nan) spread_empty_rows(in, out);
}

std::optional<HeadGradients> differentiate_fused(const BackwardInputs& in,
                                                 const RunControl& control) {
    return BackwardRun(in, control).run();
}

}  // namespace attn
