#pragma once

#include <string>
#include <string_view>

namespace attn::view {

/// Most code points of a token on screen, of a tooltip's text, and of the bottom line.
inline constexpr std::size_t kMostShown = 24;
inline constexpr std::size_t kMostTip = 200;
inline constexpr std::size_t kMostMessage = 400;

/// A token as every label, formula and copy shows it: at most kMostShown code points, "…" for the middle
/// of a longer one. What could not be seen has its code: "a\n", "a\u200B".
std::string shown_token(std::string_view token);

}  // namespace attn::view
