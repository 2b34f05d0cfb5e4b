#pragma once

#include <imgui.h>

#include <optional>

#include "app/common/actions.h"
#include "app/common/draw/frame.h"
#include "app/common/plot.h"

namespace attn::ui {

/// What was done to a plot's marker.
struct PlotInput {
    std::optional<double> moved_to;  // pressed or dragged: the x under the pointer
    int steps = 0;       // of the arrow keys: to the next stop (1) or the one before (−1)
    bool taken = false;  // the mouse took hold of it
    bool let_go = false;
};

/// Curves with their bands, named at their right ends, over the x axis, within `low` … `high`.
/// The marker is a line at marker_x with a point on it for the value of each curve; pressing or
/// dragging anywhere on the plot moves it: to which stop the caller knows. `faded`: the curves are old.
PlotInput draw_plot(const PlotView& plot, const char* id, ImVec2 low, ImVec2 high, bool faded,
                    const Frame& frame);

/// Sets `Set` to the stop that the marker was pulled or stepped to; a whole drag is one step of undo.
template <class Set, class Value>
void follow(const PlotInput& input, Value now, Value (*nearest)(double), Value (*next)(Value, int),
            Actions& out) {
    if (input.taken) out.push_back(BeginGesture{});
    Value to = input.moved_to ? nearest(*input.moved_to) : now;
    if (input.steps != 0) to = next(now, input.steps);
    if (to != now) out.push_back(Set{to});
    if (input.let_go) out.push_back(EndGesture{});
}

}  // namespace attn::ui
