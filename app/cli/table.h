#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

namespace attn::cli {

/// With four decimals, or as 2.1e-09 where those would say 0 of what is not 0.
inline std::string table_cell(double value, int width) {
    const bool tiny = value != 0.0 && std::abs(value) < 5e-5;
    return tiny ? fmt::format("{:{}.1e}", value, width) : fmt::format("{:{}.4f}", value, width);
}

}  // namespace attn::cli
