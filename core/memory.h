#pragma once

#include <filesystem>

#include "core/engine.h"

namespace attn {

/// An error when the kept stages need more than is free, or than memory_bytes() has beside what this process holds already,
/// such as its inputs; said before anything is allocated: a kernel that overcommits memory would end the program instead.
/// `bytes_per_entry`: what a backend holds at its peak for each entry of a stage; `working`: what it holds beside them.
Result<void> check_fits_in_memory(const Dimensions& size, const AttentionSpec& spec, StageSet keep,
                                  Index bytes_per_entry, double working = 0.0);

/// The same for `bytes` of something: `what` is "the gradients", `remedy` what would need less.
Result<void> check_fits_in_memory(double bytes, std::string_view what, std::string_view remedy,
                                  const Dimensions& size);

/// What this process may use in bytes: the machine's memory, or the least limit of the control groups that it is in.
Index memory_bytes();
/// That limit below `root`, where /proc and /sys/fs/cgroup are (version 1 or 2); nullopt: there is none.
std::optional<Index> control_group_limit(const std::filesystem::path& root);

/// What of it this process holds now, in bytes; 0 where the system does not say.
Index resident_memory_bytes();

}  // namespace attn
