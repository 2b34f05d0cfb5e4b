// b batch entry, g key/value head, h query head, i query, j key, c column; a row is a query of one of the heads that share
// g. A task is one key/value head against a part of its keys, for all its rows.

#include "core/kernels/fused_drive_few.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/dropout.h"
#include "core/engine.h"
#include "core/kernels/fused_buffers.h"
#include "core/kernels/fused_few.h"
#include "core/kernels/fused_row_ends.h"
#include "core/rounding.h"
#include "core/spec_arrays.h"
#include "core/threads.h"

namespace attn {
namespace {

// So many tasks keep many threads busy to the end; no part so short that its beginning counts, and not so many that what
// is joined grows past the second-level cache.
constexpr Index kTasks = 128;
constexpr Index kLeastPartKeys = 512;
constexpr Index kMostJoinedFloats = Index{1} << 20;

/// The number of parts of one head's keys: by the sizes alone, so that no result depends on the threads.
Index parts_of(const Dimensions& size) {
    const Index joined = size.batch * size.heads * size.tq * few_width(size.d_v);
    const Index most = std::min(kTasks / (size.batch * size.kv_heads), kMostJoinedFloats / joined);
    return std::clamp<Index>(most, 1, divide_up(size.tk, kLeastPartKeys));
}

/// What one thread works in. [rows, …] each.
struct Scratch {
    float* q = nullptr;
    float* p = nullptr;
    float* allow = nullptr;
    float* keep = nullptr;
    float* bias = nullptr;
    float* slope = nullptr;
    float* distance = nullptr;
};

/// One part of one key/value head.
struct Part {
    Index b = 0;
    Index g = 0;
    QueryGroup queries;
    KeyRange keys;
    FewRows rows;
    Scratch scratch;
};

class FewRun : private FusedRun {
  public:
    FewRun(const Call& call, const HeadTensors& in, ForwardResult& out, const RunControl& control)
        : FusedRun(call, in, out, control),
          sharing_(size_.heads / size_.kv_heads),
          rows_(sharing_ * size_.tq),
          parts_(parts_of(size_)),
          factor_(static_cast<float>(score_factor(spec_, size_.d_k) * std::numbers::log2e)) {
        const Index heads = size_.batch * size_.kv_heads;
        const Index each = Carve::rounded(rows_ * few_width(size_.d_v)) + 2 * Carve::rounded(rows_);
        Carve carve(joined_, heads * parts_ * each);
        for (Index n = 0; n < heads * parts_; ++n)
            states_.push_back({.rows = rows_,
                               .o = carve.next(rows_ * few_width(size_.d_v)),
                               .max = carve.next(rows_),
                               .sum = carve.next(rows_)});
    }

    bool run() {
        const Index heads = size_.batch * size_.kv_heads;
        return parallel_for(heads * parts_, control_,
                            [&](Index n, int) { part_task(n / parts_, n % parts_); }) &&
               parallel_for(heads, {control_.stop, {}}, [&](Index head, int) { join(head); });
    }

  private:
    Index head_of(Index g, Index row) const { return g * sharing_ + row / size_.tq; }
    Index query_of(Index row) const { return row % size_.tq; }

    void part_task(Index head, Index n) {
        Part part;
        part.b = head / size_.kv_heads;
        part.g = head % size_.kv_heads;
        const PairMask mask(spec_, size_, part.b, part.g * sharing_, false);
        part.queries = mask.group(0, size_.tq);
        const KeyRange any = part.queries.any;
        const Index length = round_up(divide_up(any.end - any.begin, parts_), kFewKeys);
        part.keys = {std::min(any.begin + n * length, any.end),
                     std::min(any.begin + (n + 1) * length, any.end)};
        part.rows = states_[head * parts_ + n];
        CachedFloats floats;
        lay_out(floats, part);
        start(part, n == 0);
        attend(part, false);
        if (all_finite({part.rows.o, static_cast<std::size_t>(o_floats())})) return;
        // Sums of a large V leave float32's range: weights are lifted. 0 · NaN of a forbidden pair does not count: the pairs
        // are taken one by one.
        part.rows.lift = states_[head * parts_ + n].lift = lift_of(size_.tk);
        start(part, n == 0);
        attend(part, spec_.mask.any());
    }

    Index o_floats() const { return rows_ * few_width(size_.d_v); }

    void lay_out(CachedFloats& floats, Part& part) const {
        const Index q = rows_ * few_width(size_.d_k);
        const Index pairs = rows_ * kFewKeys;
        Carve carve(*floats,
                    Carve::rounded(q) + 4 * Carve::rounded(pairs) + 2 * Carve::rounded(rows_));
        part.scratch = {carve.next(q),     carve.next(pairs), carve.next(pairs), carve.next(pairs),
                        carve.next(pairs), carve.next(rows_), carve.next(rows_)};
        part.rows.q = part.scratch.q;
        part.rows.slope = spec_.alibi ? part.scratch.slope : nullptr;
        part.rows.distance = part.scratch.distance;
        for (Index row = 0; row < rows_; ++row) {
            const Index h = head_of(part.g, row);
            const auto from = in_.q.matrix(part.b, h).row(query_of(row));
            float* const to = part.scratch.q + row * few_width(size_.d_k);
            std::ranges::transform(from, to, [&](float each) { return each * factor_; });
            std::fill(to + size_.d_k, to + few_width(size_.d_k), 0.0F);
            part.scratch.slope[row] =
                static_cast<float>(pair_rule(spec_, size_, h).slope * std::numbers::log2e);
        }
    }

    void start(const Part& part, bool first) const {
        std::fill_n(part.rows.o, o_floats(), 0.0F);
        for (Index row = 0; row < rows_; ++row) {
            const auto begin =
                first ? start_row(head_of(part.g, row), query_of(row), part.rows.lift) : Start{};
            part.rows.max[row] = begin.max;
            part.rows.sum[row] = begin.sum;
        }
    }

    void attend(const Part& part, bool pairwise) const {
        for (Index j = part.keys.begin; j < part.keys.end; j += kFewKeys) {
            if (control_.stop.stop_requested()) return;
            const KeyRange keys{j, std::min(j + kFewKeys, part.keys.end)};
            if (part.queries.attends(keys)) attend_block(part, keys, pairwise);
        }
    }

    void attend_block(const Part& part, KeyRange keys, bool pairwise) const {
        const bool whole = keys.begin >= part.queries.all.begin &&
                           keys.end <= part.queries.all.end &&
                           !(pairwise && spec_.mask.bias_forbids());
        for (Index row = 0; row < rows_; ++row) fill_row(part, keys, row, whole);
        attend_few({.k = in_.k.matrix(part.b, part.g).row(keys.begin).data(),
                    .v = in_.v.matrix(part.b, part.g).row(keys.begin).data(),
                    .keys = keys.end - keys.begin,
                    .d_k = size_.d_k,
                    .d_v = size_.d_v,
                    .following = std::min(part.keys.end - keys.end, kFewKeys),
                    .allow = whole ? nullptr : part.scratch.allow,
                    .keep = spec_.drops() ? part.scratch.keep : nullptr,
                    .bias = spec_.mask.bias ? part.scratch.bias : nullptr,
                    .bias_first = spec_.bias_before_softcap,
                    .cap = static_cast<float>(spec_.softcap.value_or(0.0) * std::numbers::log2e),
                    .pairwise = pairwise},
                   part.rows, part.scratch.p);
    }

    /// What the row's pairs with the keys need besides their product.
    void fill_row(const Part& part, KeyRange keys, Index row, bool whole) const {
        const Index h = head_of(part.g, row);
        const Index i = query_of(row);
        part.scratch.distance[row] =
            static_cast<float>(near_position(i + size_.query_offset, size_).position - keys.begin);
        if (!whole)
            PairMask(spec_, size_, part.b, h, false)
                .fill_row(part.queries, i, keys, part.scratch.allow + row * kFewKeys);
        if (spec_.mask.bias) {
            const auto from = broadcast_row(spec_.mask.bias->values, part.b, h, i);
            float* const to = part.scratch.bias + row * kFewKeys;
            if (from.size() == 1)
                std::fill_n(to, keys.end - keys.begin, from[0]);
            else
                std::copy(from.begin() + keys.begin, from.begin() + keys.end, to);
        }
        for (Index j = keys.begin; j < keys.end && spec_.drops(); ++j)
            part.scratch.keep[row * kFewKeys + j - keys.begin] =
                static_cast<float>(dropout_factor(spec_, size_, part.b, h, i, j));
    }

    /// The parts of one key/value head, one after the other.
    void join(Index head) {
        const Index b = head / size_.kv_heads;
        const Index g = head % size_.kv_heads;
        const std::span<const FewRows> parts(states_.data() + head * parts_,
                                             static_cast<std::size_t>(parts_));
        for (Index row = 0; row < rows_; ++row) {
            const Index h = head_of(g, row);
            const Index i = query_of(row);
            float max = parts[0].max[row];
            for (const FewRows& part : parts) max = std::max(max, part.max[row]);
            const auto share = [&](const FewRows& part) { return std::exp2(part.max[row] - max); };
            double sum = 0.0;
            for (const FewRows& part : parts)
                sum += static_cast<double>(part.sum[row]) * static_cast<double>(share(part));
            const float factor =
                finish_row(PairMask(spec_, size_, b, h, false), b, h, i, max, sum, parts[0].lift);
            const std::span<float> to = out_.context.matrix(b, h).row(i);
            std::ranges::fill(to, 0.0F);
            for (const FewRows& part : parts)
                add(part.o + row * few_width(size_.d_v), share(part) * factor, to);
        }
    }

    static void add(const float* from, float factor, std::span<float> to) {
        for (std::size_t c = 0; c < to.size(); ++c) to[c] += from[c] * factor;
    }

    Index sharing_;
    Index rows_;
    Index parts_;
    float factor_;  // · log2 e
    AlignedFloats joined_;
    std::vector<FewRows> states_;  // [B, Hkv, parts]
};

}  // namespace

bool has_few_queries(const Dimensions& size) { return size.tq <= query_group_lanes() / 2; }

std::optional<ForwardResult> attend_few_queries(const Call& call, const HeadTensors& in,
                                                const RunControl& control) {
    return forward_result<FewRun>(call, in, control);
}

}  // namespace attn
