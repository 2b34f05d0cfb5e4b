#include "tests/verify/backward.h"

#include <cmath>

#include "core/entries.h"

namespace attn::test {
namespace {

using Bug = BackwardBug;

/// Every row turned by its position, sign · t · 10000^(−2c/d).
Tensor turned(const Tensor& tensor, float sign) {
    const Shape s = tensor.shape();
    Tensor made(s);
    const Index half = s.d / 2;
    for_each_row(s, [&](Index b, Index h, Index t) {
        for (Index c = 0; c < half; ++c) {
            const double angle =
                sign * static_cast<double>(t) *
                std::pow(10000.0, -2.0 * static_cast<double>(c) / static_cast<double>(s.d));
            const double x = tensor(b, h, t, c), y = tensor(b, h, t, c + half);
            made(b, h, t, c) = static_cast<float>(x * std::cos(angle) - y * std::sin(angle));
            made(b, h, t, c + half) = static_cast<float>(x * std::sin(angle) + y * std::cos(angle));
        }
    });
    return made;
}

/// Which of the three arrays a pass sums.
enum class Pass : std::uint8_t { dq, dk, dv };

class Kernel {
  public:
    explicit Kernel(const BackwardKernel& f)
        : f_(f),
          q_(f.turns ? turned(f.q, 1.0F) : f.q),
          k_(f.turns ? turned(f.k, 1.0F) : f.k),
          scale_(1.0F / std::sqrt(static_cast<float>(f.q.shape().d))),
          most_(rows()),
          logsumexp_(rows()),
          d_(rows()) {
        for_each_row(f_.q.shape(), [&](Index b, Index h, Index i) { read_row(b, h, i); });
    }

    BackwardOut run() const {
        BackwardOut out{Tensor(q_.shape()), Tensor(k_.shape()), Tensor(f_.v.shape())};
        for_each_row(f_.q.shape(), [&](Index b, Index h, Index i) {
            for (Index j = 0; j < keys(); ++j) add_pair(b, h, i, j, out);
        });
        return finished(std::move(out));
    }

  private:
    bool is(Bug bug) const { return f_.bug == bug; }
    Index keys() const { return k_.shape().t; }
    Index queries() const { return q_.shape().t; }
    Index group(Index h) const { return h / shared(); }
    Index shared() const { return q_.shape().h / k_.shape().h; }
    Tensor rows() const { return Tensor({f_.q.shape().b, f_.q.shape().h, f_.q.shape().t, 1}); }

    float scaled(Index b, Index h, Index i, Index j) const {
        float dot = 0.0F;
        for (Index c = 0; c < q_.shape().d; ++c) dot += q_(b, h, i, c) * k_(b, group(h), j, c);
        return dot * scale_;
    }
    float logit(Index b, Index h, Index i, Index j) const {
        const float s = scaled(b, h, i, j);
        return f_.softcap ? *f_.softcap * std::tanh(s / *f_.softcap) : s;
    }
    bool allowed(Index i, Index j) const { return !f_.reach || j <= i + *f_.reach; }
    float d_weight(Index b, Index h, Index i, Index j) const {
        float sum = 0.0F;
        for (Index c = 0; c < f_.v.shape().d; ++c)
            sum += f_.d_o(b, h, i, c) * f_.v(b, group(h), j, c);
        return is(Bug::upstream_negated) ? -sum : sum;
    }

    /// What the forward pass leaves, and D.
    void read_row(Index b, Index h, Index i) {
        float most = -std::numeric_limits<float>::infinity(), sum = 0.0F, d = 0.0F;
        for (Index j = 0; j < keys(); ++j)
            if (allowed(i, j)) most = std::max(most, logit(b, h, i, j));
        for (Index j = 0; j < keys(); ++j)
            if (allowed(i, j)) sum += std::exp(logit(b, h, i, j) - most);
        most_(b, h, i, 0) = most;
        logsumexp_(b, h, i, 0) = most + std::log(sum);
        for (Index j = 0; j < keys(); ++j)
            if (allowed(i, j))
                d += std::exp(logit(b, h, i, j) - logsumexp_(b, h, i, 0)) * d_weight(b, h, i, j);
        d_(b, h, i, 0) = d;
    }

    bool masks(Index i, Index j, Pass pass) const {
        if (is(Bug::mask_missing_in_dk_and_dv) && pass != Pass::dq) return false;
        if (is(Bug::mask_missing_in_dq) && pass == Pass::dq) return false;
        if (is(Bug::mask_missing_in_dk) && pass == Pass::dk) return false;
        if (is(Bug::mask_one_too_many)) return f_.reach && j > i + *f_.reach + 1;
        return !allowed(i, j);
    }

    /// The tile of the query, or of the key, that a pass leaves out.
    bool left_out(Index i, Index j, Pass pass) const {
        const bool sums_queries = pass != Pass::dq;
        if (is(Bug::last_query_tile_left_out) && sums_queries)
            return i >= (queries() - 1) / f_.bq * f_.bq;
        if (is(Bug::first_query_tile_left_out) && sums_queries) return i < f_.bq;
        return is(Bug::dq_overwritten) && !sums_queries && j < (keys() - 1) / f_.bk * f_.bk;
    }

    float weight(Index b, Index h, Index i, Index j) const {
        const float s = logit(b, h, i, j);
        if (is(Bug::weights_not_normalised)) return std::exp(s - most_(b, h, i, 0));
        const float x = s - logsumexp_(b, h, i, 0);
        return is(Bug::weights_in_twos) ? std::exp2(x) : std::exp(x);
    }

    float d_scaled(Index b, Index h, Index i, Index j, Pass pass) const {
        float d = d_(b, h, i, 0);
        if (is(Bug::row_sum_left_out)) d = 0.0F;
        if (is(Bug::row_sum_left_out_in_dk) && pass == Pass::dk) d = 0.0F;
        if (is(Bug::row_sum_twice)) d *= 2.0F;
        float made = weight(b, h, i, j) * (d_weight(b, h, i, j) - d);
        if (f_.softcap && !is(Bug::softcap_derivative_left_out)) {
            const float bent = std::tanh(scaled(b, h, i, j) / *f_.softcap);
            made *= 1.0F - bent * bent;
        }
        return made;
    }

    float scale_of(Pass pass) const {
        const bool q = pass == Pass::dq;
        if (is(Bug::scale_missing_in_both) || (is(Bug::scale_missing_in_dq) && q) ||
            (is(Bug::scale_missing_in_dk) && !q))
            return 1.0F;
        return is(Bug::scale_twice_in_dq) && q ? scale_ * scale_ : scale_;
    }

    bool counts(Index h) const {
        return !is(Bug::group_not_summed) || h % shared() == shared() - 1;
    }

    void add_pair(Index b, Index h, Index i, Index j, BackwardOut& out) const {
        const Index g = group(h);
        const auto open = [&](Pass pass) { return !masks(i, j, pass) && !left_out(i, j, pass); };
        if (open(Pass::dq)) {
            const float d = d_scaled(b, h, i, j, Pass::dq) * scale_of(Pass::dq);
            const Index key = is(Bug::keys_shifted) ? (j + 1) % keys() : j;
            for (Index c = 0; c < q_.shape().d; ++c) out.d_q(b, h, i, c) += d * k_(b, g, key, c);
        }
        if (open(Pass::dk) && counts(h)) {
            const float d = d_scaled(b, h, i, j, Pass::dk) * scale_of(Pass::dk);
            const bool turned = is(Bug::dk_not_transposed);
            for (Index c = 0; c < q_.shape().d; ++c)
                out.d_k(b, g, turned ? i : j, c) += d * q_(b, h, turned ? j : i, c);
        }
        if (open(Pass::dv) && counts(h)) {
            float p = weight(b, h, i, j);
            if (is(Bug::dv_of_squared_weights)) p *= p;
            const bool turned = is(Bug::dv_not_transposed);
            for (Index c = 0; c < f_.v.shape().d; ++c)
                out.d_v(b, g, turned ? i : j, c) += p * f_.d_o(b, h, turned ? j : i, c);
        }
    }

    static Tensor at_other_heads(const Tensor& tensor, bool reverse) {
        const Shape s = tensor.shape();
        Tensor made(s);
        for_each_entry(s, [&](Index b, Index h, Index t, Index c) {
            made(b, h, t, c) = tensor(b, reverse ? s.h - 1 - h : (h + 1) % s.h, t, c);
        });
        return made;
    }

    BackwardOut finished(BackwardOut out) const {
        if (f_.turns && !is(Bug::dq_not_turned))
            out.d_q = turned(out.d_q, is(Bug::dq_turned_forwards) ? 1.0F : -1.0F);
        if (f_.turns) out.d_k = turned(out.d_k, -1.0F);
        if (is(Bug::dv_of_the_next_head)) out.d_v = at_other_heads(out.d_v, false);
        if (is(Bug::dk_in_reverse)) out.d_k = at_other_heads(out.d_k, true);
        if (is(Bug::group_mean))
            for (Tensor* const tensor : {&out.d_k, &out.d_v})
                for (float& value : tensor->values()) value /= static_cast<float>(shared());
        return out;
    }

    const BackwardKernel& f_;
    Tensor q_, k_;
    float scale_;
    Tensor most_, logsumexp_, d_;  // [B,H,Tq,1]
};

}  // namespace

BackwardOut run_backward(const BackwardKernel& kernel) { return Kernel(kernel).run(); }

}  // namespace attn::test
