// The fused backend as a fraction of the multiply-add peak that is probed beside every run, so that a busy or
// throttled machine does not pass for a slow kernel.
//
//   attn_fused_bench [--threads N]    the table: median of at least 5 runs and 0.5 s for each shape
//   attn_fused_bench --memory         peak memory of one head of 131,072 tokens over Q + K + V + context
//
// GF: 4 H n² d forward, 10 H n² d backward, half of it causal. One thread is timed by its own clock.

#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/kernels/fused.h"
#include "core/kernels/peak.h"
#include "core/rng.h"

namespace {

using namespace attn;

struct Workload {
    Index heads;
    Index n;
    Index d;
    bool causal;
    bool backward;
};

Tensor uniform_tensor(const Shape& shape, std::uint64_t seed) {
    Tensor tensor(shape);
    std::uint64_t counter = 0;
    for (float& value : tensor.values())
        value = static_cast<float>(3.4 * uniform(seed, counter++) - 1.7);
    return tensor;
}

Inputs make_inputs(const Workload& shape) {
    const Shape each{1, shape.heads, shape.n, shape.d};
    Inputs inputs;
    inputs.q = uniform_tensor(each, 1);
    inputs.k = uniform_tensor(each, 2);
    inputs.v = uniform_tensor(each, 3);
    return inputs;
}

double seconds_now() {
    timespec time{};
    clock_gettime(thread_count() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

StageSet only(Stage stage) { return StageSet().set(index_of(stage)); }

template <class Work>
double seconds_of(const Work& work) {
    const double start = seconds_now();
    work();
    return seconds_now() - start;
}

double gflop(const Workload& shape) {
    const auto n = static_cast<double>(shape.n);
    const double products = (shape.backward ? 10.0 : 4.0) * (shape.causal ? 0.5 : 1.0);
    return products * static_cast<double>(shape.heads * shape.d) * n * n * 1e-9;
}

double median(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + static_cast<Index>(values.size() / 2));
    return values[values.size() / 2];
}

void measure(const Workload& shape) {
    constexpr double kEnoughSeconds = 0.5;
    const Inputs inputs = make_inputs(shape);
    AttentionSpec spec;
    if (shape.causal) spec.mask.causal = CausalAlign::top_left;
    const Dimensions size = validate(inputs, spec).value();
    const Trace forward = fused_forward(inputs, spec, size, fused_stages()).value();
    const auto run = [&] {
        if (shape.backward)
            fused_backward(inputs, spec, size, forward, {Stage::context, {}}).value();
        else
            fused_forward(inputs, spec, size, only(Stage::context)).value();
    };
    std::vector<double> elapsed;
    std::vector<double> fractions;
    for (double total = 0.0; total < kEnoughSeconds || elapsed.size() < 5;
         total += elapsed.back()) {
        const double peak = fma_peak_gflops(thread_count(), 2.0);
        elapsed.push_back(seconds_of(run));
        fractions.push_back(gflop(shape) / elapsed.back() / peak);
    }
    const double seconds = median(elapsed);
    fmt::print("{:8} {:6} H={} n={:<5} d={:<4} {:9.3f} ms {:7.1f} GF/s {:6.3f} of peak\n",
               shape.backward ? "backward" : "forward", shape.causal ? "causal" : "", shape.heads,
               shape.n, shape.d, seconds * 1e3, gflop(shape) / seconds, median(fractions));
}

void print_table() {
    fmt::print("{} on {} thread(s), peak {:.0f} GF/s\n", simd_target(), thread_count(),
               fma_peak_gflops(thread_count(), 100.0));
    for (const bool backward : {false, true}) {
        for (const Index n : {512, 1024, 2048, 4096}) measure({8, n, 64, false, backward});
        measure({8, 2048, 128, false, backward});
        for (const Index n : {512, 4096}) measure({8, n, 64, true, backward});
        measure({1, 256, 64, false, backward});
    }
}

void print_memory() {
    const Workload shape{1, 131072, 64, false, false};
    const Inputs inputs = make_inputs(shape);
    const Dimensions size = validate(inputs, {}).value();
    const double seconds =
        seconds_of([&] { fused_forward(inputs, {}, size, only(Stage::context)).value(); });
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const double peak_mb = static_cast<double>(usage.ru_maxrss) / 1024.0;
    const double tensors_mb = 4.0 * static_cast<double>(inputs.q.count() * 4) / 1048576.0;
    fmt::print("n = {}: {:.1f} s, peak memory {:.0f} MiB = {:.2f} x (Q + K + V + context)\n",
               shape.n, seconds, peak_mb, peak_mb / tensors_mb);
}

}  // namespace

int main(int count, char** arguments) {
    const std::vector<std::string_view> options(arguments + 1, arguments + count);
    const bool limited = options.size() == 2 && options[0] == "--threads";
    const ThreadLimit limit(limited ? std::stoi(std::string(options[1])) : thread_count());
    if (options.size() == 1 && options[0] == "--memory")
        print_memory();
    else
        print_table();
}
