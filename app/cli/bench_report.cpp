#include "app/cli/bench_report.h"

#include <fmt/format.h>

#include <fstream>

#include "app/common/keys.h"
#include "attn_version.h"
#include "core/bench/measure.h"
#include "core/kernels/peak.h"

namespace attn::cli {
namespace {

using nlohmann::ordered_json;

constexpr double kProbeMs = 100.0;

/// As /proc/cpuinfo has it; "unknown processor" where it does not.
std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "unknown processor";
}

std::string megabytes(double bytes) { return fmt::format("{:.1f} MB", bytes * 1e-6); }

std::string row_text(const bench::Measured& one) {
    return fmt::format("{:<16} {:<9} {:<10} {:>10.3f} {:>8.1f} {:>7.3f} {:>11} {:>9.1e}",
                       to_string(one.work), to_string(one.work.pass), one.backend, one.ms,
                       one.gflops, one.fraction, megabytes(one.bytes), one.error);
}

ordered_json row_json(const bench::Measured& one) {
    return {{"shape", to_string(one.work)},
            {"pass", to_string(one.work.pass)},
            {"backend", one.backend},
            {"heads", one.work.heads},
            {"tokens", one.work.n},
            {"width", one.work.d},
            {"causal", one.work.causal},
            {"ms", one.ms},
            {"gflops", one.gflops},
            {"peak_gflops", one.peak_gflops},
            {"fraction_of_peak", one.fraction},
            {"least_bytes", one.bytes},
            {"error", one.error},
            {"runs", one.runs}};
}

}  // namespace

void BenchReport::print(const std::string& line) {
    if (out_ != nullptr) *out_ << line << '\n' << std::flush;
}

void BenchReport::machine(int threads) {
    const std::string name = processor_name();
    const double peak = fma_peak_gflops(threads, kProbeMs);
    const double stream = stream_gbytes(threads, kProbeMs);
    json_["machine"] = {{"version", ATTN_VERSION},       {"processor", name},
                        {"instructions", simd_target()}, {"threads", threads},
                        {"peak_gflops", peak},           {"stream_gbytes", stream}};
    print(
        fmt::format("{}, {}, {} thread(s): {:.0f} GF/s of multiply-adds in registers, {:.1f} GB/s "
                    "of triad from memory",
                    name, simd_target(), threads, peak, stream));
}

void BenchReport::heading(std::string_view text) {
    print(fmt::format("\n{}\n{:<16} {:<9} {:<10} {:>10} {:>8} {:>7} {:>11} {:>9}", text, "shape",
                      "pass", "backend", "ms", "GF/s", "of peak", "least bytes", "error"));
}

void BenchReport::row(const bench::Measured& one) {
    json_["rows"].push_back(row_json(one));
    print(row_text(one));
}

void BenchReport::comparison(const bench::Compared& pair) {
    json_["comparisons"].push_back({{"first", row_json(pair.first)},
                                    {"second", row_json(pair.second)},
                                    {"time_ratio", pair.ratio}});
    print(row_text(pair.first));
    print(fmt::format("{}  {:.2f} x the time", row_text(pair.second), pair.ratio));
}

void BenchReport::decoded(const bench::Decoded& one) {
    json_["decoding"].push_back(
        {{"call", row_json(one.call)}, {"read_ms", one.read_ms}, {"times_of_reading", one.ratio}});
    print(fmt::format("{}  {:.2f} x reading K and V once, {:.2f} ms", row_text(one.call), one.ratio,
                      one.read_ms));
}

void BenchReport::product(const bench::MeasuredProduct& one) {
    json_["products"].push_back(
        {{"n", one.n}, {"ms", one.ms}, {"gflops", one.gflops}, {"fraction_of_peak", one.fraction}});
    print(fmt::format("{0} x {0} times {0} x {0}: {1:.2f} ms, {2:.1f} GF/s, {3:.2f} of peak", one.n,
                      one.ms, one.gflops, one.fraction));
}

void BenchReport::memory(const bench::Workload& work, std::string_view backend,
                         const bench::MemoryUse& use) {
    const double ratio = use.peak_bytes / use.tensor_bytes;
    json_["memory"].push_back({{"shape", to_string(work)},
                               {"backend", backend},
                               {"ms", use.ms},
                               {"gflops", gflop(work) / use.ms * 1e3},
                               {"peak_bytes", use.peak_bytes},
                               {"tensor_bytes", use.tensor_bytes},
                               {"ratio", ratio}});
    print(fmt::format(
        "{} by {}: {:.1f} s, {:.1f} GF/s; at its peak {} = {:.2f} x (Q + K + V + context)",
        to_string(work), backend, use.ms * 1e-3, gflop(work) / use.ms * 1e3,
        megabytes(use.peak_bytes), ratio));
}

void BenchReport::map(const bench::MapSpeed& speed) {
    json_["maps"].push_back({{"tokens", speed.tokens},
                             {"preview_seconds", speed.preview_seconds},
                             {"overview_seconds", speed.overview_seconds},
                             {"overview_over_fused", speed.overview_ratio},
                             {"fused_gflops", speed.fused_gflops},
                             {"slowest_view_ms", speed.slowest_view_ms},
                             {"peak_bytes", speed.peak_bytes > 0.0 ? ordered_json(speed.peak_bytes)
                                                                   : ordered_json(nullptr)}});
    print(fmt::format(
        "map of {} tokens, d 64: sampled preview {:.2f} s; exact overview {:.1f} s = {:.2f} x n² "
        "2d / (fused {:.0f} GF/s); views of the slowest level {:.0f} ms, their median; the process "
        "at its peak {}",
        speed.tokens, speed.preview_seconds, speed.overview_seconds, speed.overview_ratio,
        speed.fused_gflops, speed.slowest_view_ms,
        speed.peak_bytes > 0.0 ? megabytes(speed.peak_bytes) : "not available on this system"));
}

void BenchReport::note(const std::string& sentence) {
    json_["notes"].push_back(sentence);
    print(sentence);
}

}  // namespace attn::cli
