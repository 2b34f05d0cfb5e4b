// B batch, H query heads; b batch entry, h query head, g its key/value head, i query row, j key row.
// G queries make a group, some groups a task: tasks go to threads, and inside a task each block of
// keys meets every group while it is in the second-level cache.

#include "core/kernels/fused_drive_forward.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/engine.h"
#include "core/kernels/bias_tiles.h"
#include "core/kernels/fused_buffers.h"
#include "core/kernels/fused_forward.h"
#include "core/kernels/fused_row_ends.h"
#include "core/rounding.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/threads.h"

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

/// What one task works in.
struct Scratch {
    std::vector<QueryGroup> groups;
    std::vector<GroupState> states;
    float* scores = nullptr;  // [kBlockKeys + kTileKeys, G]
    float* allow = nullptr;
    float* keep = nullptr;
    float* bias = nullptr;
    float* distance = nullptr;  // [G]
};

class ForwardRun : private FusedRun {
  public:
    ForwardRun(const Call& call, const HeadTensors& in, ForwardResult& out,
               const RunControl& control)
        : FusedRun(call, in, out, control),
          lanes_(query_group_lanes()),
          task_groups_(groups_per_task(size_, lanes_)),
          tasks_(divide_up(divide_up(size_.tq, lanes_), task_groups_)),
          pairwise_(spec_.mask.any() && !all_finite(in.v.values())),
          bias_(spec_, size_),
          factors_(static_cast<std::size_t>(size_.d_k),
                   static_cast<float>(score_factor(spec_, size_.d_k) * std::numbers::log2e)) {}

    bool run() {
        if (!bias_.pack(control_)) return false;
        const Index heads = size_.batch * size_.heads;
        return parallel_for(heads * tasks_, control_, [&](Index n, int) {
            // Head by head, so that threads share its keys and values in the cache (3 % at T = 2048). The longest first:
            // under a causal mask the last queries have the most keys.
            const Index head = n / tasks_, task = tasks_ - 1 - n % tasks_;
            head_task(head / size_.heads, head % size_.heads, task);
        });
    }

  private:
    void head_task(Index b, Index h, Index task) {
        const PairMask mask(spec_, size_, b, h, pairwise_);
        const Index first = task * task_groups_ * lanes_;
        const Index end = std::min(first + task_groups_ * lanes_, size_.tq);
        CachedFloats floats;
        Scratch scratch = lay_out(*floats);
        for (Index i = first; i < end; i += lanes_)
            scratch.groups.push_back(mask.group(i, std::min(lanes_, end - i)));
        for (std::size_t n = 0; n < scratch.groups.size(); ++n)
            start(b, h, scratch.groups[n], scratch.states[n]);
        if (!attend(b, h, mask, scratch) || !attend_lifted(b, h, mask, scratch)) return;
        for (std::size_t n = 0; n < scratch.groups.size(); ++n)
            finish(b, h, mask, scratch.groups[n], scratch.states[n]);
    }

    /// Once more the groups whose sums of a large V left float32's range. False when it was stopped.
    bool attend_lifted(Index b, Index h, const PairMask& mask, Scratch& scratch) const {
        std::vector<std::size_t> beyond;
        for (std::size_t n = 0; n < scratch.groups.size(); ++n)
            if (!is_finite(scratch.states[n].ot, padded_d_v() * lanes_)) beyond.push_back(n);
        if (beyond.empty()) return true;
        Scratch again = scratch;
        again.groups.clear(), again.states.clear();
        for (const std::size_t n : beyond) {
            GroupState& state = scratch.states[n];
            state.lift = lift_of(size_.tk);
            start(b, h, scratch.groups[n], state);
            again.groups.push_back(scratch.groups[n]);
            again.states.push_back(state);
        }
        return attend(b, h, mask, again);
    }

    Index padded_d_v() const { return divide_up(size_.d_v, kTileKeys) * kTileKeys; }

    Scratch lay_out(AlignedFloats& floats) const {
        const Index tile = (kBlockKeys + kTileKeys) * lanes_;
        const Index state = Carve::rounded(size_.d_k * lanes_) +
                            Carve::rounded(padded_d_v() * lanes_) + 2 * Carve::rounded(lanes_);
        Carve carve(floats,
                    4 * Carve::rounded(tile) + Carve::rounded(lanes_) + task_groups_ * state);
        Scratch scratch;
        scratch.scores = carve.next(tile);
        scratch.allow = carve.next(tile);
        scratch.keep = carve.next(tile);
        scratch.bias = carve.next(tile);
        scratch.distance = carve.next(lanes_);
        for (Index n = 0; n < task_groups_; ++n)
            scratch.states.push_back({carve.next(size_.d_k * lanes_),
                                      carve.next(padded_d_v() * lanes_), carve.next(lanes_),
                                      carve.next(lanes_)});
        return scratch;
    }

    void start(Index b, Index h, const QueryGroup& group, const GroupState& state) const {
        const auto q = in_.q.matrix(b, h);
        if (group.count < lanes_) std::fill_n(state.qt, size_.d_k * lanes_, 0.0F);
        transpose(q.row_block(group.first, group.count), factors_.data(),
                  {state.qt, size_.d_k, group.count, lanes_});
        std::fill_n(state.ot, padded_d_v() * lanes_, 0.0F);
        for (Index lane = 0; lane < lanes_; ++lane) {
            const auto begin = start_row(h, group.first + lane, state.lift);
            state.max[lane] = begin.max;
            state.sum[lane] = begin.sum;
        }
    }

    /// Every block of keys that some group attends to. False when it was stopped.
    bool attend(Index b, Index h, const PairMask& mask, Scratch& scratch) const {
        KeyRange keys{size_.tk, 0};
        for (const QueryGroup& group : scratch.groups)
            if (group.any.begin < group.any.end)
                keys = {std::min(keys.begin, group.any.begin), std::max(keys.end, group.any.end)};
        // Blocks begin where they would for any other task, so that sums do not depend on how many tasks there are.
        for (Index j = keys.begin / kBlockKeys * kBlockKeys; j < keys.end; j += kBlockKeys) {
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
        KeyBlock block{.k = in_.k.matrix(b, g).row(part.begin).data(),
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
                       .pairwise = pairwise_};
        bias_.set(b, h, group, part, scratch.bias, block);
        attend_block(block, state, scratch.scores);
    }

    void finish(Index b, Index h, const PairMask& mask, const QueryGroup& group,
                const GroupState& state) {
        for (Index lane = 0; lane < group.count; ++lane)
            state.max[lane] = finish_row(mask, b, h, group.first + lane, state.max[lane],
                                         static_cast<double>(state.sum[lane]), state.lift);
        transpose({state.ot, size_.d_v, group.count, lanes_}, state.max,
                  out_.context.matrix(b, h).row_block(group.first, group.count));
    }

    Index lanes_;
    Index task_groups_;
    Index tasks_;
    bool pairwise_;
    BiasTiles bias_;
    std::vector<float> factors_;  // factor · log2 e, once a column of Q
};

}  // namespace

std::optional<ForwardResult> attend_fused(const Call& call, const HeadTensors& in,
                                          const RunControl& control) {
    return forward_result<ForwardRun>(call, in, control);
}

}  // namespace attn
