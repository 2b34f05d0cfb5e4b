#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "core/result.h"
#include "core/train/moment.h"
#include "core/train/spec.h"

namespace attn::train {

struct Record;

/// A run as it is kept: its spec, what every step measured, and the moments that can be gone back to.
struct Run {
    Spec spec;
    std::vector<std::shared_ptr<const Record>> records;  // of steps 0, 1, …
    std::vector<Moment> moments;  // ascending steps; the last one is where it goes on
};

/// A folder: run.json (spec, records, names of the moments' files) and step-<N>.safetensors for each moment, which has every
/// matrix under its name and the optimiser's numbers as first.<name>, second.<name>. Files are replaced whole, run.json last:
/// whoever ends the program leaves the run before or this one. Moments' files that it no longer names are removed.
Result<void> save_run(const std::filesystem::path& folder, const Run& run);
/// Errors name file, field, value and what was expected.
Result<Run> open_run(const std::filesystem::path& folder);
/// The folder has a run.json.
bool is_run(const std::filesystem::path& folder);

}  // namespace attn::train
