// A model's folder, read once; then a line "TOKENS" in, a line of JSON out: milliseconds of one run over token numbers
// 0, 7, 14, …, and the largest number of the read-out's last row with its place. See models.py.
//   ./attn_model_bench FOLDER THREADS

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include <fmt/format.h>

#include "core/backend.h"
#include "core/models/model.h"
#include "core/threads.h"
#include "tests/bench/measured.h"

namespace attn {
namespace {

/// "VmHWM" or "VmRSS" of this process, MiB; 0 where /proc has none.
double memory_mib(const std::string& key) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(key + ":")) return std::stod(line.substr(key.size() + 1)) / 1024.0;
    return 0.0;
}

int serve(const std::string& folder) {
    const double start = bench::seconds_now();
    const auto model = Model::open(folder);
    if (!model) {
        std::cerr << model.error().sentence << '\n';
        return 1;
    }
    std::cout << fmt::format(R"({{"open_ms": {}, "rss_mib": {}, "peak_mib": {}}})",
                             1e3 * (bench::seconds_now() - start), memory_mib("VmRSS"),
                             memory_mib("VmHWM"))
              << std::endl;
    for (Index count = 0; std::cin >> count;) {
        std::vector<ModelToken> tokens(static_cast<std::size_t>(count));
        for (Index n = 0; n < count; ++n) tokens[static_cast<std::size_t>(n)].id = 7 * n;
        const double begin = bench::seconds_now();
        const auto run = model->run(std::move(tokens), *find_backend("staged"), {});
        const double ms = 1e3 * (bench::seconds_now() - begin);
        if (!run) {
            std::cerr << run.error().sentence << '\n';
            return 1;
        }
        const auto last = run->read_out.matrix(0, 0).row(run->read_out.shape().t - 1);
        const auto largest = std::ranges::max_element(last);
        std::cout << fmt::format(
                         R"({{"ms": {}, "largest": {}, "at": {}, "rss_mib": {}, "peak_mib": {}}})",
                         ms, *largest, largest - last.begin(), memory_mib("VmRSS"),
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
