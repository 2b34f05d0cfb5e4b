#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/document/edits.h"

namespace attn::view {

struct AppState;

/// Sets an enum by its name; false, with a word why, where there is none of that name.
template <class Enum>
bool set_name(AppState& state, std::span<const std::string_view> names, const std::string& name,
              Enum& value, std::string_view what) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
        show_error(state, "There is no {} '{}': {}.", what, name, fmt::join(names, ", "));
        return false;
    }
    value = static_cast<Enum>(found - names.begin());
    return true;
}

}  // namespace attn::view
