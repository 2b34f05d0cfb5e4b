#include "core/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/dimensions.h"
#include "core/platform.h"
#include "core/spec.h"
#include "core/stages.h"

namespace attn {
namespace {

double gigabytes(double bytes) { return bytes * 1e-9; }

/// Not worth asking the system about: a small call takes microseconds.
constexpr double kAlwaysThere = 16e6;

/// In double: a product that overflows 64 bits is still compared rightly.
double count(const Shape& shape) {
    return static_cast<double>(shape.b) * static_cast<double>(shape.h) *
           static_cast<double>(shape.t) * static_cast<double>(shape.d);
}

}  // namespace

std::optional<Index> control_group_limit(const std::filesystem::path& root) {
    std::optional<Index> least;
    const auto read = [&](const std::filesystem::path& file) {
        std::ifstream stream(file);  // a number, or "max"
        if (Index limit = 0; stream >> limit) least = std::min(least.value_or(limit), limit);
    };
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        std::istringstream fields(line);  // "4:memory:/path" of version 1, "0::/path" of version 2
        std::string number, controllers, path;
        std::getline(std::getline(std::getline(fields, number, ':'), controllers, ':'), path);
        if (controllers != "memory" && !controllers.empty()) continue;
        const auto top = root / "sys/fs/cgroup" / controllers;
        const auto file = controllers.empty() ? "memory.max" : "memory.limit_in_bytes";
        for (std::filesystem::path group = path; group.has_relative_path();
             group = group.parent_path())
            read(top / group.relative_path() / file);
        read(top / file);  // where a container sees its own group as the top
    }
    return least;
}

Index memory_bytes() {
    static const Index bytes = [] {
        const auto machine = static_cast<Index>(platform::physical_memory_bytes());
        return std::min(machine, control_group_limit("/").value_or(machine));
    }();
    return bytes;
}

Index resident_memory_bytes() { return static_cast<Index>(platform::resident_memory_bytes()); }

Result<void> check_fits_in_memory(const Dimensions& size, const AttentionSpec& spec, StageSet keep,
                                  Index bytes_per_entry, double working) {
    double entries = 0.0;
    for (const StageInfo& stage : stage_table())
        if (keep[index_of(stage.stage)]) entries += count(stage_shape(stage.stage, size, spec));
    const double needed = entries * static_cast<double>(bytes_per_entry) + working;
    return check_fits_in_memory(needed, "the stages to keep",
                                "keep fewer stages or attend over fewer tokens", size);
}

Result<void> check_fits_in_memory(double bytes, std::string_view what, std::string_view remedy,
                                  const Dimensions& size) {
    if (bytes < kAlwaysThere) return {};
    const auto all = static_cast<double>(memory_bytes());
    const auto held = static_cast<double>(resident_memory_bytes());
    const double free = platform::free_memory_bytes().value_or(all);
    if (held + bytes < all && bytes < free) return {};
    return failed(fmt::format(
        "{} need {:.1f} GB besides the {:.1f} GB in use, and this machine has {:.1f} GB, {:.1f} GB "
        "of it free (B={}, H={}, Tq={}, Tk={}): {}",
        what, gigabytes(bytes), gigabytes(held), gigabytes(all), gigabytes(free), size.batch,
        size.heads, size.tq, size.tk, remedy));
}

}  // namespace attn
