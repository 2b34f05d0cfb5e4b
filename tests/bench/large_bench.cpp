// A map of attention weights: what a person waits for, beside the fused backend that is timed around it.
//
//   attn_large_bench [--tokens N] [--long N]
//
// --tokens: of the map whose overview is made exact (131072). --long: of the one that is only sampled (1048576; 0
// leaves it out). d_k = 64, one head, no mask. The threads of a map give way to other programs, those of the fused
// backend do not: measure on a machine that does nothing else.
//
//   preview   from opening to the first picture, sampled
//   overview  the exact pass; its ratio to n² · 2 d_k / (fused GF/s)
//   view      from a request to every tile of 1200 × 800 texels, none of them seen before

#include <sys/resource.h>

#include <fmt/format.h>

#include "core/bench/timed_map.h"
#include "core/call.h"
#include "core/kernels/fused.h"
#include "core/kernels/peak.h"
#include "core/large/planted.h"
#include "core/large/planted_spec.h"
#include "core/threads.h"
#include "core/trace.h"
#include "tests/bench/measured.h"

namespace {

using namespace attn;
using namespace attn::large;
using bench::median;

constexpr Index kWidth = 64;
constexpr int kViewsPerLevel = 7;

double peak_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

/// GFLOP/s of the fused backend, 4 H n² d, median of 5.
double fused_gflops() {
    Inputs inputs;
    std::uint64_t seed = 1;
    for (Tensor* tensor : {&inputs.q, &inputs.k, &inputs.v})
        *tensor = bench::uniform_tensor({1, 8, 2048, kWidth}, seed++);
    const Call call = validate(inputs, {}).value();
    std::vector<double> speeds;
    for (int n = 0; n < 5; ++n) {
        const double seconds = bench::seconds_of(
            [&] { fused_forward(call, StageSet().set(index_of(Stage::context))).value(); });
        speeds.push_back(4e-9 * 8.0 * 2048.0 * 2048.0 * kWidth / seconds);
    }
    return median(speeds);
}

std::shared_ptr<const MapInput> generate(Index tokens) {
    std::shared_ptr<const MapInput> input;
    const double seconds = bench::seconds_of([&] {
        input = std::make_shared<const MapInput>(plant({.tokens = tokens, .d_k = kWidth}).value());
    });
    fmt::print("{} tokens, d_k {}: generated in {:.2f} s\n", tokens, kWidth, seconds);
    return input;
}

void print_preview(double seconds, const MapSnapshot& snapshot) {
    const PreviewState& preview = snapshot.preview;
    fmt::print("preview   {:8.2f} s   {} rows, standard error {:.0f} % median, {:.0f} % at 95 %\n",
               seconds, preview.rows_sampled, 100.0 * preview.relative_error_median,
               100.0 * preview.relative_error_95);
}

void time_views(TimedMap& map, Index tokens) {
    double slowest = 0.0;
    std::uint64_t n = 0;
    const auto tokens_wide = static_cast<double>(tokens);
    for (int level = 0; kViewRows * cells_per_texel(level) < 2.0 * tokens_wide; ++level) {
        std::vector<double> seconds;
        const bool fits = kViewColumns * cells_per_texel(level) < tokens_wide;
        for (int view = 0; view < (fits ? kViewsPerLevel : 1); ++view)
            seconds.push_back(
                map.seconds_until(somewhere(tokens, level, n++), is_complete).value());
        fmt::print("view, {:5} cells a texel: {:6.0f} ms median, {:6.0f} ms slowest\n",
                   Index{1} << level, 1e3 * median(seconds), 1e3 * std::ranges::max(seconds));
        slowest = std::max(slowest, median(seconds));
    }
    fmt::print("view      {:8.0f} ms  the slowest level's median\n", 1e3 * slowest);
}

void measure(Index tokens) {
    const double before = fused_gflops();
    TimedMap map(generate(tokens));
    ViewRequest request = whole(tokens);
    const double preview = map.seconds_until(request, has_preview).value();
    print_preview(preview, map.last());
    request.full_pass = true;
    map.seconds_until(request, is_complete).value();
    const PassState pass = map.last().pass;
    const double fused = 0.5 * (before + fused_gflops());
    const auto n = static_cast<double>(tokens);
    const double ideal = 2e-9 * n * n * kWidth / fused;
    fmt::print(
        "overview  {:8.2f} s   {:.1f} GF/s; fused {:.1f} GF/s of {:.0f}; {:.2f} x n² 2d / fused\n",
        pass.seconds, pass.gflops, fused, fma_peak_gflops(thread_count(), 50.0),
        pass.seconds / ideal);
    time_views(map, tokens);
    fmt::print(
        "memory    {:8.0f} MiB at its peak; blocks of {} cells {:.0f} MiB, tiles {:.0f} MiB\n",
        peak_mib(), map.last().block_side,
        static_cast<double>(map.last().pyramid_bytes) / 1048576.0,
        static_cast<double>(map.last().tile_bytes) / 1048576.0);
}

void measure_long(Index tokens) {
    TimedMap map(generate(tokens));
    const double preview = map.seconds_until(whole(tokens), has_preview).value();
    print_preview(preview, map.last());
    fmt::print("zoomed in {:8.2f} s   single cells, exact\n",
               map.seconds_until(somewhere(tokens, 0, 1), is_complete).value());
    fmt::print("pass      {:8.0f} s   estimated\n", map.last().pass.seconds_left);
    fmt::print("memory    {:8.0f} MiB at its peak\n", peak_mib());
}

}  // namespace

int main(int count, char** arguments) {
    Index tokens = 131072;
    Index longer = 1048576;
    const std::vector<std::string> options(arguments + 1, arguments + count);
    for (std::size_t n = 0; n < options.size(); ++n) {
        const bool valued = n + 1 < options.size();
        if (options[n] == "--tokens" && valued) {
            tokens = std::stoll(options[++n]);
        } else if (options[n] == "--long" && valued) {
            longer = std::stoll(options[++n]);
        } else {
            fmt::print("usage: attn_large_bench [--tokens N] [--long N]\n");
            return 2;
        }
    }
    fmt::print("{} on {} thread(s)\n", simd_target(), thread_count());
    measure(tokens);
    if (longer > 0) measure_long(longer);
}
