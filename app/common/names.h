#pragma once

#include <span>
#include <string_view>

namespace attn::view {

/// The names of an enum's values, in their order, for an enum that an action has.
template <class Enum>
inline constexpr std::span<const std::string_view> kNamesOf{};

}  // namespace attn::view
