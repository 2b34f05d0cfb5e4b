#include <benchmark/benchmark.h>

#include "core/normals.h"
#include "core/saturation.h"
#include "core/saturation_gradients.h"

// The promises of the Saturation workspace: the whole sweep under 300 ms, one row under 2 ms.

namespace attn {
namespace {

SaturationSettings sampled(Index keys) { return {.model = SaturationModel::sampled, .keys = keys}; }

void sweep(benchmark::State& state) {
    std::vector<Index> widths;
    for (Index d_k = 1; d_k <= 4096; d_k *= 2) widths.push_back(d_k);
    const SaturationSettings settings = sampled(state.range(0));
    for (auto _ : state) benchmark::DoNotOptimize(saturation_sweep(settings, widths));
}
BENCHMARK(sweep)->Name("saturation_sweep/keys")->Arg(16)->Arg(64)->Unit(benchmark::kMillisecond);

void gradients(benchmark::State& state) {
    std::vector<Index> widths;
    for (Index d_k = 1; d_k <= 4096; d_k *= 2) widths.push_back(d_k);
    for (auto _ : state) benchmark::DoNotOptimize(gradient_sweep({.keys = state.range(0)}, widths));
}
BENCHMARK(gradients)->Name("gradient_sweep/keys")->Arg(16)->Arg(256)->Unit(benchmark::kMillisecond);

void row(benchmark::State& state) {
    const SaturationSettings settings = sampled(state.range(0));
    for (auto _ : state) benchmark::DoNotOptimize(saturation_at(settings, 4096));
}
BENCHMARK(row)
    ->Name("saturation_at/keys")
    ->Arg(16)
    ->Arg(64)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);

void normals(benchmark::State& state) {
    NormalBlock block;
    std::uint64_t n = 0;
    for (auto _ : state) {
        fill_normal_block(1, n++, block);
        benchmark::DoNotOptimize(block.data());
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kNormalBlock));
}
BENCHMARK(normals)->Name("normals");

}  // namespace
}  // namespace attn
