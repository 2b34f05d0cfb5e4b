#pragma once

#include <string>

namespace attn::view {

/// A number with its formula and variable, as every derived number on screen.
struct Readout {
    std::string label;    // "evenness"
    std::string formula;  // "H / ln n"
    std::string text;     // "95 %"
    std::string tooltip;
};
}  // namespace attn::view
