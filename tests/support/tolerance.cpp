// e_x: the absolute error allowed in x. Norms are largest row norms, `top` the largest entry.
// H query heads, Hkv key/value heads, Tq queries, Tk keys.

#include "tests/support/tolerance.h"

#include <cmath>

#include "core/call.h"
#include "core/entries.h"
#include "core/trace.h"

namespace attn::test {
namespace {

double finite(double value) { return std::isfinite(value) ? value : 0.0; }

/// The largest Euclidean norm of a row.
double row_norm(const TensorD& tensor) {
    const Shape& shape = tensor.shape();
    double largest = 0.0;
    for (Index row = 0; row * shape.d < tensor.count(); ++row) {
        double sum = 0.0;
        for (Index c = 0; c < shape.d; ++c) {
            const double value = finite(tensor.values()[row * shape.d + c]);
            sum += value * value;
        }
        largest = std::max(largest, std::sqrt(sum));
    }
    return largest;
}

/// The largest sum of weights that any key gets, over queries and the heads that share it.
double column_sum(const TensorD& weights, const Dimensions& size) {
    const Index group = size.heads / size.kv_heads;
    double largest = 0.0;
    for_each_row({size.batch, size.kv_heads, size.tk, 1}, [&](Index b, Index g, Index j) {
        double sum = 0.0;
        for (Index h = g * group; h < (g + 1) * group; ++h)
            for (Index i = 0; i < size.tq; ++i) sum += finite(weights(b, h, i, j));
        largest = std::max(largest, sum);
    });
    return largest;
}

/// Bounds, stage by stage, in the order of the computation.
class Analysis {
  public:
    Analysis(const InputsD& in, const AttentionSpec& spec, const TraceD& forward, const TraceD& d,
             double roundoff)
        : in_(in), f_(forward), d_(d), size_(validate(in, spec).value().size()), u_(roundoff) {
        factor_ = std::abs(score_factor(spec, size_.d_k));
        retained_ = 1.0 / (1.0 - spec.active_dropout());
        with_rounding();
        projections();
        scores();
        mixing();
        gradients();
        parameters();
    }

    ErrorBounds bounds;

  private:
    static double real(Index n) { return static_cast<double>(n); }
    /// Error of a sum of n terms, for each unit of their magnitudes.
    double sum(Index n) const { return u_ * (2.0 + 2.0 * std::sqrt(real(n))); }
    double& forward(Stage s) { return bounds.forward[index_of(s)].absolute; }
    double& backward(Stage s) { return bounds.backward[index_of(s)].absolute; }
    double& param(Param p) { return bounds.params[index_of(p)].absolute; }
    double top_of(Param p) const { return largest_of(in_.params[p]); }

    /// Both sides of a comparison are rounded to float.
    void with_rounding() {
        for (auto* list : {&bounds.forward, &bounds.backward})
            for (Tolerance& tolerance : *list) tolerance.relative = 2.0 * kFloatRoundoff;
        for (Tolerance& tolerance : bounds.params) tolerance.relative = 2.0 * kFloatRoundoff;
        bounds.logsumexp.relative = 2.0 * kFloatRoundoff;
    }

    // Q = X W_Q + b_Q
    double projection_error(const TensorD& x, Param weight, Param bias) const {
        const double width = std::sqrt(real(x.shape().d));
        return sum(x.shape().d + 1) * (row_norm(x) * width * top_of(weight) + top_of(bias));
    }

    void projections() {
        if (!in_.projects()) return;
        const TensorD& x_kv = in_.x_kv.empty() ? in_.x : in_.x_kv;
        forward(Stage::q) = projection_error(in_.x, Param::w_q, Param::b_q);
        forward(Stage::k) = projection_error(x_kv, Param::w_k, Param::b_k);
        forward(Stage::v) = projection_error(x_kv, Param::w_v, Param::b_v);
    }

    // scores = Q Kᵀ; S = scores · factor; A = softmax(S): relative error of a weight = that of its exp
    // and of the sum of exps.
    void scores() {
        const double q = row_norm(f_[Stage::q]);
        const double k = row_norm(f_[Stage::k]);
        const double inherited =
            std::sqrt(real(size_.d_k)) * (forward(Stage::q) * k + forward(Stage::k) * q);
        const double largest = largest_of(f_[Stage::scaled]);
        const double e_scaled = factor_ * (sum(size_.d_k) * q * k + inherited) + 2.0 * u_ * largest;
        forward(Stage::scores) = sum(size_.d_k) * q * k + inherited;
        forward(Stage::scaled) = forward(Stage::masked) = e_scaled;
        e_weight_ = 2.0 * e_scaled + 2.0 * u_ * largest + sum(size_.tk) + 4.0 * u_;
        for (const Stage stage : {Stage::weights, Stage::dropped}) {
            bounds.forward[index_of(stage)].absolute = std::numeric_limits<float>::min();
            bounds.forward[index_of(stage)].relative += e_weight_;
        }
        bounds.logsumexp.absolute = e_scaled + sum(size_.tk) + 4.0 * u_ * (1.0 + largest);
    }

    // context = Ã V; Y = concat(heads) W_O + b_O
    void mixing() {
        const double v = largest_of(f_[Stage::v]);
        forward(Stage::context) = retained_ * (v * (e_weight_ + sum(size_.tk)) + forward(Stage::v));
        forward(Stage::output) = forward(Stage::context);
        if (in_.params[Param::w_o].empty()) return;
        const Index joined = size_.heads * size_.d_v;
        const double terms = real(joined) * top_of(Param::w_o);
        forward(Stage::output) =
            terms * (forward(Stage::context) + sum(joined + 1) * largest_of(f_[Stage::context])) +
            sum(joined + 1) * top_of(Param::b_o);
    }

    void gradients() {
        const double d_context = largest_of(d_[Stage::context]);
        if (!d_[Stage::output].empty() && !in_.params[Param::w_o].empty())
            backward(Stage::context) = sum(size_.d_out) * real(size_.d_out) *
                                       largest_of(d_[Stage::output]) * top_of(Param::w_o);
        // d_A = d_context Vᵀ; d_M = A ∘ (d_A − Σ A ∘ d_A), Σ A = 1
        const double width = std::sqrt(real(size_.d_v));
        const double v = row_norm(f_[Stage::v]);
        const double dc = row_norm(d_[Stage::context]);
        const double e_dropped = sum(size_.d_v) * dc * v +
                                 width * (backward(Stage::context) * v + forward(Stage::v) * dc);
        const double d_a = largest_of(d_[Stage::weights]);
        const double e_d_a = retained_ * e_dropped + u_ * d_a;
        const double e_d_m = 3.0 * d_a * e_weight_ + 2.0 * e_d_a + (sum(size_.tk) + 8.0 * u_) * d_a;
        backward(Stage::dropped) = e_dropped;
        backward(Stage::weights) = e_d_a;
        backward(Stage::masked) = backward(Stage::scaled) = e_d_m;
        backward(Stage::scores) = factor_ * e_d_m + 4.0 * u_ * largest_of(d_[Stage::scores]);
        // d_Q = d_scores K, where Σ_j |d_scores[i,j]| <= 2 factor d_A; d_K the same over queries.
        const auto through_scores = [&](Index n, double other, double e_other) {
            return factor_ * (e_d_m * other + 2.0 * d_a * (sum(n) * other + e_other));
        };
        const Index queries = size_.tq * (size_.heads / size_.kv_heads);
        const double received = column_sum(f_[Stage::weights], size_);
        backward(Stage::q) = through_scores(size_.tk, largest_of(f_[Stage::k]), forward(Stage::k));
        backward(Stage::k) =
            received * through_scores(queries, largest_of(f_[Stage::q]), forward(Stage::q));
        backward(Stage::v) = received * retained_ *
                             ((e_weight_ + sum(queries)) * d_context + backward(Stage::context));
    }

    /// d_W = Xᵀ d over `rows` rows; d_b = Σ d.
    void weight_and_bias(Param weight, Param bias, const TensorD& x, double e_x, const TensorD& d,
                         double e_d) {
        const double rows = real(x.shape().b * x.shape().t);
        const double growth = sum(x.shape().b * x.shape().t);
        param(weight) =
            rows * (largest_of(x) * (e_d + growth * largest_of(d)) + e_x * largest_of(d));
        param(bias) = rows * (e_d + growth * largest_of(d));
    }

    /// d_X += d Wᵀ.
    double token_error(Param weight, Stage stage) {
        const Index width = in_.params[weight].shape().d;
        return real(width) * top_of(weight) *
               (backward(stage) + sum(width) * largest_of(d_[stage]));
    }

    void parameters() {
        if (!d_[Stage::output].empty())
            weight_and_bias(Param::w_o, Param::b_o, f_[Stage::context], forward(Stage::context),
                            d_[Stage::output], 0.0);
        if (!in_.projects()) return;
        const bool cross = !in_.x_kv.empty();
        const TensorD& x_kv = cross ? in_.x_kv : in_.x;
        weight_and_bias(Param::w_q, Param::b_q, in_.x, 0.0, d_[Stage::q], backward(Stage::q));
        weight_and_bias(Param::w_k, Param::b_k, x_kv, 0.0, d_[Stage::k], backward(Stage::k));
        weight_and_bias(Param::w_v, Param::b_v, x_kv, 0.0, d_[Stage::v], backward(Stage::v));
        backward(Stage::x) = token_error(Param::w_q, Stage::q);
        const Stage keys = cross ? Stage::x_kv : Stage::x;
        backward(keys) += token_error(Param::w_k, Stage::k) + token_error(Param::w_v, Stage::v);
    }

    const InputsD& in_;
    const TraceD& f_;
    const TraceD& d_;
    Dimensions size_;
    double u_;
    double factor_ = 1.0;
    double retained_ = 1.0;  // 1 / (1 − p)
    double e_weight_ = 0.0;  // relative
};

}  // namespace

ErrorBounds error_bounds(const InputsD& inputs, const AttentionSpec& spec, const TraceD& forward,
                         const TraceD& backward, double roundoff) {
    return Analysis(inputs, spec, forward, backward, roundoff).bounds;
}

}  // namespace attn::test
