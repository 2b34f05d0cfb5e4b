// A model's folder, read once; then a line "TOKENS STEPS" in, a line of JSON out: milliseconds of one run over token numbers
// 0, 7, 14, …, and the largest number of the read-out's last row with its place. STEPS above 0: those TOKENS are read, and
// then STEPS more one by one against the cache: milliseconds of one of them, with their weights kept. STEPS below 0: of a sweep over
// every head. See models.py and sweep.py.
//   ./attn_model_bench FOLDER THREADS

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include <fmt/format.h>

#include "core/backend.h"
#include "core/models/generate.h"
#include "core/models/sweep.h"
#include "core/stopwatch.h"
#include "core/threads.h"

namespace attn {
namespace {

/// "VmHWM" or "VmRSS" of this process, MiB; 0 where /proc has none.
double memory_mib(const std::string& key) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(key + ":")) return std::stod(line.substr(key.size() + 1)) / 1024.0;
    return 0.0;
}

/// The logits of the last token, and what took so long.
struct Timed {
    Tensor logits;
    double ms = 0.0;
};

std::vector<ModelToken> numbered(Index count) {
    std::vector<ModelToken> tokens(count);
    for (Index n = 0; n < count; ++n) tokens[n].id = 7 * n;
    return tokens;
}

Result<Timed> timed_run(const Model& model, Index count) {
    const Stopwatch watch;
    return model.run(numbered(count), *find_backend("staged"), {}).map([&](ModelRun&& run) {
        return Timed{std::move(run.read_out), watch.ms()};
    });
}

Result<Timed> timed_steps(const std::shared_ptr<const Model>& model, Index count, Index steps) {
    auto generation = Generation::of(model, *find_backend("staged"));
    if (!generation) return tl::unexpected(generation.error());
    auto step = generation->read(numbered(count));
    const Stopwatch watch;
    for (Index n = 0; n < steps && step; ++n) step = generation->read(7 * (count + n));
    if (!step) return tl::unexpected(step.error());
    return Timed{std::move(step->rows.read_out), watch.ms() / static_cast<double>(steps)};
}

/// Every head set to 0 in turn, of a run that is there.
Result<Timed> timed_sweep(const Model& model, Index count) {
    const Backend& backend = *find_backend("staged");
    auto run = model.run(numbered(count), backend, only_stage(Stage::context));
    if (!run) return tl::unexpected(run.error());
    const Stopwatch watch;
    const auto sweep = sweep_heads(model, *run, backend);
    if (!sweep) return tl::unexpected(sweep.error());
    return Timed{std::move(run->read_out), watch.ms()};
}

int serve(const std::string& folder) {
    const Stopwatch watch;
    auto opened = Model::open(folder);
    if (!opened) {
        std::cerr << opened.error().text() << '\n';
        return 1;
    }
    const auto model = std::make_shared<const Model>(*std::move(opened));
    std::cout << fmt::format(R"({{"open_ms": {}, "rss_mib": {}, "peak_mib": {}}})", watch.ms(),
                             memory_mib("VmRSS"), memory_mib("VmHWM"))
              << std::endl;
    for (Index count = 0, steps = 0; std::cin >> count >> steps;) {
        const auto timed = steps > 0    ? timed_steps(model, count, steps)
                           : steps == 0 ? timed_run(*model, count)
                                        : timed_sweep(*model, count);
        if (!timed) {
            std::cerr << timed.error().text() << '\n';
            return 1;
        }
        const auto last = timed->logits.matrix(0, 0).row(timed->logits.shape().t - 1);
        const auto largest = std::ranges::max_element(last);
        std::cout << fmt::format(
                         R"({{"ms": {}, "largest": {}, "at": {}, "rss_mib": {}, "peak_mib": {}}})",
                         timed->ms, *largest, largest - last.begin(), memory_mib("VmRSS"),
                         memory_mib("VmHWM"))
                  << std::endl;
    }
    return 0;
}

}  // namespace
}  // namespace attn

int main(int count, char** arguments) {
    if (count != 3) {
        std::cerr << "expected: attn_model_bench FOLDER THREADS\n";
        return 2;
    }
    const attn::ThreadLimit limit(std::max(1, std::atoi(arguments[2])));
    return attn::serve(arguments[1]);
}
