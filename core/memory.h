#pragma once

#include <filesystem>
#include <optional>

#include "core/result.h"
#include "core/sizes.h"
#include "core/stage.h"

namespace attn {

struct AttentionSpec;
struct Dimensions;

/// An error when the kept stages need more than the free memory, or than memory_bytes() minus the bytes that this process holds already,
/// such as its inputs; returned before anything is allocated: a kernel that overcommits memory would end the program instead.
/// `bytes_per_entry`: the bytes that a backend holds at its peak for each entry of a stage; `working`: its other bytes.
Result<void> check_fits_in_memory(const Dimensions& size, const AttentionSpec& spec, StageSet keep,
                                  Index bytes_per_entry, double working = 0.0);

/// The same for `bytes` of something: `what` is "the gradients", `remedy` what would need less.
Result<void> check_fits_in_memory(double bytes, std::string_view what, std::string_view remedy,
                                  const Dimensions& size);

/// The bytes that this process may use: the machine's memory, or the least limit of the control groups that it is in.
Index memory_bytes();
/// That limit below `root`, where /proc and /sys/fs/cgroup are (version 1 or 2); nullopt: no limit.
std::optional<Index> control_group_limit(const std::filesystem::path& root);

/// The bytes that this process holds now; 0 where the system does not report them.
Index resident_memory_bytes();

}  // namespace attn
