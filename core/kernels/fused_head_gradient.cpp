// b batch entry, h query head, g its key/value head, i query row, j key row, c column; n group.

#include "core/kernels/fused_head_gradient.h"
#include "core/call.h"
#include "core/rounding.h"
#include "core/trace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace attn {
namespace {

constexpr Index kChunkQueries = 96;  // P and d_S of a chunk and a block: 36 KiB each
Index padded(Index width) { return round_up(width, kTileKeys); }

/// `to` += from · factor, row by row.
void add_rows(const float* from, Index stride, float factor, MatrixView<float> to) {
    for (Index j = 0; j < to.rows; ++j)
        for (Index c = 0; c < to.columns; ++c) to(j, c) += from[j * stride + c] * factor;
}

}  // namespace

HeadGradient::HeadGradient(const BackwardInputs& in, const BiasTiles& bias, bool pairwise)
    : in_(in),
      spec_(in.call.spec()),
      size_(in.call.size()),
      bias_(bias),
      pairwise_(pairwise),
      lanes_(query_group_lanes()),
      chunk_(std::max<Index>(kChunkQueries / lanes_, 1) * lanes_),
      factor_(static_cast<float>(score_factor(spec_, size_.d_k))),
      exponent_factors_(static_cast<std::size_t>(size_.d_k),
                        static_cast<float>(score_factor(spec_, size_.d_k) * std::numbers::log2e)),
      ones_(static_cast<std::size_t>(size_.d_v), 1.0F) {
    lay_out();
}

HeadGradient::Runs HeadGradient::runs_of(const Dimensions& size) {
    const Index lanes = query_group_lanes();
    const Index chunk = std::max<Index>(kChunkQueries / lanes, 1) * lanes;
    Runs runs;
    runs.groups = divide_up(size.tq, lanes);
    runs.d_k = size.d_k * lanes;
    runs.d_v = size.d_v * lanes;
    runs.d_q = padded(size.d_k) * lanes;
    runs.q_panels = panel_width(size.d_k) * size.tq;
    runs.d_o_panels = panel_width(size.d_v) * size.tq;
    runs.pairs = (kBlockKeys + kTileKeys) * chunk;
    runs.tile = (kBlockKeys + kTileKeys) * lanes;
    runs.k_sums = (kBlockKeys + kSumKeys) * panel_width(size.d_k);
    runs.v_sums = (kBlockKeys + kSumKeys) * panel_width(size.d_v);
    for (const Index once :
         {runs.q_panels, runs.d_o_panels, runs.pairs, runs.pairs, runs.tile, runs.tile, runs.tile,
          runs.tile, runs.tile, lanes, runs.k_sums, runs.v_sums})
        runs.total += Carve::rounded(once);
    for (const Index each : {runs.d_k, runs.d_v, runs.d_q, lanes, lanes, lanes})
        runs.total += runs.groups * Carve::rounded(each);
    return runs;
}

Index HeadGradient::working_floats(const Dimensions& size) { return runs_of(size).total; }

void HeadGradient::lay_out() {
    const Runs runs = runs_of(size_);
    Carve carve(floats_, runs.total);
    q_panels_ = carve.next(runs.q_panels);
    d_o_panels_ = carve.next(runs.d_o_panels);
    p_ = carve.next(runs.pairs);
    d_s_ = carve.next(runs.pairs);
    allow_ = carve.next(runs.tile);
    keep_ = carve.next(runs.tile);
    for (float** each : {&bias_tile_, &d_bias_tile_, &turned_tile_}) *each = carve.next(runs.tile);
    distance_ = carve.next(lanes_);
    k_sums_ = carve.next(runs.k_sums);
    v_sums_ = carve.next(runs.v_sums);
    for (Index n = 0; n < runs.groups; ++n)
        gradients_.push_back({carve.next(runs.d_k), carve.next(runs.d_v), carve.next(lanes_),
                              carve.next(lanes_), carve.next(lanes_), carve.next(runs.d_q)});
}

MatrixView<const float> HeadGradient::head_of(const Tensor& tensor) const {
    const bool shared = &tensor == &in_.heads.k || &tensor == &in_.heads.v;
    return tensor.matrix(b_, shared ? h_ / (size_.heads / size_.kv_heads) : h_);
}

void HeadGradient::start(Index b, Index h) {
    b_ = b;
    h_ = h;
    rule_ = pair_rule(spec_, size_, h);
    const PairMask mask(spec_, size_, b, h, pairwise_);
    groups_.clear();
    for (Index i = 0; i < size_.tq; i += lanes_)
        groups_.push_back(mask.group(i, std::min(lanes_, size_.tq - i)));
    for (std::size_t n = 0; n < groups_.size(); ++n) start_group(n);
    pack_panels(head_of(in_.heads.q).data, size_.tq, size_.d_k, q_panels_);
    pack_panels(head_of(in_.d_context).data, size_.tq, size_.d_v, d_o_panels_);
}

void HeadGradient::start_group(std::size_t n) {
    const QueryGroup& group = groups_[n];
    const GroupGradient& to = gradients_[n];
    const auto d_o = head_of(in_.d_context);
    const auto context = head_of(in_.forward[Stage::context]);
    if (group.count < lanes_) {
        std::fill_n(to.qt, size_.d_k * lanes_, 0.0F);
        std::fill_n(to.d_ot, size_.d_v * lanes_, 0.0F);
    }
    transpose(head_of(in_.heads.q).row_block(group.first, group.count), exponent_factors_.data(),
              {to.qt, size_.d_k, group.count, lanes_});
    transpose(d_o.row_block(group.first, group.count), ones_.data(),
              {to.d_ot, size_.d_v, group.count, lanes_});
    std::fill_n(to.d_qt, padded(size_.d_k) * lanes_, 0.0F);
    std::fill_n(to.max, lanes_, 0.0F);
    std::fill_n(to.log_sum, lanes_, 0.0F);
    std::fill_n(to.row_sum, lanes_, 0.0F);
    for (Index lane = 0; lane < group.count; ++lane) {
        const Index i = group.first + lane;
        // Every pair of an empty row is masked, so any number will do there.
        if (!is_empty_row(i)) {
            to.max[lane] = in_.forward.row_max(b_, h_, i, 0);
            to.log_sum[lane] = in_.forward.row_log2_sum(b_, h_, i, 0);
        }
        // NaN or inf of d_context makes every d_P of the row ±inf or NaN, and so every d_S = P (d_P − D) NaN.
        to.row_sum[lane] = all_finite(d_o.row(i)) ? product_as_d_p(d_o.row(i), context.row(i))
                                                  : std::numeric_limits<float>::quiet_NaN();
    }
}

/// Allowed scores that are all −inf are none: their weights are 0/0.
bool HeadGradient::is_empty_row(Index i) const {
    return in_.forward.logsumexp(b_, h_, i, 0) == -std::numeric_limits<float>::infinity() &&
           PairMask(spec_, size_, b_, h_, false).allowed_keys(i) == 0;
}

void HeadGradient::add_block(KeyRange block, MatrixView<float> d_k, MatrixView<float> d_v,
                             Tensor& d_bias) {
    const Index rows = kBlockKeys + kSumKeys;
    std::fill_n(k_sums_, rows * panel_width(size_.d_k), 0.0F);
    std::fill_n(v_sums_, rows * panel_width(size_.d_v), 0.0F);
    const auto chunk_groups = static_cast<std::size_t>(chunk_ / lanes_);
    for (std::size_t n = 0; n < groups_.size(); n += chunk_groups)
        add_chunk(block, n, std::min(n + chunk_groups, groups_.size()), d_bias);
    add_rows(k_sums_, panel_width(size_.d_k), factor_, d_k);
    add_rows(v_sums_, panel_width(size_.d_v), 1.0F, d_v);
}

/// Groups first … end − 1 against the block, from the first to the last that attends to any of it.
void HeadGradient::add_chunk(KeyRange block, std::size_t first, std::size_t end, Tensor& d_bias) {
    const auto misses = [&](std::size_t n) { return !groups_[n].attends(block); };
    while (first < end && misses(first)) ++first;
    while (first < end && misses(end - 1)) --end;
    if (first == end) return;
    for (std::size_t n = first; n < end; ++n)
        differentiate(block, n, static_cast<Index>(n - first) * lanes_, d_bias);
    const Index begin = groups_[first].first;
    if (!pairwise_) contract(block, begin, groups_[end - 1].first + groups_[end - 1].count - begin);
}

/// P and d_S of group n into columns `column` … of the chunk, 0 at keys that it does not attend to.
void HeadGradient::differentiate(KeyRange block, std::size_t n, Index column, Tensor& d_bias) {
    const PairMask mask(spec_, size_, b_, h_, pairwise_);
    const QueryGroup& group = groups_[n];
    const KeyRange part{std::max(block.begin, group.any.begin), std::min(block.end, group.any.end)};
    const Index offset = part.begin - block.begin;
    if (group.attends(part)) {
        for (Index lane = 0; lane < lanes_ && rule_.slope != 0.0; ++lane)
            distance_[lane] = static_cast<float>(
                near_position(group.first + lane + size_.query_offset, size_).position -
                part.begin);
        if (spec_.mask.any()) mask.fill(group, part, kTileKeys, lanes_, allow_);
        if (mask.drops()) mask.fill_dropout(group, part, lanes_, keep_);
        const PairSpans pairs{p_ + offset * chunk_ + column, d_s_ + offset * chunk_ + column,
                              chunk_, bias_ ? d_bias_tile_ : nullptr};
        KeyBlock tile{.k = head_of(in_.heads.k).row(part.begin).data(),
                      .v = head_of(in_.heads.v).row(part.begin).data(),
                      .keys = part.end - part.begin,
                      .d_k = size_.d_k,
                      .d_v = size_.d_v,
                      .all = {group.all.begin - part.begin, group.all.end - part.begin},
                      .allow = allow_,
                      .keep = mask.drops() ? keep_ : nullptr,
                      .cap = static_cast<float>(rule_.cap * std::numbers::log2e),
                      .slope = static_cast<float>(rule_.slope * std::numbers::log2e),
                      .distance = distance_,
                      .pairwise = pairwise_};
        bias_.set(b_, h_, group, part, bias_tile_, tile);
        differentiate_block(tile, gradients_[n], pairs);
        if (bias_) bias_.add_gradient(b_, h_, group, part, d_bias_tile_, turned_tile_, d_bias);
        if (pairwise_) add_pairwise(group, part, pairs, gradients_[n], offset);
    }
    for (Index j = block.begin; j < block.end; ++j)
        if (!group.attends(part) || j < part.begin || j >= part.end)
            for (float* pairs : {p_, d_s_})
                std::fill_n(pairs + (j - block.begin) * chunk_ + column, lanes_, 0.0F);
}

/// The three products over contributing pairs alone: 0 · NaN of a forbidden pair does not count.
void HeadGradient::add_pairwise(const QueryGroup& group, KeyRange part, const PairSpans& pairs,
                                const GroupGradient& gradient, Index offset) {
    const auto q = head_of(in_.heads.q);
    const auto k = head_of(in_.heads.k);
    const auto d_o = head_of(in_.d_context);
    for (Index j = 0; j < part.end - part.begin; ++j)
        for (Index lane = 0; lane < group.count; ++lane) {
            if (allow_[j * lanes_ + lane] == 0.0F) continue;
            const Index i = group.first + lane;
            const float p = pairs.p[j * pairs.stride + lane];
            const float d_s = pairs.d_s[j * pairs.stride + lane];
            float* k_sum = k_sums_ + (offset + j) * panel_width(size_.d_k);
            float* v_sum = v_sums_ + (offset + j) * panel_width(size_.d_v);
            for (Index c = 0; c < size_.d_v; ++c) v_sum[c] += p * d_o(i, c);
            for (Index c = 0; c < size_.d_k; ++c) {
                k_sum[c] += d_s * q(i, c);
                gradient.d_qt[c * lanes_ + lane] += d_s * k(part.begin + j, c);
            }
        }
}

/// The chunk's share of d_K and d_V.
void HeadGradient::contract(KeyRange block, Index first_query, Index queries) {
    const auto add = [&](const float* pairs, const float* panels, Index width, float* sums) {
        add_over_queries({.pairs = pairs,
                          .pair_stride = chunk_,
                          .keys = block.end - block.begin,
                          .panels = panels + first_query * panel_columns(),
                          .panel_stride = size_.tq * panel_columns(),
                          .queries = queries,
                          .width = width,
                          .sums = sums});
    };
    add(p_, d_o_panels_, size_.d_v, v_sums_);
    add(d_s_, q_panels_, size_.d_k, k_sums_);
}

void HeadGradient::write_d_q(MatrixView<float> d_q) const {
    const std::vector<float> factors(lanes_, factor_);
    for (std::size_t n = 0; n < groups_.size(); ++n)
        transpose({gradients_[n].d_qt, size_.d_k, groups_[n].count, lanes_}, factors.data(),
                  d_q.row_block(groups_[n].first, groups_[n].count));
}

}  // namespace attn
