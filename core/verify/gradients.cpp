// u the unit roundoff, e an absolute error; dS = A ∘ (dO Vᵀ − rowsum), d_q = scale · dS K, d_k = scale · dSᵀ Q.

#include "core/verify/gradients.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/call.h"
#include "core/cast.h"
#include "core/engine.h"
#include "core/norms.h"
#include "core/spec_arrays.h"
#include "core/stages.h"

namespace attn::verify {
namespace {

constexpr double kTimesSingle = 16.0;
constexpr double kRoundings = 64.0;

double largest_entry(const TensorD& tensor) { return largest_finite(tensor); }

double most_off(const TensorD& actual, const TensorD& exact) {
    double most = 0.0;
    if (actual.shape() != exact.shape()) return most;
    for (std::size_t n = 0; n < exact.values().size(); ++n) {
        const double off = std::abs(actual.values()[n] - exact.values()[n]);
        if (std::isfinite(off)) most = std::max(most, off);
    }
    return most;
}

/// "d_" and each key of stages, then of parameters, then of the bias.
const std::vector<std::string>& keys() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> made;
        for (const StageInfo& stage : stage_table()) made.push_back("d_" + std::string(stage.key));
        for (const ParamInfo& param : param_table()) made.push_back("d_" + std::string(param.key));
        made.emplace_back("d_bias");
        return made;
    }();
    return all;
}

template <class Scalar>
const TensorOf<Scalar>& tensor_at(const TraceOf<Scalar>& trace, std::size_t n) {
    if (n == kStageCount + kParamCount) return trace.bias;
    return n < kStageCount ? trace.stages[n] : trace.params.tensors[n - kStageCount];
}

/// What rounding makes of each stage's gradient, in the order of stages: 0 where nothing is known.
std::array<double, kStageCount> rounding_of(const Subject& subject, const Backward& backward,
                                            double u) {
    std::array<double, kStageCount> e{};
    const Dimensions& n = subject.size;
    const auto terms = static_cast<double>(n.tk + n.d_v);
    const double pair = 4.0 * u * (2.0 + 2.0 * std::sqrt(terms)) *
                        largest_entry(backward.reference[Stage::weights]);
    for (const Stage stage : {Stage::masked, Stage::biased, Stage::scaled})
        e[index_of(stage)] = pair;
    const double scaled = pair * std::abs(score_factor(subject.spec, n.d_k));
    e[index_of(Stage::scores)] = scaled;
    const double queries = std::sqrt(static_cast<double>(n.tq * n.heads / n.kv_heads));
    for (const Stage stage : {Stage::q, Stage::q_norm, Stage::q_rot})
        e[index_of(stage)] = scaled * largest_entry(operand(subject, Stage::k_norm));
    for (const Stage stage : {Stage::k, Stage::k_norm, Stage::k_rot})
        e[index_of(stage)] = scaled * queries * largest_entry(operand(subject, Stage::q_norm));
    return e;
}

/// The factor between scores and scaled scores, of the largest; nullopt: they are not in proportion.
std::optional<double> scale_in(const TraceD& trace) {
    const auto scores = trace[Stage::scores].values(), scaled = trace[Stage::scaled].values();
    const auto less = [](double a, double b) { return std::abs(a) < std::abs(b); };
    const auto at = std::ranges::max_element(scores, less) - scores.begin();
    if (scores.empty() || scores[at] == 0.0) return std::nullopt;
    return scaled[at] / scores[at];
}

}  // namespace

std::vector<Named> shared_gradients(const Results& actual, const TraceD& expected) {
    std::vector<Named> shared;
    for (std::size_t n = 0; n < keys().size(); ++n)
        if (!tensor_at(actual, n).empty() && !tensor_at(expected, n).empty())
            shared.push_back({keys()[n], &tensor_at(actual, n), &tensor_at(expected, n)});
    return shared;
}

std::optional<Stage> stage_of(std::string_view key) {
    return find_stage(key.starts_with("d_") ? key.substr(2) : key);
}

Result<Backward> make_backward(const Subject& subject, const Upstream& upstream) {
    Backward made;
    made.upstream = {upstream.stage, cast<double>(upstream.gradient)};
    auto exact =
        attend_exact_backward(subject.inputs, subject.spec, subject.reference, made.upstream);
    if (!exact) return tl::unexpected(std::move(exact.error()));
    made.reference = *std::move(exact);
    const auto inputs = cast<float>(subject.inputs);
    const auto single = attend(inputs, subject.spec, "staged").and_then([&](const Trace& forward) {
        return attend_backward(inputs, subject.spec, forward, upstream, "staged");
    });
    if (single) made.single = cast<double>(*single);
    return made;
}

Bounds gradient_bounds(const Subject& subject, const Backward& backward, const TraceD& expected,
                       double roundoff) {
    const double wider = roundoff / kFloatRoundoff;
    const auto floor = rounding_of(subject, backward, roundoff);
    Bounds bounds;
    for (std::size_t n = 0; n < keys().size(); ++n) {
        const TensorD& exact = tensor_at(backward.reference, n);
        const double largest = largest_entry(exact);
        const double own = kTimesSingle * wider * most_off(tensor_at(backward.single, n), exact) +
                           gradient_tolerance(exact, roundoff).absolute +
                           (n < kStageCount ? floor[n] : 0.0);
        const double grown = largest > 0.0 ? largest_entry(tensor_at(expected, n)) / largest : 1.0;
        bounds.gradients[keys()[n]] = {own * std::max(grown, 1.0), 2.0 * roundoff};
    }
    return bounds;
}

Tolerance gradient_tolerance(const TensorD& expected, double roundoff) {
    return {kRoundings * roundoff * largest_entry(expected), 2.0 * roundoff};
}

TraceD planted_gradients(const Subject& subject, const Backward& backward, const TraceD& planted) {
    AttentionSpec spec = subject.spec;
    Mask pairs(planted[Stage::masked].shape());
    for (std::size_t n = 0; n < pairs.values().size(); ++n)
        pairs.values()[n] = std::isfinite(planted[Stage::masked].values()[n]) ? 1 : 0;
    spec.mask = spec.mask.bias_alone();
    spec.mask.custom = std::make_shared<const Mask>(std::move(pairs));
    if (!spec.query_offset) spec.query_offset = subject.size.query_offset;
    if (const auto scale = scale_in(planted)) {
        spec.scale = ScaleKind::value;
        spec.scale_value = *scale * spec.temperature;
    }
    return attend_exact_backward(subject.inputs, spec, planted, backward.upstream)
        .value_or(TraceD{});
}

}  // namespace attn::verify
