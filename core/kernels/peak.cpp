// The FMA peak: 12 independent accumulators cover the latency of 4-5 cycles at 2 FMA a cycle, and the
// operands never leave the registers, so nothing but the multipliers limits it.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/peak.cpp"
#include "core/kernels/highway_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attn::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr double kFlopPerFma = 2.0;

struct FourSums {
    V a, b, c, d;
};

HWY_INLINE void accumulate(FourSums& sums, V x, V y) {
    sums.a = hn::MulAdd(sums.a, x, y);
    sums.b = hn::MulAdd(sums.b, x, y);
    sums.c = hn::MulAdd(sums.c, x, y);
    sums.d = hn::MulAdd(sums.d, x, y);
}

/// Sums that start apart, or the compiler would find them equal and keep one.
HWY_INLINE FourSums start(float from) {
    const D d;
    return {hn::Set(d, from), hn::Set(d, from + 1.0F), hn::Set(d, from + 2.0F),
            hn::Set(d, from + 3.0F)};
}

HWY_INLINE V total(const FourSums& sums) {
    return hn::Add(hn::Add(sums.a, sums.b), hn::Add(sums.c, sums.d));
}

/// Runs `rounds` rounds of 12 FMA; returns the FLOP done. `sink` keeps the result alive.
double run_fmas(long rounds, float* sink) {
    const D d;
    const V x = hn::Set(d, 0.999F);
    const V y = hn::Set(d, 0.001F);
    FourSums s = start(0.0F);
    FourSums t = start(4.0F);
    FourSums u = start(8.0F);
    for (long n = 0; n < rounds; ++n) {
        accumulate(s, x, y);
        accumulate(t, x, y);
        accumulate(u, x, y);
    }
    *sink = hn::GetLane(hn::Add(hn::Add(total(s), total(t)), total(u)));
    return kFlopPerFma * 12.0 * static_cast<double>(rounds) * static_cast<double>(hn::Lanes(d));
}

}  // namespace
}  // namespace attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <vector>

#include "core/kernels/peak.h"
#include "core/stopwatch.h"
#include "core/threads.h"

namespace attn {
namespace {

HWY_EXPORT(run_fmas);

/// By how much the clock goes on at once: a browser's by a millisecond.
double clock_tick() {
    const Stopwatch watch;
    double tick = 0.0;
    while (tick == 0.0) tick = watch.seconds();
    return tick;
}

/// GFLOP/s of this thread: the best of the short runs that fit in the time, each of 20 ticks or more.
double one_thread_gflops(double seconds) {
    const double least = 20.0 * clock_tick();
    long rounds = 100'000;
    const Stopwatch all;
    double best = 0.0;
    do {
        float sink = 0.0F;
        const Stopwatch run;
        const double flop = HWY_DYNAMIC_DISPATCH(run_fmas)(rounds, &sink);
        const double elapsed = run.seconds();
        if (elapsed < least)
            rounds *= 2;
        else if (sink > 0.0F)
            best = std::max(best, flop / elapsed * 1e-9);
    } while (best == 0.0 || all.seconds() < seconds);
    return best;
}

}  // namespace

double fma_peak_gflops(int threads, double milliseconds) {
    std::vector<double> gflops(threads);
    run_at_once(threads, [&](int n) { gflops[n] = one_thread_gflops(milliseconds * 1e-3); });
    double sum = 0.0;
    for (const double mine : gflops) sum += mine;
    return sum;
}

std::string_view simd_target() {
    std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
    return hwy::TargetName(targets & -targets);
}

}  // namespace attn
#endif  // HWY_ONCE
