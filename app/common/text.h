#pragma once

#include <string>
#include <string_view>

namespace attn::view {

/// Most code points of a token on screen, of one in the name of a cell, of a tooltip's text, and of the
/// bottom line.
inline constexpr std::size_t kMostShown = 24;
inline constexpr std::size_t kMostNamed = 14;
inline constexpr std::size_t kMostTip = 200;
inline constexpr std::size_t kMostMessage = 400;

/// A token as every label, formula and copy shows it: at most this number of code points, "…" for the middle
/// of a longer one. Invisible characters have their code: "a\n", "a\u200B".
std::string shown_token(std::string_view token, std::size_t most = kMostShown);

/// Words as a sentence: with a full stop, and a capital where they begin with a plain word. A name stays
/// as it is: "d_k is 0.", "weights.npz: there is no such file."
std::string sentence(std::string text);

}  // namespace attn::view
