#pragma once

#include <memory>
#include <optional>

#include "app/common/map/cells.h"
#include "app/common/slots.h"
#include "app/workspaces/kinds/controls.h"
#include "core/large/cell.h"

namespace attn::view {

struct KindsResult;

/// How long both sides take on this machine: medians of some runs.
struct KindsTimes {
    std::shared_ptr<const KindsResult> result;
    double a_ms = 0.0, b_ms = 0.0;  // 0: not measured
    int a_runs = 0, b_runs = 0;
};

/// What of the Kinds workspace is looked at.
struct KindsLook {
    std::optional<large::Cell> selected;  // query and key; none: the pair that differs most
    bool online = false;                  // the online softmax in place of the comparison
    Index taken = 0;                      // chunks that it has gone through
    bool playing = false;
    // of the moment
    double clock_s = 0.0;                       // since the last step of playing
    std::shared_ptr<const KindsResult> result;  // see follow_kinds(); null: not shown yet
    MapCellsSet maps;                           // of it, where they are too long for cells
    bool measures = false;                      // times are asked for
    std::shared_ptr<const KindsTimes> times;    // from a job; null: none yet
};

void describe(Visitor& visit, KindsLook& look);

inline constexpr Controls<KindsControls> kinds_controls;
inline constexpr Look<KindsLook> kinds_look;

}  // namespace attn::view
