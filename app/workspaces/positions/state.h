#pragma once

#include <memory>

#include "app/common/state.h"
#include "core/positions.h"

namespace attn::view {

inline constexpr std::string_view kPositionKindNames[] = {"sinusoidal", "learned", "RoPE", "ALiBi"};

inline constexpr double kMostPositionBase = 1e7;

/// Settings of the Positions workspace; undone with the document.
struct PositionsControls {
    PositionKind kind = PositionKind::rotary;  // the one that is told of
    PositionSettings settings = {};
    Index distance = 16;  // Δ = |j − i| of the numbers
    bool log = false;     // the axis of the distance
    bool operator==(const PositionsControls&) const = default;
};

inline void describe(Visitor& visit, PositionsControls& controls) {
    PositionSettings& of = controls.settings;
    visit("kind", controls.kind, kPositionKindNames,
          {.words = "positions", .tip = "Which of the four is large, and told of. Keys: ↑ ↓."});
    visit("d_k", of.d_k,
          {.words = "d_k",
           .tip = "Width of q and k, even: two dimensions turn together.",
           .low = 2,
           .high = 256});
    visit("base", of.base,
          {.words = "base",
           .tip = "Pair c turns by base^(−2c/d_k) radians a position: RoPE and sinusoidal.",
           .low = 1.0,
           .high = kMostPositionBase});
    visit("heads", of.heads,
          {.words = "heads",
           .tip = "ALiBi: slopes are powers of 2^(−8/heads).",
           .low = 1,
           .high = 128});
    visit("head", of.head,
          {.words = "head", .tip = "ALiBi: whose slope is drawn. Key: H.", .low = 0, .high = 127});
    visit(
        "farthest", of.farthest,
        {.words = "farthest", .tip = "The largest distance that is drawn.", .low = 1, .high = 512});
    visit("distance", controls.distance,
          {.words = "distance",
           .tip = "|j − i| of the numbers. Keys: ← →, Home, End.",
           .low = 0,
           .high = 512});
    visit("seed", of.seed,
          {.words = "seed", .tip = "Of the content x and of learned positions. Key: R."});
    visit("log", controls.log,
          {.words = "log axis",
           .tip = "The distance on a log axis, from 1 on: near tokens have more room."});
    if (!visit.reads()) return;
    if (!(of.base >= 1.0)) visit.complain(": base is no number");
    if (of.d_k % 2 != 0) visit.complain(": d_k is even");
    if (of.head >= of.heads) visit.complain(": there is no such head");
    if (controls.distance > of.farthest) visit.complain(": the distance is beyond the farthest");
}

/// The scores of the settings that were shown last.
struct PositionsCurves {
    std::shared_ptr<const PositionScores> scores;  // null: none yet
};

inline constexpr Controls<PositionsControls> positions_controls;
inline constexpr Look<PositionsCurves> positions_curves;

}  // namespace attn::view
