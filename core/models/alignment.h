#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/models/tokenizer.h"
#include "core/result.h"

namespace attn {

/// For each position of a text the one of another text that stands for it; −1: none does.
using Alignment = std::vector<Index>;
/// A position of the text, and of the other one.
using PairedTokens = std::vector<std::pair<Index, Index>>;

/// Every position its own where there are as many tokens; else those of the common beginning and, of what is left, of the
/// common end.
Alignment common_ends(const std::vector<ModelToken>& text, const std::vector<ModelToken>& other);
/// An error: no pair, a position that a text of so many tokens does not have, one that is paired twice.
Result<Alignment> aligned(const PairedTokens& pairs, Index tokens, Index others);
PairedTokens pairs_of(const Alignment& alignment);

/// "0=0, 3=4": of the text, and of the other one. An error names the part that is not so.
Result<PairedTokens> parse_pairs(std::string_view text);
std::string pairs_text(const PairedTokens& pairs);

}  // namespace attn
