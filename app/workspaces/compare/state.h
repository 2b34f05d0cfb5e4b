#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/slots.h"
#include "core/forward.h"
#include "core/large/cell.h"
#include "core/stage.h"

namespace attn::view {

struct Document;

/// A moment that was pinned: what was open, what was computed of it, and the head that was looked at. Immutable.
struct ComparePin {
    std::shared_ptr<const Document> document;
    std::shared_ptr<const Trace> trace;
    std::string backend;  // that was asked for the trace
    Index batch = 0;
    Index head = 0;
    std::string text;  // "The cat sat down · scaling on · head 0"
};
/// As many as there are digits to flip between them.
inline constexpr std::size_t kMostPins = 9;

/// What the Compare workspace looks at: a pinned baseline A beside the present B. Not undone; pins stay when another
/// document is opened, and a session holds its own.
struct CompareLook {
    std::vector<ComparePin> pins;
    std::size_t baseline = 0;  // of these
    Stage stage = Stage::weights;
    large::Cell cell;  // row and column of the stage, in A and in B
    std::optional<Index>
        blink;            // 0: A alone, 1: B alone in the same box; nullopt: beside each other
    double target = 0.5;  // the weight that the selected pair is to have

    // of the moment: in no session and no journal
    std::optional<large::Cell> hovered;
    bool seeks_change = false;          // the cell of the largest change is to be selected
    std::optional<ComparePin> opening;  // the first state in Compare: the baseline without pins
    std::optional<ComparePin> other_scaling;  // until that changes: it with scaling switched

    /// The baseline; nullptr: nothing is open.
    const ComparePin* shown_pin() const {
        if (!pins.empty()) return &pins[baseline];
        if (other_scaling) return &*other_scaling;
        return opening ? &*opening : nullptr;
    }
};

void describe(Visitor& visit, CompareLook& look);
inline constexpr Look<CompareLook> compare_look;

}  // namespace attn::view
