#pragma once

#include <cstdint>

#include "app/common/names.h"

namespace attn::view {

enum class ThemeName : std::uint8_t { dark, light };
template <>
inline constexpr std::string_view kNamesOf<ThemeName>[] = {"dark", "light"};

}  // namespace attn::view
