// The staged backend against the plain Eigen expression of attention, built with the same flags.
// n queries and keys, d width of Q, K and V; one head.

#include <benchmark/benchmark.h>

#include <Eigen/Core>

#include "core/engine.h"
#include "tests/support/inputs.h"

namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

attn::Inputs random_inputs(attn::Index n, attn::Index d) {
    return attn::test::normal_inputs({1, 1, n, d});
}

Matrix as_matrix(const attn::Tensor& tensor) {
    return Eigen::Map<const Matrix>(tensor.data(), tensor.shape().t, tensor.shape().d);
}

/// S = Q Kᵀ / √d, A = row softmax of S, O = A V: S, A and O are kept.
void plain_eigen(benchmark::State& state) {
    const attn::Index n = state.range(0);
    const attn::Index d = state.range(1);
    const attn::Inputs inputs = random_inputs(n, d);
    const Matrix q = as_matrix(inputs.q);
    const Matrix k = as_matrix(inputs.k);
    const Matrix v = as_matrix(inputs.v);
    for (auto _ : state) {
        const Matrix s = q * k.transpose() * (1.0F / std::sqrt(static_cast<float>(d)));
        Matrix a = (s.colwise() - s.rowwise().maxCoeff()).array().exp();
        a.array().colwise() /= a.rowwise().sum().array().eval();
        const Matrix o = a * v;
        benchmark::DoNotOptimize(o.data());
    }
}

void run_staged(benchmark::State& state, const attn::AttentionSpec& spec) {
    const attn::Inputs inputs = random_inputs(state.range(0), state.range(1));
    for (auto _ : state) {
        const auto trace = attn::attend(inputs, spec, "staged");
        benchmark::DoNotOptimize(trace->logsumexp.data());
    }
}

/// Every stage and logsumexp kept.
void staged(benchmark::State& state) { run_staged(state, {}); }

void staged_causal(benchmark::State& state) { run_staged(state, attn::test::causal_spec()); }

void staged_backward(benchmark::State& state) {
    const attn::Inputs inputs = random_inputs(state.range(0), state.range(1));
    const auto forward = attn::attend(inputs, {}, "staged");
    for (auto _ : state) {
        const auto d = attn::attend_backward(inputs, {}, *forward, {}, "staged");
        benchmark::DoNotOptimize(d->stages[0].data());
    }
}

BENCHMARK(plain_eigen)->Args({512, 64})->Args({64, 64})->Args({2048, 64});
BENCHMARK(staged)->Args({512, 64})->Args({64, 64})->Args({2048, 64});
BENCHMARK(staged_causal)->Args({512, 64});
BENCHMARK(staged_backward)->Args({512, 64});

}  // namespace

BENCHMARK_MAIN();
