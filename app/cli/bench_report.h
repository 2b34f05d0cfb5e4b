#pragma once

#include <ostream>
#include <string>

#include <nlohmann/json.hpp>

#include "core/bench/map_speed.h"
#include "core/bench/workload.h"

namespace attn::bench {
struct Compared;
struct Decoded;
struct Measured;
struct MeasuredProduct;
struct MemoryUse;
}  // namespace attn::bench

namespace attn::cli {

/// What `bench` found: printed line by line as it comes, and gathered for --json.
class BenchReport {
  public:
    /// `out` nullptr: nothing is printed.
    explicit BenchReport(std::ostream* out) : out_(out) {}

    /// What the speeds are measured against; printed first.
    void machine(int threads);
    void heading(std::string_view text);
    void row(const bench::Measured& one);
    void comparison(const bench::Compared& pair);
    void decoded(const bench::Decoded& one);
    void product(const bench::MeasuredProduct& one);
    void memory(const bench::Workload& work, std::string_view backend, const bench::MemoryUse& use);
    void map(const bench::MapSpeed& speed);
    /// One sentence on what was not measured.
    void note(const std::string& sentence);

    /// {"machine": {...}, "rows": [...], "comparisons": [...], "decoding": [...], "products": [...], "memory": [...], "maps": [...], "notes": [...]}
    const nlohmann::ordered_json& json() const { return json_; }

  private:
    void print(const std::string& line);

    std::ostream* out_;
    nlohmann::ordered_json json_;
};

}  // namespace attn::cli
