#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/bench/workload.h"
#include "core/spec.h"
#include "core/trace.h"

namespace attn {
class Backend;
}  // namespace attn

namespace attn::bench {

/// How often something is run.
struct Effort {
    int repeat = 5;        // runs at least, after one that is not counted
    double seconds = 0.4;  // and for so long altogether
};

/// One backend at one workload. Each run has the multiply-add peak probed right before it on the same threads, so that
/// a busy or throttled machine does not pass for a slow kernel: `fraction` is the median of the runs' own fractions.
struct Measured {
    Workload work;
    std::string backend;
    double ms = 0.0;           // median
    double gflops = 0.0;       // gflop(work) / median
    double peak_gflops = 0.0;  // median of the probes
    double fraction = 0.0;
    double bytes = 0.0;  // least_bytes(work)
    double error = 0.0;  // error_of()
    int runs = 0;
};

/// A product of two square matrices by kernels/matmul.h, as Measured says: 2 n³ FLOP.
struct MeasuredProduct {
    Index n = 0;
    double ms = 0.0;
    double gflops = 0.0;
    double fraction = 0.0;
};
MeasuredProduct measure_product(Index n, const Effort& effort);

/// One workload made ready, to be run again and again. `backend` and `inputs` must outlive it.
class Bench {
  public:
    /// Computes what the timed runs start from, and calls twice, uncounted, so that memory and threads are there.
    static Result<Bench> make(const Backend& backend, const Workload& work, const Inputs& inputs);

    /// Probes the peak and runs: several calls in a row where one takes less than some milliseconds. Nothing of the result is kept but its memory, for the next run.
    Result<void> run();

    int runs() const { return static_cast<int>(seconds_.size()); }
    bool enough(const Effort& effort) const;
    double last_seconds() const { return seconds_.back(); }
    double last_peak_gflops() const { return peaks_.back(); }
    /// Of at least one run; computes the error as well.
    Result<Measured> summary() const;

  private:
    Bench(const Backend& backend, const Workload& work, const Inputs& inputs)
        : backend_(backend), work_(work), inputs_(inputs), spec_(make_spec(work)) {}
    Result<void> call();

    const Backend& backend_;
    Workload work_;
    const Inputs& inputs_;
    AttentionSpec spec_;
    Trace forward_;
    Trace result_;
    int calls_ = 1;  // of a run
    std::vector<double> seconds_;
    std::vector<double> peaks_;
    std::vector<double> fractions_;
};

Result<Measured> measure(const Backend& backend, const Workload& work, const Inputs& inputs,
                         const Effort& effort);

/// The same for two workloads run in turn: the median of the pairs' ratios of times, second / first.
struct Compared {
    Measured first;
    Measured second;
    double ratio = 0.0;
};
Result<Compared> compare(const Backend& first, const Workload& first_work, const Backend& second,
                         const Workload& second_work, const Effort& effort);

/// A call of few queries, and how many times as long it takes as reading K and V once, in turn: no call can be below 1
/// whose keys no cache holds.
struct Decoded {
    Measured call;
    double read_ms = 0.0;
    double ratio = 0.0;
};
Result<Decoded> measure_decoding(const Backend& backend, const Workload& work,
                                 const Effort& effort);

/// Peak memory of a forward pass by the kernel's own count: what the process grew by while it ran, and Q, K and V.
struct MemoryUse {
    double ms = 0.0;
    double peak_bytes = 0.0;
    double tensor_bytes = 0.0;  // Q + K + V + context
};
/// Fails where the system does not tell (other than Linux).
Result<MemoryUse> measure_memory(const Backend& backend, const Workload& work);

/// The most memory that the process held since clear_peak_memory(); nullopt where the system does not tell.
std::optional<double> peak_process_bytes();
/// False where the system does not let a program do so.
bool clear_peak_memory();

double median(std::vector<double> values);

}  // namespace attn::bench
