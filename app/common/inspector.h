#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/common/action.h"
#include "app/common/cell.h"
#include "core/role.h"

namespace attn::view {

/// A piece of a line: text with a role colour, perhaps a link to the cell it shows.
struct Piece {
    std::string text;
    std::optional<Role> role = {};  // nullopt: plain text
    bool muted = false;
    std::optional<CellRef> link = {};  // click selects that cell; hover lights it
    Actions on_click = {};             // where `link` is of another kind of cell; empty: nothing
};
struct Line {
    std::string label;  // "q · k", "÷ √d_k", "exp(s − m)"; may be empty
    std::vector<Piece> pieces;
};
inline Line text_line(std::string label, std::string text, std::optional<Role> role = {}) {
    return {std::move(label), {{std::move(text), role, false, {}}}};
}

/// One number of a table, or a word in its place; "": empty.
struct TableCell {
    std::string text;
    std::optional<Role> role;
    std::optional<CellRef> link;
    Actions on_click = {};  // as of Piece
};
struct TableRow {
    std::string label;             // a token, a dimension
    std::vector<TableCell> cells;  // one for each column
    bool chosen = false;           // of the cell that is explained
    bool muted = false;            // masked
    double bar = 0.0;              // −1 … 1, how much of the row is shaded
};
struct TableColumn {
    std::string title;  // "exp"
    std::optional<Role> role;
    bool spare = false;  // left out where all do not fit
};
/// One row for each key or dimension: the numbers that a pencil needs, aligned on their points.
struct InspectorTable {
    std::string title;  // a line above it; may be empty
    std::string label;  // the name of the rows: "key", "c"
    std::vector<TableColumn> columns;
    std::vector<TableRow> rows;
    std::optional<TableRow> total;  // beneath the rows, always seen
};

/// An input that a computed number is made from: "X[cat]". A click goes to the stage that shows it.
struct SourceLink {
    std::string text;
    CellRef cell;
    Stage stage = Stage::x;
    Role role = Role::input;
};

/// The selected (or hovered) cell's whole arithmetic with its real operands.
struct InspectorView {
    bool empty = true;  // nothing selected: `hint` names an action
    std::string hint;
    std::string title;    // "scores[cat, sat]"
    std::string value;    // "1.2286"
    std::string tex;      // its formula, in the subset that core/tex.h reads
    std::string formula;  // the same as plain text
    Role role = Role::score;
    std::vector<Line> lines;
    void add(std::string label, std::string text, std::optional<Role> of = {}) {
        lines.push_back(text_line(std::move(label), std::move(text), of));
    }
    std::optional<InspectorTable> table;
    std::vector<Line> geometry;  // ‖q‖ ‖k‖ cos θ
    std::string gradient;        // "∂L/∂scores = 0.0123, L = Σ output"
    bool editable = false;
    std::vector<SourceLink> sources;   // "made from"; empty for an input
    std::string edit_hint;             // how to change the number; "" where it cannot be changed
    std::optional<CellRef> loss_cell;  // an output, which the loss can be
    // the same arithmetic for the clipboard
    std::string as_text, as_latex, as_python;
};

/// Nothing is explained: what to do.
inline InspectorView only_hint(std::string hint) {
    InspectorView view;
    view.hint = std::move(hint);
    return view;
}
/// What is explained.
inline InspectorView titled(std::string title, Role role) {
    InspectorView view;
    view.empty = false;
    view.title = std::move(title);
    view.role = role;
    return view;
}
/// "title: value" and a line for each of its lines, for the clipboard.
std::string text_of(const InspectorView& view);
/// A line, on screen and in as_text.
inline void add_line(InspectorView& view, std::string label, std::vector<Piece> pieces) {
    view.as_text += label.empty() ? "" : label + ": ";
    for (const Piece& each : pieces) view.as_text += each.text;
    view.as_text += "\n";
    view.lines.push_back({std::move(label), std::move(pieces)});
}

}  // namespace attn::view
