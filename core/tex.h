#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace attn::tex {

// The subset of TeX's mathematics in which formulas are written: letters, digits, \mathrm{word},
// \text{any words}, \tilde{A}, \hat{A}, _ and ^, \frac{}{}, \sqrt{}, \sum, \prod and \max with the limits under them,
// ( ) [ ] and \| \|, Greek letters, signs such as \cdot and \partial, and the spaces \, \; \quad.

enum class Kind : std::uint8_t { row, symbol, script, fraction, root, big_op, fence };
/// How a symbol is set: variables slant, words of a language have the face of words.
enum class Form : std::uint8_t { italic, upright, text };
/// The role of a symbol in a row, which decides the space around it.
enum class Spacing : std::uint8_t { ordinary, function, binary, relation, punctuation, space };

struct Node {
    Kind kind = Kind::row;
    std::string text;   // symbol and big_op: as drawn; fence: its opening symbol
    std::string close;  // fence: what closes it
    Form form = Form::italic;
    Spacing spacing = Spacing::ordinary;
    double space_em = 0.0;  // of a space
    /// row: its nodes. script: base, below, above. fraction: numerator, denominator. root and fence:
    /// what is inside. big_op: below, above. A missing one is an empty row.
    std::vector<Node> parts;
};

/// A row. An error names the command outside the subset, or the unclosed group.
Result<Node> parse(std::string_view source);

/// One line of plain text: "A[i,j] = exp(M[i,j] − m_i) / Σ_j′ exp(M[i,j′] − m_i)". What cannot be parsed
/// stays unchanged.
std::string plain_text(std::string_view source);
std::string plain_text(const Node& node);

/// Any words as \text{…}: what TeX would take for a command is escaped. Small digits become indices.
std::string text_of(std::string_view text);

}  // namespace attn::tex
