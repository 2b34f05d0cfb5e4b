#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace attn {

struct ModelFamily;

// Keys of config.json are a closed list: settings of the families that are read here, each its family's own; what changes no
// number of a forward pass; and what other architectures compute with, which is refused.

/// Whether this family's own code reads it, where some family's does: GPT-2 has n_inner and activation_function where others
/// have intermediate_size and hidden_act. True of a key that belongs to no family alone.
bool is_own_key(const ModelFamily& family, std::string_view key);
/// Whether it belongs to some families alone: the others ignore it.
bool is_family_key(std::string_view key);

/// Whether no number of a forward pass depends on the key in any family: names, tokens, training, generation, what else is
/// returned.
bool is_no_setting(std::string_view key);

/// With which value a setting of another architecture changes nothing: none (null, false, 0 or empty), 1, or the width of a
/// token's vector.
enum class ViewActions : std::uint8_t { none, one, width };
/// nullopt: it is none that is known.
std::optional<ViewActions> plain_value(std::string_view key);

}  // namespace attn
