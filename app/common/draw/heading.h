#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/draw/workspace.h"

namespace attn::ui {

/// Above the canvas: one sentence and one muted one, in the same place and of the same size in every
/// workspace. A sentence that does not fit on one line takes two; a second sentence gives way to the muted line. The rest is
/// behind ⓘ, and where there is no muted line pointing at the sentence says all.
struct Heading {
    std::string headline;
    std::string muted = {};
    std::vector<std::string> notes = {};    // as much of them as fits there, the rest behind ⓘ
    std::string why = {};                   // behind it in any case
    bool warns = false;                     // it tells of what goes wrong
    bool stale = false;                     // it is of what was before
    std::string tex = {};                   // a formula at the right end, where it has room
    std::vector<std::string> reasons = {};  // of the headline: behind ⓘ, before the rest
};

/// The texts behind ⓘ.
struct Info {
    std::vector<std::string> reasons;  // a paragraph each
    std::string legend;                // beneath them, muted
    bool empty() const { return reasons.empty() && legend.empty(); }
};
float info_sign_width(const Frame& frame);
/// ⓘ as an item whose text begins at `at`. True while it is open: from a click, or Enter, until a click elsewhere or Escape.
bool draw_info_sign(ImVec2 at, const Frame& frame);
/// From the top of `space`. Returns where it ends: the canvas begins there.
float draw_info(const Info& info, const Box& space, const Frame& frame);

// How high windows are, in design units: below the first the canvas has one part at a time and no muted line; below the
// second bar and headline are small too.
inline constexpr float kLowWindow = 720.0F, kLowestWindow = 560.0F;
inline bool is_lower_than(float height, const Frame& frame) {
    return ImGui::GetIO().DisplaySize.y < frame.px(height);
}

/// Of the row of controls.
float bar_height(const Frame& frame);
/// The room that it takes, with what stays empty above it.
float heading_height(const Frame& frame);
/// With a second line of the sentence, where it has one.
float heading_height(const Heading& heading, float width, const Frame& frame);
/// From the top of `box`. Returns what ⓘ shows while it is open, to be drawn beneath by draw_info().
std::optional<Info> draw_heading(const Heading& heading, const Box& box, const Frame& frame);

}  // namespace attn::ui
