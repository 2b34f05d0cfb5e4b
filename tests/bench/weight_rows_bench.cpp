// The work of a map of weights beside the fused forward pass, run in turns so that a busy machine slows both.
//
//   attn_weight_rows_bench [--threads N] [--tokens N]
//
// "cost" of the pass: its time for all n² pairs in units of n² · 2d FLOP / (fused GF/s), median of turns.
// One thread is timed by its own clock.

#include <ctime>
#include <numeric>

#include <fmt/format.h>

#include "core/call.h"
#include "core/engine.h"
#include "core/kernels/fused_drive_forward.h"
#include "core/kernels/peak.h"
#include "core/large/weight_rows.h"
#include "core/large/weight_source.h"
#include "core/threads.h"
#include "core/trace.h"
#include "tests/bench/measured.h"

namespace {

using namespace attn;
using namespace attn::large;
using bench::median;
using bench::uniform_tensor;

constexpr Index kWidth = 64;
constexpr int kTurns = 7;

double clock_now() {
    timespec time{};
    clock_gettime(thread_count() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

template <class Work>
double seconds_of(const Work& work) {
    const double start = clock_now();
    work();
    return clock_now() - start;
}

/// One head of n tokens, and what the passes over it write.
class Subject {
  public:
    explicit Subject(Index n)
        : n_(n),
          rows_(std::min<Index>(n, 1536)),
          q_(uniform_tensor({1, 1, n, kWidth}, 1)),
          k_(uniform_tensor({1, 1, n, kWidth}, 2)),
          few_q_(Shape{1, 1, rows_, kWidth}) {
        std::copy_n(q_.values().begin(), few_q_.count(), few_q_.values().begin());
        source_.size = {1, 1, 1, n, n, kWidth, 1, 0, 0, 1};
        source_.q = std::make_shared<const Tensor>(q_);
        source_.k = std::make_shared<const Tensor>(k_);
        slots_.resize(thread_slots());
    }

    Index rows() const { return rows_; }
    double pairs(Index rows) const { return static_cast<double>(rows) * static_cast<double>(n_); }

    /// `rows` queries against all keys and values: 4 d FLOP a pair.
    void attend() {
        Inputs inputs;
        inputs.q = few_q_;
        inputs.k = inputs.v = k_;
        const AttentionSpec spec;
        const auto call = validate(inputs, spec);
        attend_fused(*call, {inputs.q, inputs.k, inputs.v}, {}).value();
    }

    /// The overview of the same queries: 2 d FLOP a pair.
    void overview(Index pool) {
        const Index strip = strip_rows(pool);
        parallel_for((rows_ + strip - 1) / strip, {}, [&](Index n, int slot) {
            std::vector<Index> rows(std::min(strip, rows_ - n * strip));
            std::iota(rows.begin(), rows.end(), n * strip);
            pool_rows(source_, {}, rows, pool, pool, {}, slots_[slot]);
        });
    }

    /// Some tiles of height x 256 texels.
    void tiles(Index side, Index height, Index count) {
        const std::vector<float> logsumexp(height * side, 12.0F);
        parallel_for(count, {}, [&](Index n, int slot) {
            const Index column = n * 256 * side % (n_ - 256 * side + 1);
            pool_cells(source_, {}, logsumexp, 0, column, height * side, 256 * side, side, {},
                       slots_[slot].texels);
        });
    }

  private:
    Index n_;
    Index rows_;
    Tensor q_, k_, few_q_;
    WeightSource source_;
    std::vector<PooledRows> slots_;
};

void measure_overview(Subject& subject, Index pool) {
    std::vector<double> costs;
    std::vector<double> seconds;
    std::vector<double> fractions;
    for (int turn = 0; turn < kTurns; ++turn) {
        const double peak = fma_peak_gflops(thread_count(), 5.0);
        const double fused = seconds_of([&] { subject.attend(); });
        seconds.push_back(seconds_of([&] { subject.overview(pool); }));
        costs.push_back(2.0 * seconds.back() / fused);  // the fused pass has twice the FLOP a pair
        fractions.push_back(4.0 * kWidth * subject.pairs(subject.rows()) * 1e-9 / fused / peak);
    }
    fmt::print(
        "overview, {} x {} keys a block: {:.1f} ms for {} rows, cost {:.2f}; fused {:.2f} of "
        "peak\n",
        pool, pool, median(seconds) * 1e3, subject.rows(), median(costs), median(fractions));
}

void measure_tiles(Subject& subject, Index side, Index height) {
    const Index count = side >= 16 ? 2 : 8;
    std::vector<double> costs;
    std::vector<double> seconds;
    for (int turn = 0; turn < kTurns; ++turn) {
        const double fused = seconds_of([&] { subject.attend(); });
        const double rate = 4.0 * kWidth * subject.pairs(subject.rows()) / fused;
        seconds.push_back(seconds_of([&] { subject.tiles(side, height, count); }) /
                          static_cast<double>(count));
        const auto cells = static_cast<double>(height * 256 * side * side);
        costs.push_back(seconds.back() * rate / (2.0 * kWidth * cells));
    }
    const double view = 1400.0 * 900.0 / static_cast<double>(height * 256);
    fmt::print(
        "{:3} x 256 texels of side {:2}: {:7.2f} ms, cost {:.2f}; 1400 x 900 texels {:.0f} ms\n",
        height, side, median(seconds) * 1e3, median(costs), median(seconds) * 1e3 * view);
}

}  // namespace

int main(int count, char** arguments) {
    int threads = thread_count();
    Index tokens = 131072;
    for (int n = 1; n + 1 < count; n += 2) {
        const std::string_view option = arguments[n];
        if (option == "--threads") threads = std::stoi(arguments[n + 1]);
        if (option == "--tokens") tokens = std::stoll(arguments[n + 1]);
    }
    const ThreadLimit limit(threads);
    fmt::print("{} on {} thread(s), n = {}, d = {}\n", simd_target(), thread_count(), tokens,
               kWidth);
    Subject subject(tokens);
    for (const Index pool : {32, 64}) measure_overview(subject, pool);
    for (const Index side : {1, 2, 4, 8, 16, 32}) measure_tiles(subject, side, 256);
    measure_tiles(subject, 16, 37);  // a part of a tile
}
