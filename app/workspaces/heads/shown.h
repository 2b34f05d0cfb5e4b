#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/common/colormap.h"
#include "app/workspaces/heads/compute.h"

namespace attn::view {

// What is drawn of a head: its weights or one of the others of core/head_views.h, and its colours.

/// The numbers of one head, [Tq,Tk]; `lacks` says why there are none. Moved, never copied: `values` looks at `own`.
struct HeadMatrix {
    HeadMatrix() = default;
    HeadMatrix(HeadMatrix&&) = default;
    HeadMatrix& operator=(HeadMatrix&&) = default;
    HeadMatrix(const HeadMatrix&) = delete;
    HeadMatrix& operator=(const HeadMatrix&) = delete;
    ~HeadMatrix() = default;

    MatrixView<const float> values;
    std::vector<float> own;             // what `values` looks at where they are no weights
    std::vector<std::uint8_t> allowed;  // 1: may attend; empty: every pair, and of rollout
    std::string lacks;
};
HeadMatrix head_matrix(const HeadsResult& result, HeadShow show, HeadPlace place);

/// Of all heads, as the settings have them: found once after the action that changes one of them.
struct HeadsShown {
    std::shared_ptr<const HeadsResult> of;
    HeadShow show = HeadShow::weights;
    SinkClip clip = SinkClip::none;
    double limit = 0.0;
    std::vector<std::vector<std::uint8_t>> clipped;  // keys of each of heads_look(*of); empty: none
    std::vector<double>
        largest;  // of each, the size of its finite numbers at keys that are not clipped
    double largest_of_all = 0.0;
};
/// Brings state.heads.shown up to date.
void follow_shown(AppState& state);

/// How one head is coloured.
struct HeadColors {
    ColorRange range;
    std::vector<std::uint8_t> clipped;  // by key; empty: none
    bool is_clipped(Index key) const {
        return !clipped.empty() && clipped[static_cast<std::size_t>(key)] != 0;
    }
};
HeadColors head_colors(const HeadsLook& look, HeadPlace place);
/// Of a number at a key that is clipped: no colour of the scale, nor masked, nor NaN.
Color clipped_color(ThemeName name);
/// Number of distinct keys that are clipped in some head.
Index clipped_keys(const HeadsShown& shown);

}  // namespace attn::view
