// B batch, H query heads; b batch entry, h query head, g its key/value head, i query row, j key row.
// G queries make a group, some groups a task: tasks go to threads, and inside a task each block of
// keys meets every group while it is in the second-level cache.

#include "core/kernels/fused_drive_forward.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/kernels/fused_buffers.h"
#include "core/kernels/fused_forward.h"
#include "core/rounding.h"
#include "core/scores/score.h"

namespace attn {
namespace {

// The optimum is flat: 64 to 256 keys and 192 to 528 queries differ by less than 2 %.
constexpr Index kBlockKeys = 128;
constexpr Index kTaskQueries = 384;
// So many tasks a thread even out threads that are not equally fast, but none smaller than this.
constexpr Index kTasksPerThread = 16;
constexpr Index kLeastGroups = 3;

/// How the queries of a head split into tasks: as many as keep every thread busy to the end.
Index groups_per_task(const Dimensions& size, Index lanes) {
    const Index groups = divide_up(size.tq, lanes);
    const Index heads = size.batch * size.heads;
    const Index threads = thread_count();
    Index tasks = std::max(divide_up(groups, std::max<Index>(kTaskQueries / lanes, 1)),
                           std::min(groups / kLeastGroups, kTasksPerThread * threads / heads));
    tasks = std::max<Index>(tasks, 1);
    while (heads * tasks % threads != 0 && tasks < groups) ++tasks;
    return divide_up(groups, tasks);
}

/// The memory that one thread works in.
struct Scratch {
    AlignedFloats floats;
    std::vector<QueryGroup> groups;
    std::vector<GroupState> states;
    float* scores = nullptr;  // [kBlockKeys + kTileKeys, G]
    float* allow = nullptr;
    float* keep = nullptr;
    float* distance = nullptr;  // [G]
};

class ForwardRun {
  public:
    ForwardRun(const Call& call, const HeadTensors& in, ForwardResult& out,
               const RunControl& control)
        : spec_(call.spec()),
          size_(call.size()),
          sinks_(call.inputs().params[Param::sinks]),
          in_(in),
          out_(out),
          control_(control),
          lanes_(query_group_lanes()),
          task_groups_(groups_per_task(size_, lanes_)),
          tasks_(divide_up(divide_up(size_.tq, lanes_), task_groups_)),
          pairwise_(spec_.mask.any() && !all_finite(in.v.values())),
          factors_(static_cast<std::size_t>(size_.d_k),
                   static_cast<float>(score_factor(spec_, size_.d_k) * std::numbers::log2e)),
          scratch_(static_cast<std::size_t>(thread_slots())) {}

    bool run() {
        const Index heads = size_.batch * size_.heads;
        return parallel_for(heads * tasks_, control_, [&](Index n, int slot) {
            // The longest first: under a causal mask the last queries have the most keys.
            const Index task = tasks_ - 1 - n / heads;
            head_task(n % heads / size_.heads, n % heads % size_.heads, task,
                      scratch_[static_cast<std::size_t>(slot)]);
        });
    }

  private:
    void head_task(Index b, Index h, Index task, Scratch& scratch) {
        const PairMask mask(spec_, size_, b, h, pairwise_);
        const Index first = task * task_groups_ * lanes_;
        const Index end = std::min(first + task_groups_ * lanes_, size_.tq);
        prepare(scratch);
        scratch.groups.clear();
        for (Index i = first; i < end; i += lanes_)
            scratch.groups.push_back(mask.group(i, std::min(lanes_, end - i)));
        for (std::size_t n = 0; n < scratch.groups.size(); ++n)
            start(b, h, scratch.groups[n], scratch.states[n]);
        if (!attend(b, h, mask, scratch)) return;
        for (std::size_t n = 0; n < scratch.groups.size(); ++n)
            finish(b, h, mask, scratch.groups[n], scratch.states[n]);
    }

    Index padded_d_v() const { return divide_up(size_.d_v, kTileKeys) * kTileKeys; }

    /// Lays the buffers out once a thread.
    void prepare(Scratch& scratch) const {
        if (!scratch.states.empty()) return;
        const Index tile = (kBlockKeys + kTileKeys) * lanes_;
        const Index state = Carve::rounded(size_.d_k * lanes_) +
                            Carve::rounded(padded_d_v() * lanes_) + 2 * Carve::rounded(lanes_);
        Carve carve(scratch.floats,
                    3 * Carve::rounded(tile) + Carve::rounded(lanes_) + task_groups_ * state);
        scratch.scores = carve.next(tile);
        scratch.allow = carve.next(tile);
        scratch.keep = carve.next(tile);
        scratch.distance = carve.next(lanes_);
        for (Index n = 0; n < task_groups_; ++n)
            scratch.states.push_back({carve.next(size_.d_k * lanes_),
                                      carve.next(padded_d_v() * lanes_), carve.next(lanes_),
                                      carve.next(lanes_)});
    }

    void start(Index b, Index h, const QueryGroup& group, const GroupState& state) const {
        const auto q = in_.q.matrix(b, h);
        if (group.count < lanes_) std::fill_n(state.qt, size_.d_k * lanes_, 0.0F);
        transpose(q.row_block(group.first, group.count), factors_.data(),
                  {state.qt, size_.d_k, group.count, lanes_});
        std::fill_n(state.ot, padded_d_v() * lanes_, 0.0F);
        // A sink is what a first key without a value would have left.
        const double sink = sink_of(h);
        const bool has_sink = sink != -std::numeric_limits<double>::infinity();
        for (Index lane = 0; lane < lanes_; ++lane)
            state.max[lane] = has_sink ? static_cast<float>(sink + far(h, group.first + lane))
                                       : std::numeric_limits<float>::lowest();
        std::fill_n(state.sum, lanes_, has_sink ? 1.0F : 0.0F);
    }

    /// What B of query i is larger by where it is far from the keys, in units of log2: near_position().
    double far(Index h, Index i) const {
        return pair_rule(spec_, size_, h).slope * std::numbers::log2e *
               static_cast<double>(near_position(i + size_.query_offset, size_).distance);
    }

    /// In units of log2; −inf: none.
    double sink_of(Index h) const {
        if (sinks_.empty()) return -std::numeric_limits<double>::infinity();
        return static_cast<double>(sinks_(0, 0, 0, h)) * std::numbers::log2e;
    }

    /// Every block of keys that some group attends to. False when it was stopped.
    bool attend(Index b, Index h, const PairMask& mask, Scratch& scratch) const {
        KeyRange keys{size_.tk, 0};
        for (const QueryGroup& group : scratch.groups)
            if (group.any.begin < group.any.end)
                keys = {std::min(keys.begin, group.any.begin), std::max(keys.end, group.any.end)};
        for (Index j = keys.begin; j < keys.end; j += kBlockKeys) {
            if (control_.stop.stop_requested()) return false;
            for (std::size_t n = 0; n < scratch.groups.size(); ++n) {
                const KeyRange any = scratch.groups[n].any;
                const KeyRange part{std::max(j, any.begin), std::min(j + kBlockKeys, any.end)};
                if (scratch.groups[n].attends(part))
                    attend_part(b, h, mask, part, scratch.groups[n], scratch.states[n], scratch);
            }
        }
        return true;
    }

    void attend_part(Index b, Index h, const PairMask& mask, KeyRange part, const QueryGroup& group,
                     const GroupState& state, Scratch& scratch) const {
        const Index g = h / (size_.heads / size_.kv_heads);
        if (spec_.mask.any()) mask.fill(group, part, kTileKeys, lanes_, scratch.allow);
        if (mask.drops()) mask.fill_dropout(group, part, lanes_, scratch.keep);
        const PairRule rule = pair_rule(spec_, size_, h);
        for (Index lane = 0; lane < lanes_ && rule.slope != 0.0; ++lane)
            scratch.distance[lane] = static_cast<float>(
                near_position(group.first + lane + size_.query_offset, size_).position -
                part.begin);
        attend_block({.k = in_.k.matrix(b, g).row(part.begin).data(),
                      .v = in_.v.matrix(b, g).row(part.begin).data(),
                      .keys = part.end - part.begin,
                      .d_k = size_.d_k,
                      .d_v = size_.d_v,
                      .all = {group.all.begin - part.begin, group.all.end - part.begin},
                      .allow = scratch.allow,
                      .keep = mask.drops() ? scratch.keep : nullptr,
                      .cap = static_cast<float>(rule.cap * std::numbers::log2e),
                      .slope = static_cast<float>(rule.slope * std::numbers::log2e),
                      .distance = scratch.distance,
                      .pairwise = pairwise_},
                     state, scratch.scores);
    }

    /// O / l and the logsumexp (m + log2 l − far) ln 2 of each query of the group.
    void finish(Index b, Index h, const PairMask& mask, const QueryGroup& group,
                const GroupState& state) {
        for (Index lane = 0; lane < group.count; ++lane) {
            const auto sum = static_cast<double>(state.sum[lane]);
            const Index i = group.first + lane;
            const double sink = sink_of(h);  // sink + far is rounded in max
            const bool of_sink = state.max[lane] == static_cast<float>(sink + far(h, i));
            const double level = of_sink ? sink : static_cast<double>(state.max[lane]) - far(h, i);
            out_.logsumexp(b, h, i, 0) =
                static_cast<float>((level + std::log2(sum)) * std::numbers::ln2);
            out_.row_max(b, h, i, 0) = state.max[lane];
            out_.row_log2_sum(b, h, i, 0) = static_cast<float>(std::log2(sum));
            state.max[lane] =
                sum == 0.0 ? no_weight(mask, group.first + lane) : static_cast<float>(1.0 / sum);
        }
        transpose({state.ot, size_.d_v, group.count, lanes_}, state.max,
                  out_.context.matrix(b, h).row_block(group.first, group.count));
    }

    /// What multiplies the zeros of a row whose weights sum to 0: a row that the mask left empty follows
    /// the policy; allowed scores that are all −inf are 0/0.
    float no_weight(const PairMask& mask, Index i) const {
        const bool zero = spec_.empty_rows == EmptyRows::zero && mask.allowed_keys(i) == 0;
        return zero ? 0.0F : std::numeric_limits<float>::quiet_NaN();
    }

    const AttentionSpec& spec_;
    const Dimensions& size_;
    const Tensor& sinks_;
    const HeadTensors& in_;
    ForwardResult& out_;
    const RunControl& control_;
    Index lanes_;
    Index task_groups_;
    Index tasks_;
    bool pairwise_;
    std::vector<float> factors_;  // factor · log2 e, once a column of Q
    std::vector<Scratch> scratch_;
};

}  // namespace

std::optional<ForwardResult> attend_fused(const Call& call, const HeadTensors& in,
                                          const RunControl& control) {
    const Dimensions& size = call.size();
    const Shape rows{size.batch, size.heads, size.tq, 1};
    ForwardResult out;
    out.context = Tensor::uninitialised(stage_shape(Stage::context, size, call.spec()));
    for (Tensor* each : {&out.logsumexp, &out.row_max, &out.row_log2_sum})
        *each = Tensor::uninitialised(rows);
    const bool finished = ForwardRun(call, in, out, control).run();
    if (!finished || control.stop.stop_requested()) return std::nullopt;
    return out;
}

}  // namespace attn
