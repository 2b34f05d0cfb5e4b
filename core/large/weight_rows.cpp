// S scores in units of log2, L logsumexp of a row, a weight; a "run" is pool_keys keys, a "group" is
// G = query_group_lanes() rows side by side.

#include "core/large/weight_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>

#include "core/large/query_lanes.h"
#include "core/large/row_pool.h"
#include "core/large/texel_sums.h"
#include "core/large/weight_cells.h"
#include "core/rounding.h"

namespace attn::large {
namespace {

// So many rows share a block of keys: 192 are whole groups on every instruction set, and whole texels of 32
// and 64.
constexpr Index kStripRows = 192;
// Records of a strip, 12 or 16 bytes a row and run. Beyond this a strip has fewer rows.
constexpr Index kMostRecordFloats = Index{16} << 20;
// Shorter runs leave more bytes of records than a second pass over the keys would cost time.
constexpr Index kLeastRun = 8;

}  // namespace

/// One pass over the keys for some rows at a time.
class RowPass {
  public:
    RowPass(const WeightSource& source, Head head, std::span<const Index> rows, Index pool_rows,
            Index pool_keys, PooledRows& out, const HeldRows* held = nullptr)
        : tk_(source.size.tk),
          rows_(rows),
          pool_rows_(pool_rows),
          run_(pool_keys),
          lanes_(query_group_lanes()),
          fields_(record_fields(source.spec.mask.any())),
          sink_(sink_of(source, head)),
          record_floats_(divide_up(tk_, run_) * fields_ * lanes_),
          most_groups_(std::clamp<Index>(kMostRecordFloats / record_floats_, 1,
                                         divide_up(kStripRows, lanes_))),
          queries_(source, head, most_groups_, held),
          listed_(static_cast<std::size_t>(lanes_)),
          texel_rows_(listed_.size()),
          out_(out) {
        const Index totals = Carve::rounded(most_groups_ * lanes_);
        Carve carve(floats_, 2 * totals + Carve::rounded(lanes_) +
                                 Carve::rounded(pool_scratch(kBlockKeys)) +
                                 most_groups_ * record_floats_);
        max_ = carve.next(most_groups_ * lanes_);
        sum_ = carve.next(most_groups_ * lanes_);
        logsumexp_ = carve.next(lanes_);
        scratch_ = carve.next(pool_scratch(kBlockKeys));
        records_ = carve.next(most_groups_ * record_floats_);
    }

    /// So many of the rows at a time.
    Index space() const { return most_groups_ * lanes_; }

    /// Entries `first` … of the rows, room() of them or what is left.
    void start(Index first) {
        first_ = first;
        count_ =
            std::min(most_groups_, divide_up(static_cast<Index>(rows_.size()) - first, lanes_));
        for (Index g = 0; g < count_; ++g) start_group(g, first + g * lanes_);
    }
    /// Keys that any of them attends to.
    KeyRange keys() const { return queries_.any(count_); }
    /// The next keys, whole blocks of block_keys() but for the last.
    bool add(KeyRange keys, const std::stop_token& stop) {
        const Index step = block_keys(run_);
        for (Index j = keys.begin / step * step; j < keys.end; j += step) {
            if (stop.stop_requested()) return false;
            for (Index g = 0; g < count_; ++g) add_block(g, j, j + step);
        }
        return true;
    }
    void finish() {
        for (Index g = 0; g < count_; ++g) finish_group(g, first_ + g * lanes_);
    }

  private:
    RunRecords records(Index g) const {
        return {records_ + g * record_floats_, fields_, queries_.group(g).any.begin};
    }

    /// Group `g` begins at entry `first` of the rows; lanes past the last repeat it.
    void start_group(Index g, Index first) {
        const auto last = static_cast<Index>(rows_.size()) - 1;
        for (Index lane = 0; lane < lanes_; ++lane)
            listed_[lane] = rows_[std::min(first + lane, last)];
        queries_.set(g, listed_);
        // A sink is what a key before the first would have left.
        const bool sink = sink_ != -std::numeric_limits<double>::infinity();
        for (Index lane = 0; lane < lanes_; ++lane)
            max_[g * lanes_ + lane] =
                sink ? static_cast<float>(sink_ * std::numbers::log2e + queries_.far(listed_[lane]))
                     : std::numeric_limits<float>::lowest();
        std::fill_n(sum_ + g * lanes_, lanes_, sink ? 1.0F : 0.0F);
        const KeyRange gap = queries_.group(g).none;
        if (gap.begin < gap.end) empty_records(g);
    }

    /// Blocks in a gap of the mask are passed over and leave no record.
    void empty_records(Index g) {
        float* const first = records(g).data;
        std::fill_n(first, record_floats_, 0.0F);
        for (Index at = kMax * lanes_; at < record_floats_; at += fields_ * lanes_)
            std::fill_n(first + at, lanes_, std::numeric_limits<float>::lowest());
    }

    /// Keys begin … end − 1, one block of them, for group `g`.
    void add_block(Index g, Index begin, Index end) {
        const KeyRange any = queries_.group(g).any;
        const KeyRange part{std::max(begin, any.begin), std::min(end, any.end)};
        if (queries_.group(g).attends(part))
            record_runs(queries_.block(g, part, 0, run_), records(g),
                        {max_ + g * lanes_, sum_ + g * lanes_}, scratch_);
    }

    /// L of each row of a group, and its records joined into texels.
    void finish_group(Index g, Index first) {
        const auto count = static_cast<Index>(rows_.size());
        for (Index lane = 0; lane < lanes_; ++lane) {
            const Index n = first + lane;
            const double l = static_cast<double>(max_[g * lanes_ + lane]) +
                             std::log2(static_cast<double>(sum_[g * lanes_ + lane]));
            logsumexp_[lane] =
                std::isfinite(l) ? static_cast<float>(l) : std::numeric_limits<float>::quiet_NaN();
            texel_rows_[lane] = n < count ? n / pool_rows_ : -1;
            if (n < count) out_.logsumexp[n] = static_cast<float>(l * std::numbers::ln2);
        }
        const KeyRange any = queries_.group(g).any;
        Texels& texels = out_.texels;
        join_runs({.records = records(g),
                   .begin = any.begin / run_,
                   .end = divide_up(any.end, run_),
                   .run = run_,
                   .keys = tk_,
                   .logsumexp = logsumexp_,
                   .texel_rows = texel_rows_.data()},
                  {.sum = texels.mean.data(),
                   .max = texels.max.data(),
                   .log = texels.log_mean.data(),
                   .allowed = texels.allowed.empty() ? nullptr : texels.allowed.data(),
                   .stride = texels.columns});
    }

    Index tk_;
    std::span<const Index> rows_;
    Index pool_rows_;
    Index run_;
    Index lanes_;
    Index fields_;
    double sink_;          // its logit, −inf: none
    Index record_floats_;  // of one group
    Index most_groups_;
    QueryLanes queries_;
    Index first_ = 0;  // entry of the rows
    Index count_ = 0;  // groups that were started
    std::vector<Index> listed_;
    std::vector<Index> texel_rows_;
    PooledRows& out_;
    AlignedFloats floats_;
    float* max_ = nullptr;        // [groups, G]
    float* sum_ = nullptr;        // [groups, G]
    float* logsumexp_ = nullptr;  // [G] of the group that is being finished
    float* scratch_ = nullptr;
    float* records_ = nullptr;
};

Index strip_rows(Index pool_rows) {
    const Index whole = std::lcm(query_group_lanes(), pool_rows);
    const Index unit = whole <= 2 * kStripRows ? whole : pool_rows;
    return divide_up(kStripRows, unit) * unit;
}

bool pool_rows(const WeightSource& source, Head head, std::span<const Index> rows, Index pool_rows,
               Index pool_keys, const std::stop_token& stop, PooledRows& out) {
    const auto count = static_cast<Index>(rows.size());
    const Index tk = source.size.tk;
    out.logsumexp.resize(rows.size());
    if (pool_keys < kLeastRun && pool_keys < tk) {
        PooledRows known;
        if (!large::pool_rows(source, head, rows, count, kBlockKeys, stop, known)) return false;
        out.logsumexp = std::move(known.logsumexp);
        return pool_listed(source, head, {rows, out.logsumexp, {0, tk}, pool_rows, pool_keys}, stop,
                           out.texels);
    }
    start_texels(divide_up(count, pool_rows), divide_up(tk, pool_keys), source.spec.mask.any(),
                 out.texels);
    RowPass pass(source, head, rows, pool_rows, pool_keys, out);
    for (Index first = 0; first < count; first += pass.space()) {
        pass.start(first);
        if (!pass.add(pass.keys(), stop)) return false;
        pass.finish();
    }
    finish_texels({count, tk, pool_rows, pool_keys}, out.texels);
    spread_empty_rows(source, head, rows, out.logsumexp, pool_rows, out.texels);
    return true;
}

struct RowPool::Work {
    Work(const WeightSource& from, Head of, const HeldRows& held, std::span<const Index> listed,
         Index side)
        : source(from), head(of), rows(listed.begin(), listed.end()), pool(side) {
        const auto count = static_cast<Index>(rows.size());
        out.logsumexp.resize(rows.size());
        start_texels(divide_up(count, pool), divide_up(source.size.tk, pool),
                     source.spec.mask.any(), out.texels);
        for (Index first = 0; first < count; first += passes.back()->space()) {
            passes.push_back(std::make_unique<RowPass>(source, head, rows, pool, pool, out, &held));
            passes.back()->start(first);
        }
    }

    const WeightSource& source;
    Head head;
    std::vector<Index> rows;
    Index pool;
    PooledRows out;
    std::vector<std::unique_ptr<RowPass>> passes;
};

RowPool::RowPool(const WeightSource& source, Head head, const HeldRows& held,
                 std::span<const Index> rows, Index pool)
    : work_(std::make_unique<Work>(source, head, held, rows, pool)) {}
RowPool::RowPool(RowPool&&) noexcept = default;
RowPool::~RowPool() = default;

void RowPool::add(KeyRange keys) {
    for (const auto& pass : work_->passes) {
        const KeyRange wanted = pass->keys();
        const KeyRange part{std::max(keys.begin, wanted.begin), std::min(keys.end, wanted.end)};
        if (part.begin < part.end) pass->add(part, {});
    }
}

PooledRows RowPool::finish() {
    for (const auto& pass : work_->passes) pass->finish();
    const auto count = static_cast<Index>(work_->rows.size());
    PooledRows& out = work_->out;
    finish_texels({count, work_->source.size.tk, work_->pool, work_->pool}, out.texels);
    spread_empty_rows(work_->source, work_->head, work_->rows, out.logsumexp, work_->pool,
                      out.texels);
    return std::move(out);
}

bool RowPool::takes(Index pool, const Dimensions& size) {
    return pool >= kLeastRun || pool >= size.tk;
}

}  // namespace attn::large
