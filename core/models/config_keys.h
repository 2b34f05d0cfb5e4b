#pragma once

#include <string_view>

#include "core/models/config.h"

namespace attn {

/// Whether a key of config.json that families name differently is one of this family's: GPT-2 has n_inner and
/// activation_function where others have intermediate_size and hidden_act; grouped heads and their width are Llama's and
/// its relatives'. True of every other key.
bool is_own_key(const ModelFamily& family, std::string_view key);

/// Whether no number of a forward pass depends on the key in any family: names, tokens, training, generation, what else is
/// returned.
bool is_no_setting(std::string_view key);

}  // namespace attn
