#pragma once

#include <algorithm>
#include <memory>

#include "app/common/slots.h"
#include "core/positions.h"

namespace attn::view {

inline constexpr std::string_view kPositionKindNames[] = {"sinusoidal", "learned", "RoPE", "ALiBi"};

inline constexpr double kMostPositionBase = 1e7;

/// Settings of the Positions workspace; undone with the document.
struct PositionsControls {
    PositionKind kind = PositionKind::rotary;  // shown in detail
    PositionSettings settings = {};
    Index distance = 16;  // Δ = |j − i| of the numbers
    bool log = false;     // the axis of the distance
    bool operator==(const PositionsControls&) const = default;
};

inline void describe(Visitor& visit, PositionsControls& controls) {
    PositionSettings& of = controls.settings;
    visit("kind", controls.kind, kPositionKindNames,
          {.text = "positions", .tip = "The positional encoding to show in detail. Keys: ↑ ↓."});
    visit("d_k", of.d_k,
          {.text = "d_k",
           .tip = "Width of q and k, even: dimensions rotate in pairs.",
           .low = 2,
           .high = 256});
    visit("base", of.base,
          {.text = "base",
           .tip = "Pair c rotates by base^(−2c/d_k) radians per position: RoPE and sinusoidal.",
           .low = 1.0,
           .high = kMostPositionBase});
    visit("heads", of.heads,
          {.text = "heads",
           .tip = "ALiBi: slopes fall by 2^(−8/heads) from head to head, for 2, 4, 8, … heads.",
           .low = 1,
           .high = 128});
    visit("head", of.head,
          {.text = "head",
           .tip = "ALiBi: the head whose slope is drawn. Key: H.",
           .low = 0,
           .high = 127});
    visit("farthest", of.farthest,
          {.text = "farthest", .tip = "The largest distance in the plots.", .low = 1, .high = 512});
    visit("distance", controls.distance,
          {.text = "distance",
           .tip = "|j − i| between query and key. Keys: ← →, Home, End.",
           .low = 0,
           .high = 512});
    visit("seed", of.seed,
          {.text = "seed", .tip = "Seed of the content x and of the learned positions. Key: R."});
    visit("log", controls.log,
          {.text = "log axis",
           .tip = "Show the distance on a log axis, from 1: near tokens get more space."});
    if (!visit.reads()) return;
    if (!(of.base >= 1.0)) visit.complain(": base is not a number");
    if (of.d_k % 2 != 0) visit.complain(": d_k is odd; expected an even number");
    of.head = std::min(of.head, of.heads - 1);
    controls.distance = std::min(controls.distance, of.farthest);
}

/// The scores of the settings that were shown last.
struct PositionsCurves {
    std::shared_ptr<const PositionScores> scores;  // null: none yet
};

inline constexpr Controls<PositionsControls> positions_controls;
inline constexpr Look<PositionsCurves> positions_curves;

}  // namespace attn::view
