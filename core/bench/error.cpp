// i query row of the whole call, s its place among the sampled ones.

#include "core/bench/error.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/backend.h"
#include "core/bench/workload.h"
#include "core/cast.h"
#include "core/engine.h"

namespace attn::bench {
namespace {

constexpr Index kMostRows = 8;

/// Evenly spread, the first and the last among them.
std::vector<Index> sampled_rows(Index n) {
    const Index count = std::min(n, kMostRows);
    std::vector<Index> rows;
    for (Index s = 0; s < count; ++s) rows.push_back(count == 1 ? 0 : s * (n - 1) / (count - 1));
    return rows;
}

Tensor take_rows(const Tensor& from, const std::vector<Index>& rows) {
    const Shape shape = from.shape();
    auto to = Tensor::uninitialised({shape.b, shape.h, static_cast<Index>(rows.size()), shape.d});
    for (Index h = 0; h < shape.h; ++h)
        for (std::size_t s = 0; s < rows.size(); ++s)
            std::ranges::copy(from.matrix(0, h).row(rows[s]),
                              to.matrix(0, h).row(static_cast<Index>(s)).begin());
    return to;
}

/// `rows` in their places of a tensor that is 0 elsewhere.
Tensor spread_rows(const Tensor& from, const std::vector<Index>& rows, Index n) {
    const Shape shape = from.shape();
    Tensor to({shape.b, shape.h, n, shape.d});
    for (Index h = 0; h < shape.h; ++h)
        for (std::size_t s = 0; s < rows.size(); ++s)
            std::ranges::copy(from.matrix(0, h).row(static_cast<Index>(s)),
                              to.matrix(0, h).row(rows[s]).begin());
    return to;
}

/// The call with query `row` alone, where it stands.
struct Sample {
    InputsD inputs;
    AttentionSpec spec;
};

Sample sample_of(const Workload& work, const Inputs& inputs, Index row) {
    Sample sample{cast<double>(inputs), make_spec(work)};
    sample.inputs.q = cast<double>(take_rows(inputs.q, {row}));
    sample.spec.query_offset = row;
    return sample;
}

void add(TensorD& sum, const TensorD& other) {
    if (sum.empty()) sum = TensorD(other.shape());
    std::ranges::transform(sum.values(), other.values(), sum.values().begin(), std::plus<>());
}

/// NaN where it is computed and not exact, or the other way round.
double error_between(const Tensor& computed, const TensorD& exact) {
    double worst = 0.0;
    double top = 0.0;
    for (std::size_t n = 0; n < exact.values().size(); ++n) {
        const double difference = std::abs(computed.values()[n] - exact.values()[n]);
        if (std::isnan(difference)) return difference;
        worst = std::max(worst, difference);
        top = std::max(top, std::abs(exact.values()[n]));
    }
    return top > 0.0 ? worst / top : worst;
}

/// The largest of some errors; NaN where one is NaN.
class Worst {
  public:
    void add(double error) {
        if (std::isnan(error) || error > worst_) worst_ = error;
    }
    double value() const { return worst_; }

  private:
    double worst_ = 0.0;
};

Result<double> forward_error(const Backend& backend, const Workload& work, const Inputs& inputs) {
    const StageSet keep = work.pass == Pass::trace ? all_stages() : only_stage(Stage::context);
    const auto computed = attend(inputs, make_spec(work), backend, keep);
    if (!computed) return tl::unexpected(computed.error());
    Worst worst;
    for (const Index row : sampled_rows(work.rows())) {
        const Sample sample = sample_of(work, inputs, row);
        const auto exact = attend_exact(sample.inputs, sample.spec);
        if (!exact) return tl::unexpected(exact.error());
        worst.add(
            error_between(take_rows((*computed)[Stage::context], {row}), (*exact)[Stage::context]));
    }
    return worst.value();
}

Result<double> backward_error(const Backend& backend, const Workload& work, const Inputs& inputs) {
    const std::vector<Index> rows = sampled_rows(work.rows());
    const Tensor upstream = take_rows(inputs.v, rows);  // any numbers of that shape
    const auto forward = attend(inputs, make_spec(work), backend);
    if (!forward) return tl::unexpected(forward.error());
    const auto d = attend_backward(inputs, make_spec(work), *forward,
                                   {Stage::context, spread_rows(upstream, rows, work.n)}, backend);
    if (!d) return tl::unexpected(d.error());
    Worst worst;
    TensorD d_k, d_v;
    for (const Index row : rows) {
        const Sample sample = sample_of(work, inputs, row);
        const auto exact = attend_exact(sample.inputs, sample.spec);
        if (!exact) return tl::unexpected(exact.error());
        const auto d_exact =
            attend_exact_backward(sample.inputs, sample.spec, *exact,
                                  {Stage::context, cast<double>(take_rows(inputs.v, {row}))});
        if (!d_exact) return tl::unexpected(d_exact.error());
        worst.add(error_between(take_rows((*d)[Stage::q], {row}), (*d_exact)[Stage::q]));
        add(d_k, (*d_exact)[Stage::k]);
        add(d_v, (*d_exact)[Stage::v]);
    }
    worst.add(error_between((*d)[Stage::k], d_k));
    worst.add(error_between((*d)[Stage::v], d_v));
    return worst.value();
}

}  // namespace

Result<double> error_of(const Backend& backend, const Workload& work, const Inputs& inputs) {
    return work.pass == Pass::backward ? backward_error(backend, work, inputs)
                                       : forward_error(backend, work, inputs);
}

}  // namespace attn::bench
