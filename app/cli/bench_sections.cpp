#include "app/cli/bench_sections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/bench_report.h"
#include "app/cli/cli.h"
#include "app/common/or_throw.h"
#include "core/call.h"

namespace attn::cli {
namespace {

using bench::Pass, bench::Workload;

// A backend that nobody named is not waited for longer than this, a run.
constexpr double kLongSeconds = 1.0;
constexpr double kLongMemorySeconds = 60.0;

/// The work in ascending order for one backend, so that its speed is known before it is asked for much.
void run_shapes(const Backend& backend, const BenchPlan& plan, BenchReport& report) {
    std::vector<Workload> shapes = plan.shapes;
    std::ranges::stable_sort(shapes, {}, bench::gflop);
    std::vector<std::string> left_out;
    double gflops = 0.0;  // of the last one; 0: not known
    for (const Workload& work : shapes) {
        if (work.pass == Pass::backward && !backend.has_backward()) continue;
        if (!plan.backends_named && gflops > 0.0 && bench::gflop(work) / gflops > kLongSeconds) {
            left_out.push_back(to_string(work));
            continue;
        }
        const auto measured = measure(backend, work, make_inputs(work), plan.effort);
        if (!measured && plan.backends_named) throw Failure(measured.error());
        if (!measured) {  // the others go on
            report.note(fmt::format("{}: {}", backend.name(), measured.error().text()));
            break;
        }
        gflops = measured->gflops;
        report.row(*measured);
    }
    if (!left_out.empty())
        report.note(
            fmt::format("{}: left out {}, which would take longer than {:g} s a run; --backend {} "
                        "measures them",
                        backend.name(), fmt::join(left_out, ", "), kLongSeconds, backend.name()));
}

void run_cases(const BenchPlan& plan, BenchReport& report) {
    report.heading("Backends: context and logsumexp, or all gradients");
    for (const Backend* backend : plan.backends) run_shapes(*backend, plan, report);
}

/// What storing every stage costs beside storing none.
void run_trace(const BenchPlan& plan, BenchReport& report) {
    report.heading("Every stage stored, against none, alternating");
    std::vector<Workload> shapes{{.heads = 1, .n = 512}};
    if (!plan.quick) shapes = {{.heads = 1, .n = 2048}, {.heads = 8, .n = 2048}};
    for (const Workload& work : shapes) {
        Workload traced = work;
        traced.pass = Pass::trace;
        const auto pair = or_throw(
            compare(*find_backend("fused"), work, *find_backend("staged"), traced, plan.effort));
        report.comparison(pair);
    }
}

/// What each kind of attention costs beside plain dot products, forward.
void run_kinds(const BenchPlan& plan, BenchReport& report) {
    report.heading("Kinds of attention, against plain dot products, alternating");
    const Workload plain{.heads = 8, .n = plan.quick ? 256 : 2048};
    for (const bench::WorkloadKind& kind : bench::workload_kinds()) {
        Workload other = plain;
        other.kind = kind.key;
        const Backend& fused = *find_backend("fused");
        const auto call = or_throw(validate(make_inputs(other), make_spec(other)));
        if (const auto reason = fused.supports(call)) {
            report.note(fmt::format("{}: {}", to_string(other), *reason));
            continue;
        }
        const auto pair = or_throw(compare(fused, plain, fused, other, plan.effort));
        report.comparison(pair);
    }
}

void run_decoding(const BenchPlan& plan, BenchReport& report) {
    report.heading("One query of each head, as in generation");
    const Index n = plan.quick ? 2048 : 32768;
    for (const Workload& work :
         {Workload{.heads = 8, .n = n, .d = 128, .queries = 1},
          Workload{.heads = 32, .n = n, .d = 128, .queries = 1, .kv_heads = 8}})
        report.decoded(or_throw(measure_decoding(*find_backend("fused"), work, plan.effort)));
}

void run_matmul(const BenchPlan& plan, BenchReport& report) {
    report.heading("The matrix product of projections, 2 n³ FLOP");
    for (const Index n : {256, 1024, 2048})
        if (!plan.quick || n == 256) report.product(bench::measure_product(n, plan.effort));
}

void run_memory(const BenchPlan& plan, BenchReport& report) {
    if (plan.quick) return;
    const Backend& fused = *find_backend("fused");
    const Workload probe{.heads = 1, .n = 4096};
    const Workload work{.heads = 1, .n = 131072};
    const auto speed =
        or_throw(measure(fused, probe, make_inputs(probe), {.repeat = 1, .seconds = 0.0}));
    const double seconds = gflop(work) / speed.gflops;
    if (seconds > kLongMemorySeconds) {
        report.note(fmt::format("memory: left out {}, which would take {:.0f} s on this machine",
                                to_string(work), seconds));
        return;
    }
    const auto use = measure_memory(fused, work);
    if (!use) {
        report.note(fmt::format("memory: {}", use.error().text()));
        return;
    }
    report.note("\nMemory of a forward pass");
    report.memory(work, fused.name(), *use);
}

void run_large(const BenchPlan& plan, BenchReport& report) {
    const auto speed = or_throw(bench::measure_map(plan.quick ? 16384 : 131072));
    report.map(speed);
}

constexpr auto kSections = std::to_array<BenchSection>({
    {"cases", "compares backends over shapes, forward and backward", run_cases},
    {"trace", "every stage stored (staged) against none (fused)", run_trace},
    {"kinds", "rotations, biases, sinks and scores (fused) against plain dot products", run_kinds},
    {"decoding", "one query of each head (fused) against reading K and V once", run_decoding},
    {"matmul", "square matrix products, as the projections use them", run_matmul},
    {"memory", "peak memory of one head of 131,072 tokens", run_memory},
    {"large", "a map of 131,072 tokens; takes a minute and runs only if named", run_large, false},
});

}  // namespace

std::span<const BenchSection> bench_sections() { return kSections; }

std::vector<Workload> default_shapes(bool quick) {
    std::vector<Workload> shapes{{.heads = 1, .n = 256}, {.heads = 8, .n = 512}};
    if (quick) return shapes;
    for (const Index n : {1024, 2048, 4096}) shapes.push_back({.heads = 8, .n = n});
    shapes.push_back({.heads = 8, .n = 2048, .d = 128});
    shapes.push_back({.heads = 8, .n = 4096, .causal = true});
    shapes.push_back({.heads = 8, .n = 2048, .pass = Pass::backward});
    return shapes;
}

}  // namespace attn::cli
