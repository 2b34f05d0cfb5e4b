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
/// `knows_start`: the first word is known to begin where the text does.
Splits splits_of(const nlohmann::json& pre_tokenizer, bool knows_start);

}  // namespace attn
