#pragma once

#include <string>
#include <vector>

#include "app/common/draw/parts.h"

namespace attn::ui {

inline constexpr float kTabs = 36.0F;  // their height, in design units

/// One tab a part, cut off the top of `space`; returns the part that is shown. A figure has no tabs.
const CanvasPart& draw_tabs(const AppState& state, const char* id,
                            const std::vector<const CanvasPart*>& all, Box& space,
                            const Frame& frame, Actions& out);

/// Matrices to compare: the first two, of one size, under the name `both`, and the third.
struct Compared {
    std::string both;
    const std::vector<GridView>& grids;
    std::size_t first = 0;  // of them in a low window
    /// `count` of them from the n-th on.
    std::function<void(const Box& box, std::size_t n, std::size_t count)> draw;
    std::vector<CanvasPart> more = {};  // tabs after these
};
/// The hero: the first two, or by its tabs the third and what comes after. In a low window each is a tab.
void add_compared(Parts& parts, const AppState& state, const Compared& compared, const Frame& frame,
                  Actions& out);

}  // namespace attn::ui
