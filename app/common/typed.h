#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/sizes.h"

namespace attn::view {

// Numbers as a person types them; nullopt for other text. Spaces and "−" are understood, in whole
// numbers also the commas between thousands.

/// "0.5", "-1e-3", "nan", "inf", and the typeset "−∞".
std::optional<double> typed_number(std::string_view text);
std::optional<Index> typed_whole(std::string_view text);
std::optional<std::uint64_t> typed_seed(std::string_view text);

/// "'1.5' is not a whole number; d_k stays 4".
std::string not_typed(std::string_view text, std::string_view wanted, std::string_view name,
                      std::string_view stays);

}  // namespace attn::view
