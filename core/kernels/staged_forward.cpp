// B batch, H query heads, Hkv key/value heads; b batch entry, h query head, g its key/value head,
// i query row, j key column. W columns are a panel, see staged_tiles.h.
// A task is a block of query rows of one head: their scores, three sweeps over each row from scores to weights, and
// their product with V. Between the two products the block stays in the second-level cache.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/call.h"
#include "core/dropout.h"
#include "core/kernels/fused_buffers.h"
#include "core/kernels/staged.h"
#include "core/kernels/staged_tiles.h"
#include "core/masks.h"
#include "core/rounding.h"
#include "core/scores/operands.h"
#include "core/scores/pair_rule.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/stages.h"
#include "core/threads.h"
#include "core/trace.h"

namespace attn {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

constexpr Index kBlockRows = 24;  // a multiple of the rows of every tile
// Rows that start a power of two apart fall into the same few sets of a cache.
constexpr Index kRowGap = 16;
// Stages of more than this are not in a cache when somebody reads them: they are written past it.
constexpr Index kCachedBytes = Index{8} << 20;
// exp of less than this is a denormal number, which the vector exp leaves 0; below kZero the nearest float is 0.
constexpr float kFar = -87.0F;
constexpr float kZero = -104.0F;

struct Scratch {
    AlignedFloats floats;
    float* rows = nullptr;     // [kBlockRows, stride]: scores, masked, weights, in turn
    float* context = nullptr;  // [kBlockRows, padded d_v]
    float* allow = nullptr;    // [padded Tk], 0 forbids; with a custom mask
    float* bias = nullptr;     // [padded Tk]; with a bias
    std::vector<std::uint8_t> allowed;
};

struct TailWeight {
    Index j;
    float value;
};

class StagedRun {
  public:
    /// `in`: the operands of the scores' product, and V.
    StagedRun(const Call& call, const HeadTensors& in, StageSet keep, Trace& trace,
              const RunControl& control)
        : call_(call),
          in_(in),
          spec_(call.spec()),
          size_(call.size()),
          trace_(trace),
          control_(control),
          is_dot_(is_dot(spec_.score)),
          factor_(static_cast<float>(score_factor(spec_, size_.d_k))),
          width_(panel_width()),
          stride_(panel_count(size_.tk) * width_ + kRowGap),
          context_stride_(panel_count(size_.d_v) * width_),
          head_k_(is_dot_ ? panel_count(size_.tk) * width_ * in.k.shape().d : 1),
          head_v_(context_stride_ * size_.tk),
          packed_k_(Tensor::uninitialised({size_.batch, size_.kv_heads, 1, head_k_})),
          packed_v_(Tensor::uninitialised({size_.batch, size_.kv_heads, 1, head_v_})),
          v_finite_(static_cast<std::size_t>(size_.batch * size_.kv_heads)),
          scratch_(static_cast<std::size_t>(thread_slots())) {
        for (const StageInfo& stage : stage_table())
            if ((pair_stages() & keep)[index_of(stage.stage)])
                trace[stage.stage] = Tensor::uninitialised(stage_shape(stage.stage, size_, spec_));
        trace[Stage::context] = Tensor::uninitialised(stage_shape(Stage::context, size_, spec_));
        trace.logsumexp = Tensor::uninitialised(Shape{size_.batch, size_.heads, size_.tq, 1});
        past_cache_ = pair_bytes() > kCachedBytes;
    }

    /// False when it was stopped.
    bool run() {
        const Index kv_heads = size_.batch * size_.kv_heads;
        if (!parallel_for(kv_heads, {control_.stop, {}}, [&](Index n, int) { pack(n); }))
            return false;
        const Index blocks = divide_up(size_.tq, kBlockRows);
        return parallel_for(size_.batch * size_.heads * blocks, control_, [&](Index n, int slot) {
            const Index head = n / blocks;
            const Index first = n % blocks * kBlockRows;
            block(head / size_.heads, head % size_.heads, first,
                  std::min(kBlockRows, size_.tq - first), scratch_[slot]);
        });
    }

  private:
    Index pair_bytes() const {
        Index bytes = 0;
        for (const Tensor& stage : trace_.stages)
            bytes += stage.count() * static_cast<Index>(sizeof(float));
        return bytes;
    }

    void pack(Index head) {
        const Index b = head / size_.kv_heads;
        const Index g = head % size_.kv_heads;
        if (is_dot_) pack_rows(in_.k.matrix(b, g), packed_k_.matrix(b, g).data);
        pack_columns(in_.v.matrix(b, g), packed_v_.matrix(b, g).data);
        const auto v = in_.v.matrix(b, g);
        v_finite_[head] = all_finite({v.data, static_cast<std::size_t>(v.rows * v.columns)});
    }

    /// Lays the buffers out once a thread.
    void prepare(Scratch& scratch) const {
        if (scratch.rows != nullptr) return;
        const Index rows = Carve::rounded(kBlockRows * stride_);
        const Index context = Carve::rounded(kBlockRows * context_stride_);
        Carve carve(scratch.floats, rows + context + 2 * Carve::rounded(stride_));
        scratch.rows = carve.next(rows);
        scratch.context = carve.next(context);
        scratch.allow = carve.next(stride_);
        scratch.bias = carve.next(stride_);
        for (float* each : {scratch.allow, scratch.bias})
            std::fill_n(each, stride_, 0.0F);  // past the last key it stays so
        scratch.allowed.resize(size_.tk);
    }

    void block(Index b, Index h, Index first, Index count, Scratch& scratch) {
        prepare(scratch);
        const Index g = h / (size_.heads / size_.kv_heads);
        const MatrixView<float> rows{scratch.rows, count, size_.tk, stride_};
        const auto q = in_.q.matrix(b, h).row_block(first, count);
        if (is_dot_)
            multiply_panels(q, packed_k_.matrix(b, g).data, panel_count(size_.tk), rows);
        else
            slow_products({h, first, size_.tq}, q, in_.k.matrix(b, g), rows);
        for (Index i = first; i < first + count; ++i) {
            const std::span<float> row = rows.row(i - first);
            trace_.logsumexp(b, h, i, 0) = weigh(b, h, i, row, scratch);
            if (spec_.drops()) drop(b, h, i, row);
        }
        const MatrixView<float> context =
            trace_[Stage::context].matrix(b, h).row_block(first, count);
        if (spec_.mask.any() && !v_finite_[b * size_.kv_heads + g])
            add_pairwise(b, h, first, rows, context, scratch);
        else
            multiply_v(packed_v_.matrix(b, g).data, rows, context, scratch);
        if (past_cache_) finish_writes();
    }

    /// A score that is no dot product; the rest of each row's last vector is 0, as multiply_panels() leaves it.
    void slow_products(QueryRows at, MatrixView<const float> q, MatrixView<const float> k,
                       MatrixView<float> rows) const {
        pair_products<float>(call_, at, q, k, rows);
        for (Index i = 0; i < rows.rows; ++i)
            std::fill(rows.data + i * stride_ + size_.tk, rows.data + (i + 1) * stride_, 0.0F);
    }

    float* stage_row(Stage stage, Index b, Index h, Index i) const {
        Tensor& tensor = trace_[stage];
        return tensor.empty() ? nullptr : tensor.matrix(b, h).row(i).data();
    }

    /// One row of scores as softmax sees it, in place (+ far) and into the stages.
    ScoreRange score_row(Index b, Index h, Index i, std::span<float> row, float far,
                         Scratch& scratch) const {
        const KeyRuns runs = key_runs(spec_.mask, size_, b, i);
        const KeyRange keys = runs.hull();
        const PairRule rule = pair_rule(spec_, size_, h);
        return scale_and_mask({.values = row.data(),
                               .n = size_.tk,
                               .factor = factor_,
                               .cap = static_cast<float>(rule.cap),
                               .slope = static_cast<float>(rule.slope),
                               .bias = bias_row(b, h, i, scratch),
                               .bias_first = rule.bias_first,
                               .position = near_position(i + size_.query_offset, size_).position,
                               .far = far,
                               .begin = keys.begin,
                               .end = keys.end,
                               .allow = allowed_keys(b, h, i, runs, scratch),
                               .scores = stage_row(Stage::scores, b, h, i),
                               .scaled = stage_row(Stage::scaled, b, h, i),
                               .biased = stage_row(Stage::biased, b, h, i),
                               .masked = stage_row(Stage::masked, b, h, i),
                               .past_cache = past_cache_});
    }

    /// The bias of row i, one number a key; nullptr without a bias.
    const float* bias_row(Index b, Index h, Index i, Scratch& scratch) const {
        if (!spec_.mask.bias) return nullptr;
        const std::span<const float> row = broadcast_row(spec_.mask.bias->values, b, h, i);
        if (row.size() == 1)
            std::fill_n(scratch.bias, size_.tk, row[0]);
        else
            std::ranges::copy(row, scratch.bias);
        return scratch.bias;
    }

    /// One row from scores to weights, in place and into the stages; returns its logsumexp. Edges: as attend() in
    /// engine.h.
    float weigh(Index b, Index h, Index i, std::span<float> row, Scratch& scratch) const {
        const double far =
            pair_rule(spec_, size_, h).slope *
            static_cast<double>(near_position(i + size_.query_offset, size_).distance);
        const ScoreRange range = score_row(b, h, i, row, static_cast<float>(far), scratch);
        float* const weights = stage_row(Stage::weights, b, h, i);
        const auto finish = [&](float factor) {
            normalise(row.data(), size_.tk, factor, weights, past_cache_);
        };
        const Tensor& sinks = call_.inputs().params[Param::sinks];
        const float sink = sinks.empty() ? -kInfinity : sinks(0, 0, 0, h) + static_cast<float>(far);
        const float top = std::isnan(sink) ? sink : std::max(range.max, sink);
        if (top == -kInfinity) {
            const bool nan = std::ranges::any_of(row, [](float m) { return std::isnan(m); });
            weigh_without_max(b, h, i, row, scratch);
            finish(1.0F);
            return nan ? kNaN : -kInfinity;
        }
        const std::vector<TailWeight> tail =
            range.lowest - top < kFar ? tail_weights(row, top) : std::vector<TailWeight>();
        const float sum =
            exponentials(row.data(), size_.tk, top) + (sinks.empty() ? 0.0F : std::exp(sink - top));
        if (!(sum < kInfinity)) {
            put_nan_where_allowed(b, h, i, row, scratch);
            finish(1.0F);
            return kNaN;
        }
        for (const TailWeight& weight : tail) row[weight.j] = weight.value;
        finish(1.0F / sum);
        // sink + far is rounded: where the sink is the largest, it is taken as it is
        const double level =
            top == sink ? static_cast<double>(sinks(0, 0, 0, h)) : static_cast<double>(top) - far;
        return static_cast<float>(level + std::log(static_cast<double>(sum)));
    }

    /// 0 where the custom mask or a gap between two runs forbids, for row i; nullptr when there is neither.
    const float* allowed_keys(Index b, Index h, Index i, const KeyRuns& runs,
                              Scratch& scratch) const {
        if (!spec_.mask.custom && !runs.split()) return nullptr;
        fill_allowed(spec_.mask, size_, b, h, i, scratch.allowed);
        for (Index j = 0; j < size_.tk; ++j)
            scratch.allow[j] = scratch.allowed[j] != 0 ? 1.0F : 0.0F;
        return scratch.allow;
    }

    /// A row that the mask left empty follows the policy; allowed scores that are all −inf, or NaN, give NaN.
    void weigh_without_max(Index b, Index h, Index i, std::span<float> row,
                           Scratch& scratch) const {
        if (fill_allowed(spec_.mask, size_, b, h, i, scratch.allowed) == 0)
            std::ranges::fill(row, spec_.empty_rows == EmptyRows::nan ? kNaN : 0.0F);
        else
            put_nan_where_allowed(b, h, i, row, scratch);
    }

    void put_nan_where_allowed(Index b, Index h, Index i, std::span<float> row,
                               Scratch& scratch) const {
        fill_allowed(spec_.mask, size_, b, h, i, scratch.allowed);
        for (std::size_t j = 0; j < row.size(); ++j) row[j] = scratch.allowed[j] != 0 ? kNaN : 0.0F;
    }

    /// exp(M[j] − max) that are denormal; too small to count in a sum that is at least 1.
    static std::vector<TailWeight> tail_weights(std::span<const float> masked, float max) {
        std::vector<TailWeight> tail;
        for (std::size_t j = 0; j < masked.size(); ++j)
            if (const float below = masked[j] - max; below < kFar && below > kZero)
                tail.push_back({static_cast<Index>(j), std::exp(below)});
        return tail;
    }

    void drop(Index b, Index h, Index i, std::span<float> row) const {
        apply_dropout(spec_, size_, b, h, i, row, row);
        if (float* const dropped = stage_row(Stage::dropped, b, h, i))
            std::ranges::copy(row, dropped);
    }

    // context = Ã V
    void multiply_v(const float* packed_v, MatrixView<const float> rows, MatrixView<float> context,
                    Scratch& scratch) const {
        multiply_panels(rows, packed_v, panel_count(size_.d_v),
                        {scratch.context, rows.rows, size_.d_v, context_stride_});
        for (Index i = 0; i < rows.rows; ++i)
            std::copy_n(scratch.context + i * context_stride_, size_.d_v, context.row(i).data());
    }

    /// The same over contributing pairs only: a product would add 0 · NaN of a forbidden pair.
    void add_pairwise(Index b, Index h, Index first, MatrixView<const float> rows,
                      MatrixView<float> context, Scratch& scratch) const {
        const auto v = in_.v.matrix(b, h / (size_.heads / size_.kv_heads));
        for (Index i = 0; i < rows.rows; ++i) {
            const std::span<float> sum = context.row(i);
            std::ranges::fill(sum, 0.0F);
            fill_contributing(spec_, size_, b, h, first + i, scratch.allowed);
            for (Index j = 0; j < size_.tk; ++j)
                if (scratch.allowed[j] != 0)
                    for (Index c = 0; c < size_.d_v; ++c) sum[c] += rows(i, j) * v(j, c);
        }
    }

    const Call& call_;
    const HeadTensors& in_;
    const AttentionSpec& spec_;
    const Dimensions& size_;
    Trace& trace_;
    const RunControl& control_;
    bool is_dot_;
    float factor_;
    Index width_;
    Index stride_;          // of a row of scores in scratch memory
    Index context_stride_;  // of a row of context there
    Index head_k_;          // packed floats of a head
    Index head_v_;
    Tensor packed_k_;
    Tensor packed_v_;
    std::vector<std::uint8_t> v_finite_;
    std::vector<Scratch> scratch_;
    bool past_cache_ = false;
};

}  // namespace

Result<Trace> staged_forward(const Call& call, StageSet keep, const RunControl& control) {
    Trace trace;
    const HeadTensors heads = head_tensors(call, trace);
    const Operands made = make_operands(call, heads.q, heads.k);
    const HeadTensors operands = operands_of(heads, made);
    const bool finished = StagedRun(call, operands, keep, trace, control).run();
    if (!finished || control.stop.stop_requested()) return failed("the attention call was stopped");
    if (keep[index_of(Stage::output)])
        trace[Stage::output] = join_heads(call.inputs(), call.size(), trace[Stage::context]);
    keep_only(call.inputs(), keep, trace);
    return trace;
}

}  // namespace attn
