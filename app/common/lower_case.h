#pragma once

#include <algorithm>
#include <cctype>
#include <string>

namespace attn::view {

/// ASCII letters alone.
inline std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

}  // namespace attn::view
