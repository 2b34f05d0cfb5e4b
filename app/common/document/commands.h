#pragma once

#include <fmt/format.h>

#include "app/common/command.h"

namespace attn::view {

/// What every workspace that shows the document offers: scaling, masks, heads, layers, backends.
void add_document_commands(std::vector<Command>& list, const AppState& state);
/// Every preset, in the group of a workspace.
void add_presets(std::vector<Command>& list, const AppState& state, const char* group);
/// Where an arrow key goes.
struct Arrow {
    const char* text;
    Key key;
    int rows, columns;
};
inline constexpr Arrow kArrows[] = {{"above", Key::up, -1, 0},
                                    {"below", Key::down, 1, 0},
                                    {"to the left", Key::left, 0, -1},
                                    {"to the right", Key::right, 0, 1}};
/// "Select the query above", "Select the key to the left": `make` makes the action of so many rows and columns.
template <class Make>
void add_arrows(const CommandAdder& add, const char* row, const char* column, Chord (&chord)(Key),
                Make make, bool enabled = true) {
    for (const Arrow& arrow : kArrows)
        add(fmt::format("Select the {} {}", arrow.rows != 0 ? row : column, arrow.text),
            chord(arrow.key), make(arrow.rows, arrow.columns), enabled);
}
/// What a sentence with toy weights offers besides: presets, other weights, gradients.
void add_model_commands(std::vector<Command>& list, const AppState& state);

}  // namespace attn::view
