// Softmax attention over one chunk of keys after the other, for any score, position, mask, sink and dropout. Of a row
// only m (the largest logit so far), ℓ (the sum of exponentials below it) and O (their sum times values) are kept:
//   m' = max(m, max_j M[j]),  r = exp(m − m'),  P[j] = exp(M[j] − m'),  ℓ' = r ℓ + Σ P[j],  O' = r O + Σ P[j] v_j
// and after the last chunk context = O / ℓ. A sink begins with m = sink, ℓ = 1.
// Source: Milakov & Gimelshein 2018, arXiv:1805.02867; Rabe & Staats 2021, arXiv:2112.05682.

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/call.h"
#include "core/dropout.h"
#include "core/kernels/reference_parts.h"
#include "core/masks.h"
#include "core/operations/parts.h"
#include "core/scores/score.h"
#include "core/stages.h"

namespace attn {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Index chunk_count(const Dimensions& size, const OperationSpec& spec) {
    return (size.tk - 1) / std::min(spec.chunk, size.tk) + 1;
}

/// NaN wins, unlike in std::max.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// One row of one head: what its chunks read and write.
struct ChunkRow {
    std::span<const double> masked;
    std::span<const std::uint8_t> open;  // allowed keys
    std::vector<double> drop;            // dropout's factor of each key
    std::span<double> chunk_max, running_max, rescale, shares, running_sum, accumulator, implied;
    std::span<double> context;
};

class Chunks {
  public:
    Chunks(const CallD& call, const OperationSpec& spec, const TraceD& shared)
        : call_(call),
          size_(call.size()),
          length_(std::min(spec.chunk, size_.tk)),
          count_(chunk_count(size_, spec)),
          shared_(shared),
          sinks_(call.inputs().params[Param::sinks]),
          open_(static_cast<std::size_t>(size_.tk)) {}

    Index count() const { return count_; }
    Index begin(Index c) const { return c * length_; }
    Index end(Index c) const { return std::min(size_.tk, (c + 1) * length_); }
    std::span<const std::uint8_t> open() const { return open_; }
    /// How many keys row i sees; open() says which.
    Index look(Index b, Index h, Index i) {
        return fill_allowed(call_.spec().mask, size_, b, h, i, open_);
    }
    std::vector<double> drop(Index b, Index h, Index i) const {
        std::vector<double> factors(open_.size());
        for (Index j = 0; j < size_.tk; ++j)
            factors[j] = dropout_factor(call_.spec(), size_, b, h, i, j);
        return factors;
    }
    double sink(Index h) const { return sinks_.empty() ? kMinusInfinity : sinks_(0, 0, 0, h); }

    ChunkRow row(OperationTraceD& trace, TensorD& context, Index b, Index h, Index i) {
        const auto of = [&](std::string_view key) { return trace[key].matrix(b, h).row(i); };
        return {shared_[Stage::masked].matrix(b, h).row(i),
                open_,
                drop(b, h, i),
                of("chunk_max"),
                of("running_max"),
                of("rescale"),
                of("shares"),
                of("running_sum"),
                of("accumulator"),
                of("implied"),
                context.matrix(b, h).row(i)};
    }

  private:
    const CallD& call_;
    const Dimensions& size_;
    Index length_;
    Index count_;
    const TraceD& shared_;
    const TensorD& sinks_;
    std::vector<std::uint8_t> open_;
};

/// Chunk c of a row; `m`, `sum` and `o` go from the state before it to the one after it.
void take_chunk(const Chunks& chunks, Index c, ConstViewD v, ChunkRow& row, double& m, double& sum,
                std::vector<double>& o) {
    const auto at = static_cast<std::size_t>(c);
    double largest = kMinusInfinity;
    for (Index j = chunks.begin(c); j < chunks.end(c); ++j)
        if (row.open[j] != 0) largest = larger(row.masked[j], largest);
    const double before = m;
    m = larger(before, largest);
    const double rescale = m == kMinusInfinity ? 1.0 : std::exp(before - m);
    sum *= rescale;
    for (double& value : o) value *= rescale;
    for (Index j = chunks.begin(c); j < chunks.end(c); ++j) {
        const auto n = static_cast<std::size_t>(j);
        if (row.open[n] == 0) continue;
        const double p = m == kMinusInfinity ? 0.0 : std::exp(row.masked[n] - m);
        row.shares[n] = p;
        sum += p;
        for (std::size_t k = 0; k < o.size(); ++k)
            o[k] += p * row.drop[n] * v(j, static_cast<Index>(k));
    }
    row.chunk_max[at] = largest;
    row.running_max[at] = m;
    row.rescale[at] = rescale;
    row.running_sum[at] = sum;
    std::ranges::copy(o, row.accumulator.begin() + c * static_cast<Index>(o.size()));
}

/// forward: P relative to the maximum of its chunk, so each later rescaling counts.
void fill_implied(const Chunks& chunks, ChunkRow& row, double sum) {
    double factor = 1.0 / sum;
    for (Index c = chunks.count() - 1; c >= 0; --c) {
        for (Index j = chunks.begin(c); j < chunks.end(c); ++j) {
            const auto n = static_cast<std::size_t>(j);
            if (row.open[n] != 0) row.implied[n] = row.shares[n] * factor * row.drop[n];
        }
        factor *= row.rescale[c];
    }
}

/// Returns logsumexp.
double run_row(const Chunks& chunks, ConstViewD v, double sink, ChunkRow& row) {
    double m = sink;
    double sum = sink == kMinusInfinity ? 0.0 : 1.0;
    std::vector<double> o(row.context.size());
    for (Index c = 0; c < chunks.count(); ++c) take_chunk(chunks, c, v, row, m, sum, o);
    fill_implied(chunks, row, sum);
    for (std::size_t k = 0; k < o.size(); ++k) row.context[k] = o[k] / sum;
    return m + std::log(sum);
}

/// A row without keys, and without a sink that could take its weight.
void follow_policy(EmptyRows policy, ChunkRow& row) {
    const double value = policy == EmptyRows::nan ? kNan : 0.0;
    std::ranges::fill(row.implied, value);
    std::ranges::fill(row.context, value);
}

Result<OperationTraceD> forward(const CallD& call, const OperationSpec& spec,
                                const OperationParamsD&, const RunControl& control) {
    const Dimensions& size = call.size();
    ForwardPass pass(call, spec,
                     {"chunk_max", "running_max", "rescale", "shares", "running_sum", "accumulator",
                      "logsumexp", "implied"});
    fill_logits(call, pass.shared);
    Chunks chunks(call, spec, pass.shared);
    const TraceD& made = pass.shared;
    const auto run = [&](Index b, Index h, Index g) {
        for (Index i = 0; i < size.tq && !control.stop.stop_requested(); ++i) {
            const Index keys = chunks.look(b, h, i);
            ChunkRow row = chunks.row(pass.trace, pass.context, b, h, i);
            pass.trace["logsumexp"](b, h, i, 0) =
                run_row(chunks, made[Stage::v].matrix(b, g), chunks.sink(h), row);
            if (keys == 0 && chunks.sink(h) == kMinusInfinity)
                follow_policy(call.spec().empty_rows, row);
        }
    };
    return pass.run(control, run);
}

/// One row of the backward pass. m is a constant: what it adds to an exponent it takes from the next factor.
class RowGradient {
  public:
    RowGradient(const Chunks& chunks, const OperationTraceD& f, const TraceD& d,
                OperationTraceD& made)
        : chunks_(chunks), f_(f), d_context_(d[Stage::context]), made_(made) {}

    // forward:  context = O / ℓ  so  d_O = d_context / ℓ,  d_ℓ = −d_context · context / ℓ
    /// Returns the gradient of ℓ before the first chunk.
    double run(Index b, Index h, Index i, const std::vector<double>& drop, ConstViewD v,
               std::span<double> d_masked, ViewD d_v, double sum_before) {
        const auto d_c = d_context_.matrix(b, h).row(i);
        const auto context = f_["context"].matrix(b, h).row(i);
        const double sum = f_["running_sum"](b, h, i, chunks_.count() - 1);
        double d_sum = 0.0;
        std::vector<double> d_o(d_c.size());
        for (std::size_t k = 0; k < d_c.size(); ++k) {
            d_o[k] = d_c[k] / sum;
            d_sum -= d_o[k] * context[k];
        }
        for (Index c = chunks_.count() - 1; c >= 0; --c) {
            keep(b, h, i, c, d_o, d_sum);
            for (Index j = chunks_.begin(c); j < chunks_.end(c); ++j)
                if (chunks_.open()[j] != 0)
                    pair({b, h, i, j}, drop[j], d_o, d_sum, v, d_masked, d_v);
            back(b, h, i, c, d_o, d_sum, sum_before);
        }
        return d_sum;
    }

  private:
    struct Pair {
        Index b, h, i, j;
    };

    void keep(Index b, Index h, Index i, Index c, const std::vector<double>& d_o, double d_sum) {
        made_["running_sum"](b, h, i, c) = d_sum;
        std::ranges::copy(d_o, made_["accumulator"].matrix(b, h).row(i).begin() +
                                   c * static_cast<Index>(d_o.size()));
    }

    // forward:  ℓ += P,  O += P keep v,  P = exp(M − m)
    // so        d_P = d_ℓ + keep d_O · v,  d_M = P d_P,  d_v += P keep d_O
    void pair(Pair at, double drop, const std::vector<double>& d_o, double d_sum, ConstViewD v,
              std::span<double> d_masked, ViewD d_v) {
        const double p = f_["shares"](at.b, at.h, at.i, at.j);
        double d_p = d_sum;
        for (std::size_t k = 0; k < d_o.size(); ++k) {
            d_p += drop * d_o[k] * v(at.j, static_cast<Index>(k));
            d_v(at.j, static_cast<Index>(k)) += p * drop * d_o[k];
        }
        made_["shares"](at.b, at.h, at.i, at.j) = d_p;
        d_masked[at.j] = p * d_p;
    }

    // forward:  ℓ' = r ℓ + …,  O' = r O + …  so  d_r = d_ℓ' ℓ + d_O' · O,  d_ℓ = r d_ℓ',  d_O = r d_O'
    void back(Index b, Index h, Index i, Index c, std::vector<double>& d_o, double& d_sum,
              double sum_before) {
        double d_r = d_sum * (c == 0 ? sum_before : f_["running_sum"](b, h, i, c - 1));
        const double r = f_["rescale"](b, h, i, c);
        const auto width = static_cast<Index>(d_o.size());
        for (Index k = 0; k < width; ++k) {
            double& value = d_o[k];
            if (c > 0) d_r += value * f_["accumulator"](b, h, i, (c - 1) * width + k);
            value *= r;
        }
        d_sum *= r;
        made_["rescale"](b, h, i, c) = d_r;
    }

    const Chunks& chunks_;
    const OperationTraceD& f_;
    const TensorD& d_context_;
    OperationTraceD& made_;
};

/// Under EmptyRows::nan the NaN of an empty row travels to every key, as in the reference.
void spread_nan(std::span<double> d_masked, ViewD d_v) {
    std::ranges::fill(d_masked, kNan);
    for (Index j = 0; j < d_v.rows; ++j) std::ranges::fill(d_v.row(j), kNan);
}

Result<OperationTraceD> backward(const CallD& call, const OperationSpec& spec,
                                 const OperationParamsD& params, const UpstreamD& upstream,
                                 const RunControl& control) {
    const Dimensions& size = call.size();
    Result<OperationTraceD> made = forward(call, spec, params, control);
    if (!made) return made;
    const OperationTraceD& f = *made;
    TraceD shared;
    fill_logits(call, shared);
    BackwardPass pass(call, spec, f, upstream, {"rescale", "shares", "running_sum", "accumulator"});
    TraceD& d = pass.d;
    d[Stage::masked] = TensorD(stage_shape(Stage::masked, size, call.spec()));
    d.params[Param::sinks] = TensorD(call.inputs().params[Param::sinks].shape());
    Chunks chunks(call, spec, shared);
    RowGradient row(chunks, f, d, pass.made);
    const auto run = [&](Index b, Index h, Index g) {
        for (Index i = 0; i < size.tq && !control.stop.stop_requested(); ++i) {
            const bool empty = chunks.look(b, h, i) == 0;
            const bool sink = chunks.sink(h) != kMinusInfinity;
            const auto d_masked = d[Stage::masked].matrix(b, h).row(i);
            const ViewD d_v = d[Stage::v].matrix(b, g);
            if (empty && !sink) {
                if (call.spec().empty_rows == EmptyRows::nan) spread_nan(d_masked, d_v);
                continue;
            }
            const double d_first = row.run(b, h, i, chunks.drop(b, h, i), f["v"].matrix(b, g),
                                           d_masked, d_v, sink ? 1.0 : 0.0);
            if (sink) d.params[Param::sinks](0, 0, 0, h) += d_first;
        }
    };
    return pass.run(control, run, [&] { logits_backward(call, shared, d); });
}

std::string refuses(const CallForm&, const OperationSpec& spec) {
    if (spec.chunk >= 1) return {};
    return fmt::format("chunk is {}: it must be at least 1", spec.chunk);
}

OperationCost cost(const Dimensions& size, const AttentionSpec& spec,
                   const OperationSpec& operation) {
    OperationCost made = attention_cost(size, spec);
    const auto rows = static_cast<double>(size.batch * size.heads * size.tq);
    const auto d_v = static_cast<double>(size.d_v);
    made.elementwise += rows * static_cast<double>(chunk_count(size, operation)) * (d_v + 3.0);
    made.stored = {
        {"m, ℓ and O of each query", rows * (d_v + 2.0)},
        {"logits of one chunk", rows * static_cast<double>(std::min(operation.chunk, size.tk))}};
    return made;
}

// clang-format off
}  // namespace

OperationInfo chunked_row() {
    static constexpr std::string_view settings[] = {"chunk"};
    constexpr std::string_view kSource = "Milakov & Gimelshein 2018, arXiv:1805.02867; Rabe & Staats 2021, arXiv:2112.05682";
    static const std::vector<OperationStage> stages = stages_of(kSource, kUpToMask, {
        {"chunk_max", "μ", "max", "Largest logit of the chunk",
         R"(\mu_{i,c} = \max_{j \in c} M_{i,j})",
         Axis::query, Axis::chunk, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"masked", Lights::same_row}},
         "The largest logit of the chunk in each row.", {}, false},
        {"running_max", "m", "m", "Largest logit so far",
         R"(m_{i,c} = \max(m_{i,c-1}, \mu_{i,c}))",
         Axis::query, Axis::chunk, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"chunk_max", Lights::same_cell}},
         "The largest logit of all chunks up to this one; −∞ before the first.", {}, false},
        {"rescale", "r", "rescale", "Factor of the earlier sums",
         R"(r_{i,c} = \exp(m_{i,c-1} - m_{i,c}))",
         Axis::query, Axis::chunk, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"running_max", Lights::same_row}},
         "Earlier sums used the old maximum; this factor converts them to the new one.", {}},
        {"shares", "P", "exp", "Exponentials below the running maximum",
         R"(P_{i,j} = \exp(M_{i,j} - m_{i,c}))",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"masked", Lights::same_cell}, OperationOperand{"running_max", Lights::same_row}},
         "The exponentials of each chunk, relative to the running maximum.", {}},
        {"running_sum", "ℓ", "ℓ", "Sum so far",
         R"(\ell_{i,c} = r_{i,c}\,\ell_{i,c-1} + \sum_{j \in c} P_{i,j})",
         Axis::query, Axis::chunk, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"rescale", Lights::same_cell}, OperationOperand{"shares", Lights::same_row}},
         "The softmax denominator so far: rescaled, then increased.", {}},
        {"accumulator", "O", "O", "Weighted values so far",
         R"(O_{i,c} = r_{i,c}\,O_{i,c-1} + \sum_{j \in c} P_{i,j}\,v_j)",
         Axis::query, Axis::chunk_value, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"rescale", Lights::same_row}, OperationOperand{"shares", Lights::same_row}, OperationOperand{"v", Lights::column}},
         "The context so far, before the division: rescaled, then increased.", {}},
        {"logsumexp", "L", "L", "Logarithm of the row's sum",
         R"(L_i = m_i + \ln(\ell_i))",
         Axis::query, Axis::one, HeadAxis::query, Exists::always, ColorScale::diverging, Role::score,
         {OperationOperand{"running_max", Lights::same_row}, OperationOperand{"running_sum", Lights::same_row}},
         "One number for each row; the backward pass recomputes every weight from it.", {}, false},
        {"implied", "Â", "implied", "Implied weights",
         R"(\hat{A}_{i,j} = \frac{P_{i,j}}{\ell_i} \cdot \prod_{c' > c} r_{i,c'})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"shares", Lights::same_cell}, OperationOperand{"rescale", Lights::same_row}, OperationOperand{"running_sum", Lights::same_row}},
         "The final factor of each value: the softmax weights, which a chunked kernel never stores.", {}},
        context_row(R"(\mathrm{context}_i = \frac{O_i}{\ell_i})",
                    "One division for each row after the last chunk."),
    });
    return {Operation::chunked, "chunked", "Chunked attention (online softmax)",
        R"(m' = \max(m, \mu)\text{, }\ell' = e^{m - m'}\,\ell + \sum_j P_j\text{, }O' = e^{m - m'}\,O + \sum_j P_j\,v_j)",
        "Softmax attention over one chunk of keys at a time: the same result without a stored row of weights.",
        kSource, true, stages, {}, cost, refuses, forward, backward, "chunked softmax", settings};
}
// clang-format on

}  // namespace attn
