#include <algorithm>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/workspaces/cost/requests.h"
#include "app/workspaces/cost/view.h"
#include "core/bench/measure.h"
#include "core/kernels/peak.h"
#include "core/rng.h"
#include "core/threads.h"

namespace attn::view {
namespace {

constexpr double kProbeMs = 40.0;
constexpr bench::Effort kEffort{5, 0.1};

double at(const CostFormula& formula, const CostControls& of) {
    return estimate_of(formula, of.sizes);
}

/// Four matrices of weights at most, as staged keeps them.
double bytes_needed(const CostControls& of) {
    return 4.0 * at(stored_bytes(Holding::materialised), of);
}
bool can_measure(const CostControls& of) {
    return at(product_flop(of.pass, Holding::fused), of) <= kMostMeasuredFlop &&
           bytes_needed(of) <= kMostMeasuredBytes;
}

Tensor uniform_tensor(const Shape& shape, std::uint64_t seed) {
    Tensor tensor(shape);
    std::uint64_t counter = 0;
    for (float& value : tensor.values())
        value = static_cast<float>(3.4 * uniform(seed, counter++) - 1.7);
    return tensor;
}

Inputs inputs_of(const CostSizes& s) {
    using enum CostSize;
    Inputs inputs;
    inputs.q = uniform_tensor({s[batch], s[heads], s[tq], s[d_k]}, 1);
    inputs.k = uniform_tensor({s[batch], s[kv_heads], s[tk], s[d_k]}, 2);
    inputs.v = uniform_tensor({s[batch], s[kv_heads], s[tk], s[d_v]}, 3);
    return inputs;
}

/// The median of some runs in ms.
Result<double> time_of(std::string_view backend, bench::Pass pass, const Inputs& inputs,
                       const RunControl& control, int& runs) {
    bench::Workload work;
    work.pass = pass;
    work.n = inputs.q.shape().t;  // for the bench's own count, which is not shown
    work.heads = inputs.q.shape().h;
    auto bench = bench::Bench::make(*find_backend(backend), work, inputs);
    if (!bench) return tl::unexpected(bench.error());
    std::vector<double> seconds;
    while (!bench->enough(kEffort) && !control.stop.stop_requested()) {
        if (auto ran = bench->run(); !ran) return tl::unexpected(ran.error());
        seconds.push_back(bench->last_seconds());
    }
    if (seconds.empty()) return failed("the measurement was stopped");
    runs = static_cast<int>(seconds.size());
    return 1e3 * bench::median(std::move(seconds));
}

CostMeasurement measured(const CostControls& of, const RunControl& control) {
    CostMeasurement result;
    result.of = of;
    const bool forward = of.pass == CostPass::forward;
    const Inputs inputs = inputs_of(of.sizes);
    const auto staged = time_of("staged", forward ? bench::Pass::trace : bench::Pass::backward,
                                inputs, control, result.runs);
    const auto fused = time_of("fused", forward ? bench::Pass::forward : bench::Pass::backward,
                               inputs, control, result.runs);
    if (!staged || !fused) {
        result.fault = (!staged ? staged : fused).error().sentence;
        return result;
    }
    result.staged_ms = *staged;
    result.fused_ms = *fused;
    result.peak_gflops = fma_peak_gflops(thread_count(), kProbeMs);
    result.stream_gbytes = stream_gbytes(thread_count(), kProbeMs);
    return result;
}

double roofline_ms(double flop, double bytes, double gflops, double gbytes) {
    return std::max(flop / gflops, bytes / gbytes) * 1e-6;
}

/// Q, K, V, context and logsumexp; backward d_context, d_Q, d_K and d_V too.
double operand_bytes(const CostControls& of) {
    double bytes = at(stored_bytes(Holding::fused), of);
    for (const StageCost& cost : stage_costs(CostPass::forward, of.sizes)) {
        if (cost.stage == Stage::scores) bytes += at(cost.read, of);
        if (cost.stage == Stage::context) bytes += 2.0 * at(cost.written, of);
    }
    const CostFormula values{{1,
                              {CostSize::batch, CostSize::kv_heads, CostSize::tk, CostSize::d_v,
                               CostSize::element_bytes}}};
    const CostFormula context{
        {1,
         {CostSize::batch, CostSize::heads, CostSize::tq, CostSize::d_v, CostSize::element_bytes}}};
    bytes += at(values, of) - at(context, of);
    if (of.pass == CostPass::forward) return bytes;
    return 2.0 * bytes - at(stored_bytes(Holding::fused), of);
}

}  // namespace

CostControls measured_part(CostControls controls) {
    controls.sizes[CostSize::d_model] = controls.sizes[CostSize::d_out] = 0;
    controls.sizes[CostSize::element_bytes] = sizeof(float);
    controls.sizes[CostSize::layers] = 1;
    controls.sizes[CostSize::chunk] = CostSizes{}[CostSize::chunk];
    return controls;
}

std::string no_measure_words(const CostControls& controls) {
    CostControls of = measured_part(controls);
    if (can_measure(of)) return {};
    const double flop = at(product_flop(of.pass, Holding::fused), of);
    Index fits = 0;
    for (Index tokens = 1; tokens <= kMostCostTokens; tokens *= 2) {
        of.sizes = with_tokens(of.sizes, tokens);
        if (can_measure(of)) fits = tokens;
    }
    const std::string most = fits == 0 ? "fewer heads or narrower ones can"
                                       : fmt::format("up to T = {} can", grouped(fits));
    return fmt::format("{} and {} are too much to be measured here: {}", flop_words(flop),
                       cost_bytes(bytes_needed(measured_part(controls))), most);
}

double predicted_staged_ms(const CostControls& of, double gflops, double gbytes) {
    double ms = 0.0;
    for (const StageCost& cost : stage_costs(of.pass, of.sizes))
        ms += roofline_ms(at(cost.flop, of), at(cost.read, of) + at(cost.written, of), gflops,
                          gbytes);
    return ms;
}

double predicted_fused_ms(const CostControls& of, double gflops, double gbytes) {
    return roofline_ms(at(product_flop(of.pass, Holding::fused), of), operand_bytes(of), gflops,
                       gbytes);
}

std::optional<CostRequest> requested_cost(const AppState& state) {
    if (!cost_look(state).measures) return std::nullopt;
    return CostRequest{measured_part(cost_controls(state))};
}

Action run(const CostRequest& request, const RunControl& control) {
    if (const std::string why = no_measure_words(request.of); !why.empty()) {
        CostMeasurement none;
        none.of = request.of;
        none.fault = why;
        return CostMeasured{std::make_shared<const CostMeasurement>(none)};
    }
    return CostMeasured{std::make_shared<const CostMeasurement>(measured(request.of, control))};
}

}  // namespace attn::view
