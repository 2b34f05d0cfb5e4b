#pragma once

#include <optional>
#include <vector>

#include "app/cli/diff_report.h"
#include "app/files/results.h"

namespace attn::cli {

/// One file against the reference of its inputs, or the second of two against the first, and against the reference where
/// the first has no such array. `bounds`: the tolerance that was given; not set: what float32 may be off by, of two files
/// twice that. Inputs in both files must be equal.
Result<DiffReport> compare_files(std::vector<files::ResultFile> read,
                                 std::optional<verify::Bounds> bounds);

}  // namespace attn::cli
