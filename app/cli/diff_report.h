#pragma once

#include <string>

#include "core/verify/report.h"

namespace attn::cli {

using verify::DiffReport, verify::DiffRow, verify::Examined;

/// Aligned text; the verdict is its last line.
std::string diff_text(const DiffReport& report);
/// All of it; numbers that are not finite as "nan", "inf" and "-inf".
std::string diff_json(const DiffReport& report);

/// "1.2e-07", "0", "nan".
std::string short_number(double value);

}  // namespace attn::cli
