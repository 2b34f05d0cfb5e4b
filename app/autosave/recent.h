#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attn::autosave {

inline constexpr std::size_t kMostRecent = 10;

/// Files that were opened or saved, absolute, the last first; those that are gone are left out. Empty where nothing was kept, or
/// what was kept cannot be read: it is no loss.
std::vector<std::string> read_recent(const std::filesystem::path& file);
/// `opened` to the front, as kept.
std::vector<std::string> with_recent(std::vector<std::string> recent, const std::string& opened);
/// Best effort: a list that cannot be written is no loss either.
void write_recent(const std::filesystem::path& file, const std::vector<std::string>& recent);

}  // namespace attn::autosave
