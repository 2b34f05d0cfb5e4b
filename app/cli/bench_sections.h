#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/bench/measure.h"

namespace attn {
class Backend;
}  // namespace attn

namespace attn::cli {

class BenchReport;

/// What the command line of `bench` asks for.
struct BenchPlan {
    std::vector<const Backend*> backends;
    bool backends_named = false;  // else what would take long is left out
    std::vector<bench::Workload> shapes;
    bench::Effort effort;
    bool quick = false;
};

/// One part of a benchmark: a row of the table in bench_sections.cpp.
struct BenchSection {
    std::string_view name;
    std::string_view text;
    void (*run)(const BenchPlan& plan, BenchReport& report);
    bool by_default = true;
};
std::span<const BenchSection> bench_sections();

/// The shapes that figures are quoted for; `quick`: those of a second.
std::vector<bench::Workload> default_shapes(bool quick);

}  // namespace attn::cli
