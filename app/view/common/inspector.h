#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/view/common/cell.h"
#include "app/view/common/theme.h"

namespace attn::view {

/// A piece of a line: text with a role colour, perhaps a link to the cell it shows.
struct Piece {
    std::string text;
    std::optional<Role> role;  // nullopt: plain text
    bool muted = false;
    std::optional<CellRef> link;  // click selects that cell; hover lights it
};
struct Line {
    std::string label;  // "q · k", "÷ √d_k", "exp(s − m)"; may be empty
    std::vector<Piece> pieces;
};

/// q·k as one bar for each dimension.
struct ProductStrip {
    std::string title;  // "q_c · k_c"
    std::vector<std::string> labels;
    std::vector<double> left, right, products;
    Role left_role = Role::query;
    Role right_role = Role::key;
    double largest = 1.0;  // scale of the bars
};

/// An input that a computed number is made from: "X[cat]". A click goes to the stage that shows it.
struct SourceLink {
    std::string words;
    CellRef cell;
    Stage stage = Stage::x;
    Role role = Role::input;
};

/// The selected (or hovered) cell's whole arithmetic with its real operands.
struct InspectorView {
    bool empty = true;  // nothing selected: `hint` says what to do
    std::string hint;
    std::string title;    // "scores[cat, sat]"
    std::string value;    // "1.2286"
    std::string tex;      // its formula, in the subset that core/tex.h reads
    std::string formula;  // the same as plain text
    Role role = Role::score;
    std::vector<Line> lines;
    std::optional<ProductStrip> strip;
    std::vector<Line> geometry;  // ‖q‖ ‖k‖ cos θ
    std::string gradient;        // "∂L/∂scores = 0.0123, L = Σ output"
    bool editable = false;
    std::vector<SourceLink> sources;  // "made from"; empty for an input
    // the same arithmetic for the clipboard
    std::string as_text, as_latex, as_python;
};

}  // namespace attn::view
