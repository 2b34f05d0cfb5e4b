#pragma once

#include <optional>
#include <vector>

#include "app/common/grid.h"
#include "tests/measure/screens.h"

namespace attn::test {

/// Where the result matrix stands: its cells alone.
struct Hero {
    Rect at;
    std::vector<view::Color> colors;  // of the cells as they are drawn, row-major
    double alike = 0.0;               // the share of them that is the grid's own colour

    double share(const Case& window) const;
};

/// Among all lattices of rectangles of one size (and pictures of one pixel a cell) that have the grid's rows
/// and columns, the one whose colours are most the grid's own; of equals the largest. nullopt: none.
std::optional<Hero> find_hero(const Log& log, const view::GridView& grid);

/// The share of the cells that have, in the pixels of the window, the colour that the log says.
double drawn_share(const Camera::Shot& shot, const view::GridView& grid, const Hero& hero);

}  // namespace attn::test
