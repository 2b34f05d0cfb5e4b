#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/common/draw/bar.h"
#include "app/common/draw/heading.h"
#include "app/common/draw/workspace.h"
#include "app/common/grid.h"

namespace attn::ui {

/// Something that a workspace shows.
struct CanvasPart {
    /// `inner`: between the hero and what stands right; `lowest`: under what stands below, or a tab beside it.
    enum class Where : std::uint8_t { hero, left, right, inner, below, lowest };

    std::string id;
    std::string name;  // on its tab
    std::function<void(const Box& box)> draw;
    Where where = Where::hero;
    float share = 0.0F;  // of the canvas: its width, or of one below its height
    std::function<float(ImVec2 space)> size = {};  // the same in pixels, where it knows it
    bool only_beside = false;                      // it is one of the singles too
};

/// What a workspace gives to the frame, which places it. Where the window has room the hero stands in the middle of the
/// others; where not there is one of them, and tabs. What it is given while presenting has no bar and no panel at the
/// right.
struct Parts {
    std::string missing_data = {};  // why nothing is shown, in the place of all else; "": it is
    Heading heading = {};
    CanvasPart hero = {};
    std::vector<CanvasPart> singles =
        {};  // what the hero is taken apart into where there is room for one; empty: itself
    std::vector<CanvasPart> others = {};
    std::function<void(ControlBar& bar)> controls = {};
    /// In the place of the inspector; empty: the inspector.
    std::function<void(const Frame& frame)> side = {};
    std::string status = {};  // at the right end of the bottom line
};

/// What the drawer takes of a canvas so wide: nothing where too little would be left, which it then covers.
float pushed_by(const WorkArea& area, float canvas, const Frame& frame);

/// One for each matrix, by its title.
std::vector<CanvasPart> parts_of(const std::vector<GridView>& grids,
                                 const std::function<void(const Box& box, std::size_t n)>& draw);

/// The last of them is the hero; the others stand left of it beneath each other. In a low window each is a tab, the
/// hero's first. `draw`: `count` of them from the n-th on.
void add_matrices(
    Parts& parts, const std::vector<GridView>& grids,
    const std::function<void(const Box& box, std::size_t n, std::size_t count)>& draw);

/// Bar, headline, muted line, hero, inspector: at the same place and of the same size in every workspace. Returns what
/// stands at the right end of the bottom line.
std::string draw_parts(const AppState& state, const WorkArea& area, const Parts& parts,
                       const Frame& frame, Actions& out);

}  // namespace attn::ui
