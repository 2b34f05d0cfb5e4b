// b batch entry, h query head, i query row, j key column.

#include "core/kernels/pair_mask.h"

#include <algorithm>

#include "core/bias.h"
#include "core/dropout.h"

namespace attn {
namespace {

bool is_empty(KeyRange keys) { return keys.begin >= keys.end; }

/// The smallest run that holds both.
KeyRange hull(KeyRange a, KeyRange b) {
    if (is_empty(a)) return b;
    if (is_empty(b)) return a;
    return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

KeyRange overlap(KeyRange a, KeyRange b) {
    return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

}  // namespace

QueryGroup PairMask::group(Index first, Index count) const {
    QueryGroup group;
    group.first = first;
    group.count = count;
    set_ranges(group);
    return group;
}

QueryGroup PairMask::group(std::span<const Index> queries) const {
    QueryGroup group;
    group.count = static_cast<Index>(queries.size());
    group.listed.assign(queries.begin(), queries.end());
    set_ranges(group);
    return group;
}

void PairMask::set_ranges(QueryGroup& group) const {
    group.all = {0, size_.tk};
    group.rows.reserve(group.count);
    KeyRange low;  // the first runs of rows that have two, and all else
    KeyRange high;
    for (Index lane = 0; lane < group.count; ++lane) {
        const Index i = group.query(lane);
        group.rows.push_back(i < 0 ? KeyRuns{} : key_runs(spec_.mask, size_, b_, i));
        const KeyRuns& row = group.rows.back();
        const KeyRange main = row.split() ? row.second : row.first;
        if (row.split()) low = hull(low, row.first);
        high = hull(high, main);
        group.all = overlap(group.all, main);
    }
    group.any = hull(low, high);
    if (!is_empty(low) && low.end < high.begin) group.none = {low.end, high.begin};
    if (every_tile_ || spec_.mask.custom || is_empty(group.all)) group.all = {0, 0};
}

Index PairMask::allowed_keys(Index i) const {
    std::vector<std::uint8_t> allowed(size_.tk);
    return fill_allowed(spec_.mask, size_, b_, h_, i, allowed);
}

void PairMask::fill(const QueryGroup& group, KeyRange keys, Index tile, Index lanes,
                    float* allow) const {
    for (Index begin = keys.begin; begin < keys.end; begin += tile) {
        const Index end = std::min(begin + tile, keys.end);
        if (begin >= group.all.begin && end <= group.all.end) continue;
        for (Index j = begin; j < end; ++j)
            fill_key(group, j, lanes, allow + (j - keys.begin) * lanes);
    }
    if (spec_.mask.custom) forbid_custom(group, keys, lanes, allow);
    if (every_tile_ && spec_.mask.bias_forbids()) forbid_by_bias(group, keys, lanes, allow);
}

void PairMask::fill_key(const QueryGroup& group, Index j, Index lanes, float* allow) const {
    for (std::size_t lane = 0; lane < group.rows.size(); ++lane) {
        allow[lane] = group.rows[lane].contains(j) ? 1.0F : 0.0F;
    }
    std::fill(allow + group.count, allow + lanes, 0.0F);
}

void PairMask::forbid_custom(const QueryGroup& group, KeyRange keys, Index lanes,
                             float* allow) const {
    for (Index lane = 0; lane < group.count; ++lane) {
        const Index i = group.query(lane);
        if (i < 0) continue;
        const auto row = broadcast_row(*spec_.mask.custom, b_, h_, i);
        for (Index j = keys.begin; j < keys.end; ++j)
            if (row[row.size() == 1 ? 0 : static_cast<std::size_t>(j)] == 0)
                allow[(j - keys.begin) * lanes + lane] = 0.0F;
    }
}

void PairMask::forbid_by_bias(const QueryGroup& group, KeyRange keys, Index lanes,
                              float* allow) const {
    for (Index lane = 0; lane < group.count; ++lane)
        for (Index j = keys.begin; j < keys.end && group.query(lane) >= 0; ++j)
            if (bias_at(spec_.mask, b_, h_, group.query(lane), j) == kForbidding)
                allow[(j - keys.begin) * lanes + lane] = 0.0F;
}

void PairMask::fill_row(const QueryGroup& group, Index lane, KeyRange keys, float* allow) const {
    const KeyRuns& runs = group.rows[lane];
    for (Index j = keys.begin; j < keys.end; ++j)
        allow[j - keys.begin] = runs.contains(j) ? 1.0F : 0.0F;
    for (Index j = keys.begin; j < keys.end && spec_.mask.bias_forbids(); ++j)
        if (bias_at(spec_.mask, b_, h_, group.query(lane), j) == kForbidding)
            allow[j - keys.begin] = 0.0F;
    if (!spec_.mask.custom) return;
    const auto row = broadcast_row(*spec_.mask.custom, b_, h_, group.query(lane));
    for (Index j = keys.begin; j < keys.end; ++j)
        if (row[row.size() == 1 ? 0 : static_cast<std::size_t>(j)] == 0)
            allow[j - keys.begin] = 0.0F;
}

void PairMask::fill_dropout(const QueryGroup& group, KeyRange keys, Index lanes,
                            float* keep) const {
    for (Index j = keys.begin; j < keys.end; ++j)
        for (Index lane = 0; lane < lanes; ++lane)
            keep[(j - keys.begin) * lanes + lane] =
                lane < group.count
                    ? static_cast<float>(dropout_factor(spec_, size_, b_, h_, group.query(lane), j))
                    : 0.0F;
}

}  // namespace attn
