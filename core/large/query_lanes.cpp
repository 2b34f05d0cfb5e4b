#include "core/large/query_lanes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/masks.h"
#include "core/spec_arrays.h"

namespace attn::large {

Index block_keys(Index run) { return run <= kBlockKeys ? kBlockKeys / run * run : kBlockKeys; }

QueryLanes::QueryLanes(const WeightSource& source, Head head, Index groups, const HeldRows* held)
    : source_(source),
      held_(held),
      size_(source.size),
      head_(head),
      mask_(source.spec, source.size, head.b, head.h, source.spec.mask.bias_forbids()),
      finish_(finish_of(source, head)),
      lanes_(query_group_lanes()),
      groups_(static_cast<std::size_t>(groups)),
      factors_(static_cast<std::size_t>(size_.d_k),
               static_cast<float>(finish_.factor * std::numbers::log2e)),
      rows_(static_cast<std::size_t>(lanes_ * size_.d_k)),
      shifts_(static_cast<std::size_t>(groups * lanes_)) {
    const Index allow = Carve::rounded(kBlockKeys * lanes_);
    const Index bias = finish_.mask == nullptr ? 0 : allow;
    Carve carve(floats_, groups * Carve::rounded(size_.d_k * lanes_) + allow + bias +
                             Carve::rounded(lanes_));
    qt_ = carve.next(groups * Carve::rounded(size_.d_k * lanes_));
    allow_ = carve.next(allow);
    distance_ = carve.next(lanes_);
    if (bias > 0) bias_ = carve.next(bias);
}

const float* QueryLanes::query_row(Index i) const {
    if (held_ != nullptr) return held_->q + (i - held_->first_query) * size_.d_k;
    return source_.q->matrix(head_.b, head_.h).row(i).data();
}

const float* QueryLanes::key_row(Index j) const {
    if (held_ != nullptr) return held_->k + (j - held_->first_key) * size_.d_k;
    const Index kv_head = head_.h / (size_.heads / size_.kv_heads);
    return source_.k->matrix(head_.b, kv_head).row(j).data();
}

void QueryLanes::set(Index g, std::span<const Index> queries) {
    constexpr double kAbsorbing =
        1e16;  // added to a bias of that size a score changes no double either
    for (std::size_t lane = 0; lane < queries.size(); ++lane) {
        float* to = rows_.data() + static_cast<Index>(lane) * size_.d_k;
        const double shift = bias_shift(queries[lane]);
        shifts_[static_cast<std::size_t>(g * lanes_) + lane] = static_cast<float>(shift);
        if (queries[lane] < 0 || std::abs(shift) > kAbsorbing)
            std::fill_n(to, size_.d_k, 0.0F);
        else
            std::copy_n(query_row(queries[lane]), size_.d_k, to);
    }
    transpose({rows_.data(), lanes_, size_.d_k, size_.d_k}, factors_.data(),
              {qt(g), size_.d_k, lanes_, lanes_});
    groups_[g] = mask_.group(queries);
}

/// The largest bias of the keys that the query attends to, where it is so large that float32 would lose the scores:
/// softmax does not see it. 0 where a cap bounds them.
double QueryLanes::bias_shift(Index query) const {
    constexpr float kLarge = 1024.0F;
    if (finish_.mask == nullptr || query < 0) return 0.0;
    if (finish_.rule.bias_first && finish_.rule.cap != 0.0) return 0.0;
    const std::span<const float> row =
        broadcast_row(finish_.mask->bias->values, head_.b, head_.h, query);
    const auto is_large = [](float each) { return std::isfinite(each) && std::abs(each) > kLarge; };
    if (std::ranges::none_of(row, is_large)) return 0.0;
    std::vector<std::uint8_t> allowed(static_cast<std::size_t>(size_.tk));
    fill_allowed(source_.spec.mask, size_, head_.b, head_.h, query, allowed);
    float most = -std::numeric_limits<float>::infinity();
    for (std::size_t j = 0; j < allowed.size(); ++j)
        if (allowed[j] != 0) most = std::max(most, row[row.size() == 1 ? 0 : j]);
    return is_large(most) ? static_cast<double>(most) : 0.0;
}

double QueryLanes::far(Index query) const {
    if (query < 0) return 0.0;
    const double near = finish_.rule.slope *
                        static_cast<double>(near_position(query + finish_.offset, size_).distance);
    return (near - bias_shift(query)) * std::numbers::log2e;
}

KeyRange QueryLanes::any(Index count) const {
    KeyRange keys{size_.tk, 0};
    for (Index g = 0; g < count; ++g)
        if (group(g).any.begin < group(g).any.end)
            keys = {std::min(keys.begin, group(g).any.begin), std::max(keys.end, group(g).any.end)};
    return keys;
}

/// A row of the bias for each lane, or one for all.
void QueryLanes::set_bias(Index g, KeyRange part, PoolBlock& block) {
    const QueryGroup& queries = group(g);
    const float* const shifts = shifts_.data() + g * lanes_;
    const Tensor& bias = finish_.mask->bias->values;
    block.bias = bias_;
    block.bias_first = finish_.rule.bias_first;
    const bool is_shifted = std::any_of(shifts, shifts + lanes_, [](float x) { return x != 0.0F; });
    block.bias_by_key = bias.shape().t == 1 && bias.shape().d > 1 && !is_shifted;
    const auto row_of = [&](Index i) { return broadcast_row(bias, head_.b, head_.h, i); };
    if (block.bias_by_key) {
        block.bias = row_of(0).data() + part.begin;
        return;
    }
    for (Index lane = 0; lane < lanes_; ++lane) {
        const Index query = queries.query(lane);
        const std::span<const float> row = row_of(std::max<Index>(query, 0));
        for (Index j = part.begin; j < part.end; ++j)
            bias_[(j - part.begin) * lanes_ + lane] =
                query < 0 ? 0.0F
                          : row[row.size() == 1 ? 0 : static_cast<std::size_t>(j)] - shifts[lane];
    }
}

PoolBlock QueryLanes::block(Index g, KeyRange part, Index origin, Index run) {
    const QueryGroup& queries = group(g);
    const Index keys = part.end - part.begin;
    const bool every_pair = part.begin >= queries.all.begin && part.end <= queries.all.end;
    // One tile as long as the block: the kernel wants all of it masked or nothing.
    if (!every_pair) mask_.fill(queries, part, keys, lanes_, allow_);
    for (Index lane = 0; lane < lanes_ && finish_.rule.slope != 0.0; ++lane)
        distance_[lane] = static_cast<float>(
            near_position(queries.query(lane) + finish_.offset, size_).position - part.begin);
    PoolBlock block{.qt = qt(g),
                    .k = key_row(part.begin),
                    .keys = keys,
                    .d_k = size_.d_k,
                    .allow = every_pair ? nullptr : allow_,
                    .first = part.begin - origin,
                    .run = run,
                    .cap = static_cast<float>(finish_.rule.cap * std::numbers::log2e),
                    .slope = static_cast<float>(finish_.rule.slope * std::numbers::log2e),
                    .distance = distance_};
    if (finish_.mask != nullptr) set_bias(g, part, block);
    return block;
}

}  // namespace attn::large
