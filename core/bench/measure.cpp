#include "core/bench/measure.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <numeric>
#include <optional>

#include "core/backend.h"
#include "core/bench/error.h"
#include "core/blocks.h"
#include "core/engine.h"
#include "core/kernels/matmul.h"
#include "core/kernels/peak.h"
#include "core/stopwatch.h"
#include "core/threads.h"

namespace attn::bench {
namespace {

constexpr double kProbeMs = 2.0;
// A run of microseconds is not repeated for as long as one of milliseconds: each has its probe.
constexpr int kMostRuns = 60;
// A run is so many calls, one after the other, that it takes about this long: a single short one would time how
// threads wake up.
constexpr double kRunSeconds = 4e-3;
constexpr int kMostCalls = 64;

/// A number of /proc/self/status in bytes: "VmHWM:   1234 kB".
std::optional<double> status_bytes(std::string_view name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ':')
            return 1024.0 * std::strtod(line.c_str() + name.size() + 1, nullptr);
    return std::nullopt;
}

}  // namespace

std::optional<double> peak_process_bytes() { return status_bytes("VmHWM"); }

bool clear_peak_memory() {
    std::ofstream file("/proc/self/clear_refs");
    file << '5' << std::flush;
    return static_cast<bool>(file);
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

Result<Bench> Bench::make(const Backend& backend, const Workload& work, const Inputs& inputs) {
    Bench bench(backend, work, inputs);
    if (work.pass == Pass::backward) {
        auto forward = attend(inputs, bench.spec_, backend);
        if (!forward) return tl::unexpected(forward.error());
        bench.forward_ = *std::move(forward);
    }
    if (auto ran = bench.call(); !ran) return tl::unexpected(ran.error());
    const Stopwatch watch;
    if (auto ran = bench.call(); !ran) return tl::unexpected(ran.error());
    const double elapsed = watch.seconds();
    bench.calls_ = static_cast<int>(std::clamp(kRunSeconds / elapsed, 1.0, 1.0 * kMostCalls));
    return bench;
}

Result<void> Bench::run() {
    result_ = {};
    const double peak = fma_peak_gflops(thread_count(), kProbeMs);
    const Stopwatch watch;
    for (int n = 0; n < calls_; ++n)
        if (auto ran = call(); !ran) return ran;
    const double seconds = watch.seconds() / calls_;
    seconds_.push_back(seconds);
    peaks_.push_back(peak);
    fractions_.push_back(gflop(work_) / seconds / peak);
    return {};
}

bool Bench::enough(const Effort& effort) const {
    const double total = std::accumulate(seconds_.begin(), seconds_.end(), 0.0);
    return runs() >= effort.repeat && (total >= effort.seconds || runs() >= kMostRuns);
}

Result<Measured> Bench::summary() const {
    const double seconds = median(seconds_);
    return error_of(backend_, work_, inputs_).map([&](double error) {
        return Measured{.work = work_,
                        .backend = std::string(backend_.name()),
                        .ms = seconds * 1e3,
                        .gflops = gflop(work_) / seconds,
                        .peak_gflops = median(peaks_),
                        .fraction = median(fractions_),
                        .bytes = least_bytes(work_),
                        .error = error,
                        .runs = runs()};
    });
}

Result<void> Bench::call() {
    const StageSet keep = work_.pass == Pass::trace ? all_stages() : only_stage(Stage::context);
    auto result = work_.pass == Pass::backward
                      ? attend_backward(inputs_, spec_, forward_, {Stage::context, {}}, backend_)
                      : attend(inputs_, spec_, backend_, keep);
    if (!result) return tl::unexpected(result.error());
    result_ = *std::move(result);
    return {};
}

MeasuredProduct measure_product(Index n, const Effort& effort) {
    const Inputs inputs = make_inputs({.heads = 1, .n = n, .d = n});
    Tensor out({1, 1, n, n});
    const auto factors = [&](const Tensor& tensor) { return Factor{tensor.matrix(0, 0)}; };
    const double work = 2e-9 * static_cast<double>(n) * static_cast<double>(n * n);
    std::vector<double> seconds, fractions;
    for (int run = 0; run <= std::max(effort.repeat, 1); ++run) {  // the first is not counted
        const double peak = fma_peak_gflops(thread_count(), kProbeMs);
        const Stopwatch watch;
        multiply(factors(inputs.q), factors(inputs.k), out.matrix(0, 0));
        const double elapsed = watch.seconds();
        if (run == 0) continue;
        seconds.push_back(elapsed);
        fractions.push_back(work / elapsed / peak);
    }
    return {n, 1e3 * median(seconds), work / median(seconds), median(fractions)};
}

Result<Measured> measure(const Backend& backend, const Workload& work, const Inputs& inputs,
                         const Effort& effort) {
    auto bench = Bench::make(backend, work, inputs);
    if (!bench) return tl::unexpected(bench.error());
    while (!bench->enough(effort))
        if (auto ran = bench->run(); !ran) return tl::unexpected(ran.error());
    return bench->summary();
}

Result<Compared> compare(const Backend& first, const Workload& first_work, const Backend& second,
                         const Workload& second_work, const Effort& effort) {
    const Inputs inputs = make_inputs(first_work);
    const Inputs other_inputs = make_inputs(second_work);
    auto one = Bench::make(first, first_work, inputs);
    if (!one) return tl::unexpected(one.error());
    auto other = Bench::make(second, second_work, other_inputs);
    if (!other) return tl::unexpected(other.error());
    std::vector<double> ratios;
    while (!one->enough(effort) || !other->enough(effort)) {
        for (Bench* bench : {&*one, &*other})
            if (auto ran = bench->run(); !ran) return tl::unexpected(ran.error());
        ratios.push_back(other->last_seconds() / one->last_seconds());
    }
    const auto left = one->summary();
    if (!left) return tl::unexpected(left.error());
    return other->summary().map([&](const Measured& right) {
        return Compared{*left, right, median(ratios)};
    });
}

Result<Decoded> measure_decoding(const Backend& backend, const Workload& work,
                                 const Effort& effort) {
    const Inputs inputs = make_inputs(work);
    const std::array<std::span<const float>, 2> keys{inputs.k.values(), inputs.v.values()};
    auto bench = Bench::make(backend, work, inputs);
    if (!bench) return tl::unexpected(bench.error());
    std::vector<double> reads, ratios;
    while (!bench->enough(effort)) {
        reads.push_back(read_seconds(keys));
        if (auto ran = bench->run(); !ran) return tl::unexpected(ran.error());
        ratios.push_back(bench->last_seconds() / reads.back());
    }
    return bench->summary().map([&](const Measured& call) {
        return Decoded{call, 1e3 * median(reads), median(ratios)};
    });
}

Result<MemoryUse> measure_memory(const Backend& backend, const Workload& work) {
    const Inputs inputs = make_inputs(work);
    release_cached_blocks();
    const bool forgotten = clear_peak_memory();
    const auto before = status_bytes("VmRSS");
    const Stopwatch watch;
    const auto result = attend(inputs, make_spec(work), backend, only_stage(Stage::context));
    const double elapsed_ms = watch.ms();
    if (!result) return tl::unexpected(result.error());
    const auto peak = peak_process_bytes();
    if (!forgotten || !before || !peak)
        return failed("this system does not report a program's peak memory (/proc/self)");
    const double tensor = sizeof(float) * static_cast<double>(inputs.q.count());
    return MemoryUse{elapsed_ms, 3.0 * tensor + (*peak - *before), 4.0 * tensor};
}

}  // namespace attn::bench
