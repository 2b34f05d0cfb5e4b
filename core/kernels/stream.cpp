// Memory bandwidth by STREAM's triad: a = b + s · c over arrays that no cache holds; and by reading alone.

#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

#include "core/kernels/peak.h"
#include "core/rounding.h"
#include "core/stopwatch.h"
#include "core/tensor.h"
#include "core/threads.h"

namespace attn {
namespace {

constexpr Index kArrayFloats = Index{1} << 23;  // 32 MiB, three times
constexpr double kBytesPerEntry = 3.0 * sizeof(float);

struct Triad {
    Tensor a;
    Tensor b;
    Tensor c;

    void run(std::size_t begin, std::size_t end) {
        float* const to = a.data();
        const float* const x = b.data();
        const float* const y = c.data();
        for (std::size_t n = begin; n < end; ++n) to[n] = x[n] + 3.0F * y[n];
    }
};

/// GB/s of this thread: the best pass over its part in the time.
double one_thread_gbytes(Triad& triad, std::size_t begin, std::size_t end, double seconds) {
    const Stopwatch all;
    double best = 0.0;
    do {
        const Stopwatch pass;
        triad.run(begin, end);
        best = std::max(best, kBytesPerEntry * static_cast<double>(end - begin) / pass.seconds());
    } while (all.seconds() < seconds);
    return best * 1e-9;
}

}  // namespace

double stream_gbytes(int threads, double milliseconds) {
    const Shape shape{1, 1, 1, kArrayFloats};
    Triad triad{Tensor(shape), Tensor(shape, 1.0F), Tensor(shape, 2.0F)};
    std::vector<double> gbytes(threads);
    const auto bound = [&](std::size_t n) { return n * kArrayFloats / gbytes.size(); };
    run_at_once(threads, [&](int thread) {
        const auto n = static_cast<std::size_t>(thread);
        gbytes[n] = one_thread_gbytes(triad, bound(n), bound(n + 1), milliseconds * 1e-3);
    });
    double sum = 0.0;
    for (const double mine : gbytes) sum += mine;
    return sum;
}

double read_seconds(std::span<const std::span<const float>> numbers) {
    constexpr Index kRun = Index{1} << 16;
    std::atomic<std::uint32_t> seen = 0;  // so that no reading is left out
    const Stopwatch watch;
    for (const std::span<const float> each : numbers) {
        parallel_for(divide_up(std::ssize(each), kRun), {}, [&](Index n, int) {
            const auto first = static_cast<std::size_t>(n * kRun);
            const auto run =
                each.subspan(first, std::min(each.size() - first, static_cast<std::size_t>(kRun)));
            std::uint32_t bits = 0;
            for (const float value : run) bits |= std::bit_cast<std::uint32_t>(value);
            seen |= bits;
        });
    }
    return watch.seconds();
}

}  // namespace attn
