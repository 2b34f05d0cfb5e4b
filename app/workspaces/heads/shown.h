#pragma once

#include <memory>
#include <vector>

#include "app/common/color_look.h"
#include "app/common/colormap.h"
#include "app/common/map/cells.h"
#include "app/common/map/colors.h"
#include "app/workspaces/heads/state.h"
#include "core/heads/matrix.h"

namespace attn::view {

struct AppState;
struct HeadsLook;
struct SweptModel;

// How heads are coloured, as the settings have it.

/// Of each head and key, so that another limit is found without a look at every weight.
struct HeadsKeys {
    struct Of {
        std::shared_ptr<const HeadsResult> result;
        HeadShow show = HeadShow::weights;
        bool operator==(const Of&) const = default;
    } of;
    std::vector<std::vector<double>> means, largest;  // of the weights; of what is shown
};

/// Of all heads, as the settings have them: found once after the action that changes one of them.
struct HeadsShown {
    struct Of {
        std::shared_ptr<const HeadsResult> result;
        HeadShow show = HeadShow::weights;
        SinkClip clip = SinkClip::none;
        double limit = 0.0;
        bool operator==(const Of&) const = default;
    } of;
    std::shared_ptr<const HeadsKeys> keys;
    std::vector<ClippedKeys> clipped;  // of each of the heads
    std::vector<double>
        largest;  // of each, the size of its finite numbers at keys that are not clipped
    double largest_of_all = 0.0;
};
/// Brings state.heads.shown up to date.
void follow_shown(AppState& state);

/// The matrices that stand large where they are too long for cells: found once, as HeadsShown is.
struct HeadsMaps {
    struct Of {
        std::shared_ptr<const HeadsShown> shown;
        bool own_range = false;
        ColorCurve curve = ColorCurve::root;
        std::vector<HeadPlace> places;
        bool together = false;  // their mean
        bool operator==(const Of&) const = default;
    } of;
    MapCellsSet cells;  // empty: they are grids, or not defined
};

/// QK or OV of a head over tokens, where it is too long for cells: found once, as HeadsShown is.
struct CircuitMap {
    struct Of {
        std::shared_ptr<const SweptModel> circuit;
        CircuitShow show = CircuitShow::qk;
        bool operator==(const Of&) const = default;
    } of;
    MapCellsPtr cells;  // null: it is a grid, or not there
};
/// Brings state.heads.circuit_map up to date.
void follow_circuit(AppState& state);

/// How one head is coloured.
struct HeadColors {
    ColorRange range;
    ClippedKeys clipped;
    bool is_clipped(Index key) const { return !clipped.empty() && clipped[key] != 0; }
};
HeadColors head_colors(const HeadsLook& look, HeadPlace place, const ColorLook& colors);
/// Number of distinct keys that are clipped in some head.
Index clipped_keys(const HeadsShown& shown);

}  // namespace attn::view
