#include "core/memory.h"

#include <unistd.h>

#include <fmt/format.h>

#include <fstream>

namespace attn {
namespace {

double gigabytes(double bytes) { return bytes * 1e-9; }

/// In double: a product that overflows 64 bits is still compared rightly.
double count(const Shape& shape) {
    return static_cast<double>(shape.b) * static_cast<double>(shape.h) *
           static_cast<double>(shape.t) * static_cast<double>(shape.d);
}

}  // namespace

Index physical_memory_bytes() {
    return Index{sysconf(_SC_PHYS_PAGES)} * Index{sysconf(_SC_PAGESIZE)};
}

Index resident_memory_bytes() {
    std::ifstream pages("/proc/self/statm");  // "all resident shared …"
    Index all = 0;
    Index resident = 0;
    return pages >> all >> resident ? resident * Index{sysconf(_SC_PAGESIZE)} : 0;
}

Result<void> check_fits_in_memory(const Dimensions& size, const AttentionSpec& spec, StageSet keep,
                                  Index bytes_per_entry) {
    double entries = 0.0;
    for (const StageInfo& stage : stage_table())
        if (keep[index_of(stage.stage)]) entries += count(stage_shape(stage.stage, size, spec));
    const double needed = entries * static_cast<double>(bytes_per_entry);
    return check_fits_in_memory(needed, "the stages to keep",
                                "keep fewer stages or attend over fewer tokens", size);
}

Result<void> check_fits_in_memory(double bytes, std::string_view what, std::string_view remedy,
                                  const Dimensions& size) {
    const auto available = static_cast<double>(physical_memory_bytes());
    const auto held = static_cast<double>(resident_memory_bytes());
    if (held + bytes < available) return {};
    return failed(fmt::format(
        "{} need {:.1f} GB beside {:.1f} GB that are held, and this machine has {:.1f} GB "
        "(B={}, H={}, Tq={}, Tk={}): {}",
        what, gigabytes(bytes), gigabytes(held), gigabytes(available), size.batch, size.heads,
        size.tq, size.tk, remedy));
}

}  // namespace attn
