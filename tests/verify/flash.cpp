#include "tests/verify/flash.h"

#include <cmath>

#include "core/entries.h"

namespace attn::test {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

Index up(Index n, Index step) { return (n + step - 1) / step; }

Tensor rounded_tensor(Number number, Tensor tensor) {
    for (float& value : tensor.values()) value = to_number(number, value);
    return tensor;
}

/// One query's way through the tiles of keys.
class RowKernel {
  public:
    RowKernel(const Flash& f, Index b, Index h, Index i)
        : f_(f), b_(b), h_(h), i_(i), acc_(static_cast<std::size_t>(f.v.shape().d), 0.0F) {}

    void run(Index query_tile) {
        const Index tiles = key_tiles(query_tile);
        for (Index n = 0; n < tiles; ++n) {
            const Index tile = f_.backwards ? tiles - 1 - n : n;
            if (is(Bug::first_tile_skipped) && tile == 0) continue;
            add_tile(tile, query_tile);
        }
    }

    float value(Index c) const {
        const float acc = acc_[c];
        if (is(Bug::not_normalised)) return acc;
        if (is(Bug::maximum_subtracted_twice)) return acc / sum_ * std::exp(-most_);
        return acc / (is(Bug::normalised_by_last_tile) ? last_ : sum_);
    }
    float logsumexp() const {
        constexpr float kLog2e = 1.44269504F;
        if (is(Bug::logsumexp_in_log2)) return most_ * kLog2e + std::log2(sum_);
        if (is(Bug::logsumexp_unscaled_maximum)) return most_ / scale() + std::log(sum_);
        return most_ + std::log(sum_);
    }

  private:
    bool is(Bug bug) const { return f_.bug == bug; }
    Index keys() const { return f_.k.shape().t; }
    bool causal() const { return (f_.reach && !is(Bug::mask_ignored)) || is(Bug::causal_unasked); }
    Index reach() const {
        if (is(Bug::mask_top_left)) return 0;
        const Index step = is(Bug::mask_one_too_many) ? 1 : is(Bug::mask_one_too_few) ? -1 : 0;
        return f_.reach.value_or(0) + step;
    }

    Index key_tiles(Index query_tile) const {
        const Index all = is(Bug::tail_dropped) ? keys() / f_.bk : up(keys(), f_.bk);
        if (!causal()) return all;
        const Index first = query_tile * f_.bq;
        const Index end = std::min(f_.q.shape().t, first + f_.bq) + reach();
        if (is(Bug::diagonal_tile_skipped)) return (first + reach()) / f_.bk;
        const Index wanted = std::clamp<Index>(up(end, f_.bk), 0, all);
        return is(Bug::last_tile_skipped) ? wanted - 1 : wanted;
    }

    Index group() const {
        const Index groups = f_.k.shape().h, right = h_ / (f_.q.shape().h / groups);
        if (is(Bug::group_tiled)) return h_ % groups;
        return is(Bug::group_next) ? (right + 1) % groups : right;
    }
    Index value_group() const {
        return is(Bug::group_next_values) ? (group() + 1) % f_.v.shape().h : group();
    }
    Index batch() const { return is(Bug::batch_first) ? 0 : b_; }

    float scale() const {
        const auto root = [](Index n) { return 1.0F / std::sqrt(static_cast<float>(n)); };
        const Index d = f_.q.shape().d;
        if (is(Bug::scale_forgotten)) return 1.0F;
        if (is(Bug::scale_twice)) return root(d) * root(d);
        return is(Bug::scale_of_the_model) ? root(d * f_.q.shape().h) : root(d);
    }

    /// Row of K or V at place j of the tile that begins at `first`; null: zeros.
    const float* read(const Tensor& tensor, Index head, Index first, Index j, bool values) const {
        const Index width = tensor.shape().d;
        const bool partial = first + f_.bk > keys();
        Index row = j;
        if (partial && is(Bug::tail_counts_twice)) row = keys() - f_.bk + j - first;
        if (partial && values && is(Bug::tail_values_a_row_early)) row = j - 1;
        if (!values && is(Bug::keys_in_pairs)) row = j / 2 * 2;
        if (values && is(Bug::values_reversed_in_tiles)) row = 2 * first + f_.bk - 1 - j;
        if (row >= keys() && !is(Bug::tail_reads_next_head)) return nullptr;
        const Index flat = (batch() * tensor.shape().h + head) * keys() + row;
        return flat * width < tensor.count() ? tensor.data() + flat * width : nullptr;
    }

    bool counts(Index j, Index query_tile) const {
        const bool open_end = is(Bug::tail_counts_zeros) || is(Bug::tail_counts_twice) ||
                              is(Bug::tail_reads_next_head);
        if (j >= keys() && !open_end) return false;
        if (!causal()) return true;
        const Index i =
            is(Bug::diagonal_tile_unmasked)
                ? up(std::min(f_.q.shape().t, (query_tile + 1) * f_.bq) + reach(), f_.bk) * f_.bk
                : i_;
        return j <= i + reach();
    }

    std::vector<float> scores(Index first, Index query_tile) const {
        std::vector<float> s(f_.bk, kNone);
        for (Index p = 0; p < f_.bk; ++p) {
            if (!counts(first + p, query_tile)) continue;
            const float* const key = read(f_.k, group(), first, first + p, false);
            float dot = 0.0F;
            const Index width = f_.q.shape().d - (is(Bug::column_left_out) ? 1 : 0);
            for (Index c = 0; key != nullptr && c < width; ++c) dot += f_.q(b_, h_, i_, c) * key[c];
            if (is(Bug::queries_negated)) dot = -dot;
            float& score = s[p];
            score = f_.eager_scores ? to_number(f_.number, to_number(f_.number, dot) * scale())
                                    : dot * scale();
        }
        return s;
    }

    void add_tile(Index tile, Index query_tile) {
        const Index first = tile * f_.bk;
        const std::vector<float> s = scores(first, query_tile);
        const float most = std::max(most_, *std::ranges::max_element(s));
        if (most == kNone) return;
        const float old = most_ == kNone ? most : most_;
        rescale(old, most);
        last_ = 0.0F;
        for (Index p = 0; p < f_.bk; ++p) {
            const float score = s[p];
            if (score == kNone) continue;
            const float x = score - (is(Bug::maximum_stale) ? old : most);
            const float weight = is(Bug::exp2_without_log2e) ? std::exp2(x) : std::exp(x);
            sum_ += weight, last_ += weight;
            add_value(read(f_.v, value_group(), first, first + p, true),
                      to_number(f_.number, altered(weight, p)));
        }
        most_ = most;
    }

    float altered(float weight, Index p) const {
        if (is(Bug::weights_squared)) return weight * weight;
        if (is(Bug::weights_clipped)) return std::min(weight, 0.5F);
        return is(Bug::every_other_key_twice) && p % 2 == 1 ? 2.0F * weight : weight;
    }

    void rescale(float old, float most) {
        const float x = is(Bug::rescaled_backwards) ? most - old : old - most;
        const float alpha = is(Bug::exp2_without_log2e) ? std::exp2(x) : std::exp(x);
        const bool nothing = is(Bug::nothing_rescaled);
        if (!nothing && !is(Bug::sum_not_rescaled)) sum_ *= alpha;
        if (nothing || is(Bug::accumulator_not_rescaled)) return;
        for (float& acc : acc_) acc = rounded_sum(acc * alpha);
    }

    float rounded_sum(float x) const {
        return is(Bug::short_accumulator) ? to_number(Number::fp16, x) : x;
    }

    void add_value(const float* value, float weight) {
        if (value == nullptr) return;
        for (std::size_t c = 0; c < acc_.size(); ++c)
            acc_[c] = rounded_sum(acc_[c] + weight * value[is(Bug::values_swizzled) ? c ^ 1U : c]);
    }

    const Flash& f_;
    Index b_, h_, i_;
    float most_ = kNone, sum_ = 0.0F, last_ = 0.0F;
    std::vector<float> acc_;
};

/// Of which query the row at i is computed: a tile is loaded and stored from its first row on.
Index query_at(const Flash& f, Index i) {
    const Index queries = f.q.shape().t, last = queries / f.bq * f.bq;
    if (f.bug == Bug::query_tile_late && i >= f.bq) return i - f.bq;
    if (f.bug == Bug::last_query_tile_clamped && i >= last) return queries - f.bq + i - last;
    return i;
}

Tensor swapped(const Tensor& tensor) {
    const Shape s = tensor.shape();
    Tensor made({s.b, s.t, s.h, s.d});
    for_each_entry(
        s, [&](Index b, Index h, Index t, Index d) { made(b, t, h, d) = tensor(b, h, t, d); });
    return made;
}

FlashOut run_rows(const Flash& f) {
    const Shape s = f.q.shape();
    FlashOut out{Tensor({s.b, s.h, s.t, f.v.shape().d}), Tensor({s.b, s.h, s.t, 1})};
    for_each_row(s, [&](Index b, Index h, Index i) {
        if (f.bug == Bug::query_tile_not_written && i / f.bq == 1) return;
        const Index from = query_at(f, i);
        RowKernel row(f, b, h, from);
        row.run(from / f.bq);
        const Index to = f.bug == Bug::heads_reversed ? s.h - 1 - h : h;
        for (Index c = 0; c < f.v.shape().d; ++c)
            out.context(b, to, i, c) = to_number(f.number, row.value(c));
        out.logsumexp(b, to, i, 0) = row.logsumexp();
    });
    return out;
}

}  // namespace

float to_number(Number number, float value) {
    if (number == Number::fp32 || !std::isfinite(value) || value == 0.0F) return value;
    const int bits = number == Number::fp16 ? 11 : 8;
    int exponent = 0;
    const float fraction = std::frexp(value, &exponent);
    const int least = number == Number::fp16 ? -13 : -125;  // subnormals keep fewer bits
    const int retained = bits - std::max(0, least - exponent);
    if (retained < 0) return 0.0F;
    const float made =
        std::ldexp(std::nearbyint(std::ldexp(fraction, retained)), exponent - retained);
    const bool over = number == Number::fp16 && std::abs(made) > 65504.0F;
    return over ? std::copysign(std::numeric_limits<float>::infinity(), made) : made;
}

FlashOut run_flash(const Flash& flash) {
    Flash f = flash;
    for (Tensor* const tensor : {&f.q, &f.k, &f.v}) *tensor = rounded_tensor(f.number, *tensor);
    if (f.bug != Bug::layout) return run_rows(f);
    for (Tensor* const tensor : {&f.q, &f.k, &f.v}) *tensor = swapped(*tensor);
    return {swapped(run_rows(f).context), {}};
}

}  // namespace attn::test
