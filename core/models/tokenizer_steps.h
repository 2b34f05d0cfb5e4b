#pragma once

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
/// normalizer and pre_tokenizer of byte pairs in a tokenizer.json. `digits`: how many make a word at most, 3 in Llama 3 and 1
/// in Qwen 2; 0: GPT-2's words.
nlohmann::json byte_level_steps(int digits, bool prefix_space);
/// `knows_start`: the first word is known to begin where the text does.
Splits splits_of(const nlohmann::json& pre_tokenizer, bool knows_start);

}  // namespace attn
