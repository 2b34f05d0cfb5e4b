#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/models/tokenizer_parts.h"

namespace attn {

// The normalizer and the pre_tokenizer of tokenizer.json, each of a table of types with the keys that it has. Another type,
// another key, and a value that is not computed are a TokenizerFault that names them.

std::vector<Rewrite> rewrites_of(const nlohmann::json& normalizer);
/// No character that a text begins with is dropped or replaced by several: the first word is where the text is.
bool keeps_start(const nlohmann::json& normalizer);

struct Splits {
    std::vector<Split> splits;
    bool bytes_are_letters = false;
};
/// How byte pairs cut a text.
struct ByteLevelSteps {
    std::span<const std::string_view> expressions = {};  // one after the other
    bool gpt2 = false;                                   // GPT-2's expression follows them
    bool prefix_space = false;
    bool composes = false;  // the normal form C comes first
};
/// Its normalizer and pre_tokenizer in a tokenizer.json.
nlohmann::json byte_level_steps(const ByteLevelSteps& steps);
/// `digits`: how many make a word at most, 3 in Llama 3 and 1
/// in Qwen 2; 0: GPT-2's words.
nlohmann::json byte_level_steps(int digits, bool prefix_space);
/// `knows_start`: the first word is known to begin where the text does.
Splits splits_of(const nlohmann::json& pre_tokenizer, bool knows_start);

}  // namespace attn
