#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::view {

/// Edit distance (optimal string alignment): insertions, deletions, replacements and swaps of two neighbours, in bytes, from
/// `a` to `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidates with the fewest typing mistakes from `word`, best first, of equal ones in the order of the alphabet; at
/// most `count`.
std::vector<std::string> nearest_candidates(std::string_view word,
                                            std::span<const std::string> candidates,
                                            std::size_t count);

}  // namespace attn::view
