#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/tex.h"

namespace attn::tex {

// The commands of the subset, and their symbols.

struct Command {
    std::string_view name;
    std::string_view text;
    Spacing spacing = Spacing::ordinary;
    Form form = Form::upright;
};

// clang-format off
inline constexpr Command kCommands[] = {
    {"cdot", "·", Spacing::binary}, {"times", "×", Spacing::binary}, {"div", "÷", Spacing::binary},
    {"circ", "∘", Spacing::binary}, {"wedge", "∧", Spacing::binary}, {"pm", "±", Spacing::binary},
    {"le", "≤", Spacing::relation}, {"ge", "≥", Spacing::relation}, {"ne", "≠", Spacing::relation},
    {"approx", "≈", Spacing::relation}, {"to", "→", Spacing::relation}, {"in", "∈", Spacing::relation},
    {"infty", "∞"}, {"partial", "∂"}, {"nabla", "∇"}, {"top", "⊤"}, {"ldots", "…"}, {"ell", "ℓ"}, {"_", "_"},
    {"alpha", "α", Spacing::ordinary, Form::italic}, {"beta", "β", Spacing::ordinary, Form::italic},
    {"epsilon", "ε", Spacing::ordinary, Form::italic},
    {"gamma", "γ", Spacing::ordinary, Form::italic}, {"delta", "δ", Spacing::ordinary, Form::italic},
    {"theta", "θ", Spacing::ordinary, Form::italic}, {"lambda", "λ", Spacing::ordinary, Form::italic},
    {"mu", "μ", Spacing::ordinary, Form::italic}, {"phi", "φ", Spacing::ordinary, Form::italic}, {"sigma", "σ", Spacing::ordinary, Form::italic},
    {"pi", "π", Spacing::ordinary, Form::italic}, {"tau", "τ", Spacing::ordinary, Form::italic}, {"ell", "ℓ"}, {"Delta", "Δ"}, {"Sigma", "Σ"},
    {"exp", "exp", Spacing::function}, {"ln", "ln", Spacing::function}, {"log", "log", Spacing::function},
    {"sin", "sin", Spacing::function}, {"cos", "cos", Spacing::function}, {"tanh", "tanh", Spacing::function},
    {"arccos", "arccos", Spacing::function},
};
struct Operator { std::string_view name, text; };
inline constexpr Operator kOperators[] = {{"sum", "Σ"}, {"prod", "Π"}, {"max", "max"}, {"min", "min"}};
struct Space { std::string_view name; double em; };
inline constexpr Space kSpaces[] = {{",", 1.0 / 6.0}, {";", 5.0 / 18.0}, {" ", 0.25}, {"quad", 1.0}};
// clang-format on

/// The row of a table with that name; nullptr when it has none.
template <class Rows>
auto find_row(const Rows& rows, std::string_view name) {
    const auto row = std::find_if(std::begin(rows), std::end(rows),
                                  [&](const auto& one) { return one.name == name; });
    return row == std::end(rows) ? nullptr : &*row;
}

}  // namespace attn::tex
