// i row, j column of a matrix; n entry of a run of numbers.
//
// Why it is fast: rows lie on vector boundaries, so that no loop has a remainder but those whose last lanes a mask takes;
// entropy and p_max fall out of the sums of softmax (H = ln Σ − Σ a s, p_max = 1/Σ), so that measuring every row of every
// step costs one multiply-add a pair.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/train/kernels.cpp"
#include "core/kernels/highway_targets.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/train/kernels.h"
#include "core/train/trainer.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace attn::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using train::AdamW, train::AnswerRow, train::TransientActions, train::NormGradient, train::NormRows,
    train::RowSums, train::Sgd;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr D kFloats;

HWY_INLINE Index step_of() { return static_cast<Index>(hn::Lanes(kFloats)); }
HWY_INLINE V all(float value) { return hn::Set(kFloats, value); }
HWY_INLINE float total(V v) { return hn::GetLane(hn::SumOfLanes(kFloats, v)); }

/// Entries j … of a row of n: `other` behind its end.
HWY_INLINE V load_or(const float* row, Index j, Index n, V other) {
    const V values = hn::Load(kFloats, row + j);
    if (j + step_of() <= n) return values;
    return hn::IfThenElse(hn::FirstN(kFloats, static_cast<std::size_t>(n - j)), values, other);
}

/// e to it is 4·10⁻¹⁸, a billionth of what a float beside 1 can tell apart.
constexpr float kLeast = -40.0F;

/// The first n of the row become weights, the others up to the stride 0.
HWY_INLINE void softmax_row(float* row, Index n, Index stride, float factor, RowSums& sums) {
    const V lowest = all(-std::numeric_limits<float>::infinity());
    V most = lowest;
    for (Index j = 0; j < n; j += step_of()) most = hn::Max(most, load_or(row, j, n, lowest));
    const V max = hn::MaxOfLanes(kFloats, most);
    const V by = all(factor);
    V sum = hn::Zero(kFloats), products = hn::Zero(kFloats);
    for (Index j = 0; j < n; j += step_of()) {
        // Below kLeast a weight is 0: no −∞ · 0, and no denormal numbers, which take a hundred times as long. NaN stays.
        V s = hn::Mul(by, hn::Sub(hn::Load(kFloats, row + j), max));
        const auto none = hn::Lt(s, all(kLeast));
        s = hn::IfThenElse(none, all(kLeast), s);
        V e = hn::IfThenZeroElse(none, hn::Exp(kFloats, s));
        if (j + step_of() > n) {
            const auto there = hn::FirstN(kFloats, static_cast<std::size_t>(n - j));
            e = hn::IfThenElseZero(there, e);
            s = hn::IfThenElseZero(there, s);
        }
        sum = hn::Add(sum, e);
        products = hn::MulAdd(e, s, products);
        hn::Store(e, kFloats, row + j);
    }
    const float whole = total(sum);
    const V share = all(1.0F / whole);
    Index j = 0;
    for (; j < n; j += step_of())
        hn::Store(hn::Mul(hn::Load(kFloats, row + j), share), kFloats, row + j);
    for (; j < stride; j += step_of()) hn::Store(hn::Zero(kFloats), kFloats, row + j);
    if (n < 2) return;
    const float largest = 1.0F / whole;
    sums.entropy += std::log(whole) - total(products) / whole;
    sums.max_probability += largest;
    sums.saturated += largest > train::kSaturated ? 1.0 : 0.0;
    sums.rows += 1.0;
}

void softmax_rows_now(const MatrixView<float>& scores, float factor, bool causal, RowSums& sums) {
    for (Index i = 0; i < scores.rows; ++i)
        softmax_row(scores.data + i * scores.stride, causal ? i + 1 : scores.columns, scores.stride,
                    factor, sums);
}

void softmax_backward_now(const MatrixView<const float>& weights,
                          const MatrixView<float>& d_weights, float factor) {
    const V by = all(factor);
    for (Index i = 0; i < weights.rows; ++i) {
        const float* HWY_RESTRICT a = weights.data + i * weights.stride;
        float* HWY_RESTRICT d = d_weights.data + i * d_weights.stride;
        V sum = hn::Zero(kFloats);
        for (Index j = 0; j < weights.columns; j += step_of())
            sum = hn::MulAdd(hn::Load(kFloats, a + j), hn::Load(kFloats, d + j), sum);
        const V mean = hn::SumOfLanes(kFloats, sum);
        for (Index j = 0; j < weights.columns; j += step_of()) {
            const V slope = hn::Mul(by, hn::Load(kFloats, a + j));
            hn::Store(hn::Mul(slope, hn::Sub(hn::Load(kFloats, d + j), mean)), kFloats, d + j);
        }
    }
}

// --- norm

void norm_rows_now(const MatrixView<const float>& x, const NormRows& norm,
                   const MatrixView<float>& y) {
    const Index n = x.columns;
    const float share = 1.0F / static_cast<float>(n);
    for (Index i = 0; i < x.rows; ++i) {
        const float* from = x.data + i * x.stride;
        V sum = hn::Zero(kFloats), squares = hn::Zero(kFloats);
        for (Index j = 0; j < n; j += step_of())
            sum = hn::Add(sum, load_or(from, j, n, hn::Zero(kFloats)));
        const V mean = all(total(sum) * share);
        for (Index j = 0; j < n; j += step_of()) {
            const V off = hn::Sub(load_or(from, j, n, mean), mean);
            squares = hn::MulAdd(off, off, squares);
        }
        const float rstd = 1.0F / std::sqrt(total(squares) * share + 1e-5F);
        norm.rstd[i] = rstd;
        float* normal = norm.normal.data + i * norm.normal.stride;
        float* to = y.data + i * y.stride;
        for (Index j = 0; j < n; j += step_of()) {
            const V v = hn::Mul(hn::Sub(load_or(from, j, n, mean), mean), all(rstd));
            hn::Store(v, kFloats, normal + j);
            const V scale = load_or(norm.scale, j, n, hn::Zero(kFloats));
            const V shift = load_or(norm.shift, j, n, hn::Zero(kFloats));
            hn::Store(hn::MulAdd(v, scale, shift), kFloats, to + j);
        }
    }
}

void norm_backward_now(const MatrixView<const float>& d_y, const NormRows& norm,
                       const MatrixView<float>& d_x, const NormGradient& gradient) {
    const Index n = d_y.columns;
    const float share = 1.0F / static_cast<float>(n);
    const V zero = hn::Zero(kFloats);
    for (Index i = 0; i < d_y.rows; ++i) {
        const float* d = d_y.data + i * d_y.stride;
        const float* normal = norm.normal.data + i * norm.normal.stride;
        float* to = d_x.data + i * d_x.stride;
        V sum = zero, products = zero;
        for (Index j = 0; j < n; j += step_of()) {
            const V dy = load_or(d, j, n, zero);
            const V v = hn::Load(kFloats, normal + j);
            const V g = hn::Mul(dy, load_or(norm.scale, j, n, zero));
            sum = hn::Add(sum, g);
            products = hn::MulAdd(g, v, products);
            hn::Store(hn::MulAdd(dy, v, hn::Load(kFloats, gradient.d_scale + j)), kFloats,
                      gradient.d_scale + j);
            hn::Store(hn::Add(dy, hn::Load(kFloats, gradient.d_shift + j)), kFloats,
                      gradient.d_shift + j);
        }
        const V mean = all(total(sum) * share), slope = all(total(products) * share);
        for (Index j = 0; j < n; j += step_of()) {
            const V g = hn::Mul(load_or(d, j, n, zero), load_or(norm.scale, j, n, zero));
            const V part = hn::Sub(hn::Sub(g, mean), hn::Mul(hn::Load(kFloats, normal + j), slope));
            V sum_x = hn::MulAdd(part, all(norm.rstd[i]), hn::Load(kFloats, to + j));
            if (j + step_of() > n)
                sum_x =
                    hn::IfThenElseZero(hn::FirstN(kFloats, static_cast<std::size_t>(n - j)), sum_x);
            hn::Store(sum_x, kFloats, to + j);
        }
    }
}

// --- sums

void add_bias_now(const MatrixView<float>& x, const float* bias) {
    for (Index i = 0; i < x.rows; ++i)
        for (Index j = 0; j < x.columns; j += step_of()) {
            float* at = x.data + i * x.stride + j;
            const V b = load_or(bias, j, x.columns, hn::Zero(kFloats));
            hn::Store(hn::Add(hn::Load(kFloats, at), b), kFloats, at);
        }
}

void add_column_sums_now(const MatrixView<const float>& x, float* sums) {
    for (Index i = 0; i < x.rows; ++i)
        for (Index j = 0; j < x.columns; j += step_of())
            hn::Store(
                hn::Add(hn::Load(kFloats, sums + j), hn::Load(kFloats, x.data + i * x.stride + j)),
                kFloats, sums + j);
}

void add_rows_now(const MatrixView<const float>& from, const MatrixView<float>& to) {
    for (Index i = 0; i < from.rows; ++i)
        for (Index j = 0; j < from.columns; j += step_of()) {
            float* at = to.data + i * to.stride + j;
            const V v = hn::Load(kFloats, from.data + i * from.stride + j);
            hn::Store(hn::Add(hn::Load(kFloats, at), v), kFloats, at);
        }
}

// --- GELU

constexpr float kRoot = 1.5957691216F;  // 2 √(2/π)
constexpr float kCube = 0.044715F;

/// σ(2u) of GELU.
HWY_INLINE V gate(V x) {
    const V cubic = hn::MulAdd(hn::Mul(x, x), all(kCube), all(1.0F));
    V u = hn::Mul(hn::Mul(x, all(-kRoot)), cubic);
    u = hn::IfThenElse(hn::Gt(u, all(80.0F)), all(80.0F), u);  // e^80 is finite; NaN stays
    u = hn::IfThenElse(hn::Lt(u, all(-80.0F)), all(-80.0F), u);
    return hn::Div(all(1.0F), hn::Add(all(1.0F), hn::Exp(kFloats, u)));
}

void gelu_now(const MatrixView<const float>& x, const MatrixView<float>& y) {
    for (Index i = 0; i < x.rows; ++i)
        for (Index j = 0; j < x.columns; j += step_of()) {
            const V v = hn::Load(kFloats, x.data + i * x.stride + j);
            hn::Store(hn::Mul(v, gate(v)), kFloats, y.data + i * y.stride + j);
        }
}

// forward:  y = x σ, σ = σ(2u)   so   dy/dx = σ + x σ (1 − σ) 2u',  2u' = kRoot (1 + 3 kCube x²)
void gelu_backward_now(const MatrixView<const float>& x, const MatrixView<float>& d_y) {
    for (Index i = 0; i < x.rows; ++i)
        for (Index j = 0; j < x.columns; j += step_of()) {
            const V v = hn::Load(kFloats, x.data + i * x.stride + j);
            const V s = gate(v);
            const V inner = hn::MulAdd(hn::Mul(v, v), all(3.0F * kCube * kRoot), all(kRoot));
            const V bend = hn::Mul(hn::Mul(hn::Mul(v, s), hn::Sub(all(1.0F), s)), inner);
            float* at = d_y.data + i * d_y.stride + j;
            hn::Store(hn::Mul(hn::Load(kFloats, at), hn::Add(s, bend)), kFloats, at);
        }
}

// --- the loss

AnswerRow answer_row_now(std::span<float> logits, Index target, float weight) {
    const auto n = static_cast<Index>(logits.size());
    float* const row = logits.data();
    AnswerRow answer;
    for (Index j = 1; j < n; ++j)
        if (row[j] > row[answer.largest]) answer.largest = j;
    const V max = all(row[answer.largest]);
    const float picked = row[target];
    V sum = hn::Zero(kFloats);
    for (Index j = 0; j < n; j += step_of()) {
        V s = hn::Sub(hn::Load(kFloats, row + j), max);
        const auto none = hn::Lt(s, all(kLeast));
        s = hn::IfThenElse(none, all(kLeast), s);
        const V e = hn::IfThenZeroElse(none, hn::Exp(kFloats, s));
        hn::Store(e, kFloats, row + j);
        sum = hn::Add(sum, load_or(row, j, n, hn::Zero(kFloats)));
    }
    const float whole = total(sum);
    answer.loss = std::log(static_cast<double>(whole)) + hn::GetLane(max) - picked;
    answer.share = row[target] / whole;
    const V share = all(weight / whole);
    for (Index j = 0; j < n; j += step_of())
        hn::Store(hn::Mul(load_or(row, j, n, hn::Zero(kFloats)), share), kFloats, row + j);
    row[target] -= weight;
    return answer;
}

// --- the step

double sum_lanes_now(std::span<const float* const> lanes, std::span<float> to) {
    constexpr std::size_t kRun = 256;
    double squares = 0.0;
    for (std::size_t first = 0; first < to.size(); first += kRun) {
        const std::size_t count = HWY_MIN(kRun, to.size() - first);
        V sum_squares = hn::Zero(kFloats);
        std::size_t n = first;
        const auto wide = static_cast<std::size_t>(step_of());
        for (; n + wide <= first + count; n += wide) {
            V sum = hn::LoadU(kFloats, lanes[0] + n);
            for (std::size_t l = 1; l < lanes.size(); ++l)
                sum = hn::Add(sum, hn::LoadU(kFloats, lanes[l] + n));
            hn::StoreU(sum, kFloats, to.data() + n);
            sum_squares = hn::MulAdd(sum, sum, sum_squares);
        }
        squares += total(sum_squares);
        for (; n < first + count; ++n) {
            float sum = lanes[0][n];
            for (std::size_t l = 1; l < lanes.size(); ++l) sum += lanes[l][n];
            to[n] = sum;
            squares += static_cast<double>(sum) * sum;
        }
    }
    return squares;
}

struct AdamLanes {
    V w, m, v;
};
HWY_INLINE AdamLanes adam_lanes(const AdamW& step, V g, AdamLanes at) {
    g = hn::Mul(g, all(step.factor));
    at.m = hn::MulAdd(all(step.rest1), g, hn::Mul(all(step.beta1), at.m));
    at.v = hn::MulAdd(hn::Mul(all(step.rest2), g), g, hn::Mul(all(step.beta2), at.v));
    const V root = hn::Div(hn::Sqrt(at.v), all(step.root_correction2));
    const V change = hn::Div(at.m, hn::Add(root, all(1e-8F)));
    at.w = hn::NegMulAdd(all(step.rate * step.decay), at.w, at.w);
    at.w = hn::NegMulAdd(all(step.rate / step.correction1), change, at.w);
    return at;
}

void adamw_run(const AdamW& step, const float* gradient, const TransientActions& at) {
    const AdamLanes made = adam_lanes(step, hn::LoadU(kFloats, gradient),
                                      {hn::LoadU(kFloats, at.weights), hn::LoadU(kFloats, at.first),
                                       hn::LoadU(kFloats, at.second)});
    hn::StoreU(made.w, kFloats, at.weights);
    hn::StoreU(made.m, kFloats, at.first);
    hn::StoreU(made.v, kFloats, at.second);
}

void adamw_now(const AdamW& step, std::span<const float> gradient, const TransientActions& at) {
    const auto wide = static_cast<std::size_t>(step_of());
    std::size_t n = 0;
    for (; n + wide <= gradient.size(); n += wide)
        adamw_run(step, gradient.data() + n, {at.weights + n, at.first + n, at.second + n});
    const std::size_t rest = gradient.size() - n;
    if (rest == 0) return;
    // Fewer than a vector: as the head of a whole one.
    float g[HWY_MAX_BYTES / 4] = {}, w[HWY_MAX_BYTES / 4] = {};
    float m[HWY_MAX_BYTES / 4] = {}, v[HWY_MAX_BYTES / 4] = {};
    std::copy_n(gradient.data() + n, rest, g);
    std::copy_n(at.weights + n, rest, w);
    std::copy_n(at.first + n, rest, m);
    std::copy_n(at.second + n, rest, v);
    adamw_run(step, g, {w, m, v});
    std::copy_n(w, rest, at.weights + n);
    std::copy_n(m, rest, at.first + n);
    std::copy_n(v, rest, at.second + n);
}

}  // namespace
}  // namespace attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace attn::train {

HWY_EXPORT(softmax_rows_now);
HWY_EXPORT(softmax_backward_now);
HWY_EXPORT(norm_rows_now);
HWY_EXPORT(norm_backward_now);
HWY_EXPORT(add_bias_now);
HWY_EXPORT(add_column_sums_now);
HWY_EXPORT(add_rows_now);
HWY_EXPORT(gelu_now);
HWY_EXPORT(gelu_backward_now);
HWY_EXPORT(answer_row_now);
HWY_EXPORT(sum_lanes_now);
HWY_EXPORT(adamw_now);

RowSums& RowSums::operator+=(const RowSums& other) {
    entropy += other.entropy;
    max_probability += other.max_probability;
    saturated += other.saturated;
    rows += other.rows;
    return *this;
}

void softmax_rows(MatrixView<float> scores, float factor, bool causal, RowSums& sums) {
    HWY_DYNAMIC_DISPATCH(softmax_rows_now)(scores, factor, causal, sums);
}
void softmax_backward(MatrixView<const float> weights, MatrixView<float> d_weights, float factor) {
    HWY_DYNAMIC_DISPATCH(softmax_backward_now)(weights, d_weights, factor);
}
void norm_rows(MatrixView<const float> x, const NormRows& norm, MatrixView<float> y) {
    HWY_DYNAMIC_DISPATCH(norm_rows_now)(x, norm, y);
}
void norm_backward(MatrixView<const float> d_y, const NormRows& norm, MatrixView<float> d_x,
                   const NormGradient& gradient) {
    HWY_DYNAMIC_DISPATCH(norm_backward_now)(d_y, norm, d_x, gradient);
}
void add_bias(MatrixView<float> x, const float* bias) {
    HWY_DYNAMIC_DISPATCH(add_bias_now)(x, bias);
}
void add_column_sums(MatrixView<const float> x, float* sums) {
    HWY_DYNAMIC_DISPATCH(add_column_sums_now)(x, sums);
}
void add_rows(MatrixView<const float> from, MatrixView<float> to) {
    HWY_DYNAMIC_DISPATCH(add_rows_now)(from, to);
}
void gelu(MatrixView<const float> x, MatrixView<float> y) { HWY_DYNAMIC_DISPATCH(gelu_now)(x, y); }
void gelu_backward(MatrixView<const float> x, MatrixView<float> d_y) {
    HWY_DYNAMIC_DISPATCH(gelu_backward_now)(x, d_y);
}
AnswerRow answer_row(std::span<float> logits, Index target, float weight) {
    return HWY_DYNAMIC_DISPATCH(answer_row_now)(logits, target, weight);
}
double sum_lanes(std::span<const float* const> lanes, std::span<float> to) {
    return HWY_DYNAMIC_DISPATCH(sum_lanes_now)(lanes, to);
}
void adamw(const AdamW& step, std::span<const float> gradient, TransientActions at) {
    HWY_DYNAMIC_DISPATCH(adamw_now)(step, gradient, at);
}

void sgd(const Sgd& step, std::span<const float> gradient, TransientActions at) {
    for (std::size_t n = 0; n < gradient.size(); ++n) {
        const float g = gradient[n] * step.factor + step.decay * at.weights[n];
        at.first[n] = step.momentum * at.first[n] + g;
        at.weights[n] -= step.rate * at.first[n];
    }
}

}  // namespace attn::train
#endif  // HWY_ONCE
