#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/inspector.h"
#include "app/common/map/state.h"
#include "app/common/map/view.h"
#include "core/large/planted_spec.h"

namespace attn::view {

/// Roofline: both axes logarithmic.
struct RooflineView {
    bool ready = false;
    double peak = 0.0;       // GFLOP/s
    double bandwidth = 0.0;  // GB/s
    struct Point {
        std::string label;       // "exact pass"
        double intensity = 0.0;  // FLOP/byte of memory traffic
        double gflops = 0.0;
    };
    std::vector<Point> points;
    std::string text;     // "192 of 236 GFLOP/s: 81 % of the peak"
    std::string tooltip;  // what is counted
};

struct StrongCell {
    large::Cell cell;
    std::string text;  // "70,001 → 5"
    std::string weight;
    double share = 0.0;  // of the largest of its list
};

/// The workspace as drawn: the map, and what stands around it.
struct LargeView : MapView {
    RooflineView roofline;
    // side panel
    std::vector<std::string> not_finite;   // a sentence each
    std::optional<large::Cell> first_nan;  // where to go and look
    std::vector<std::string> picture_names;
    int picture = 0;
    std::string picture_tip;  // which scores
    std::vector<std::string> pooling_names;
    int pooling = 0;
    bool log_scale = true;
    bool sentence = false;  // each cell is seen: no pooling, range nor log scale to choose
    std::vector<std::string> percentile_names;  // "99 %", "99.9 %", "all"
    std::vector<MapColors> percentile_colors;   // what choosing each of them sets
    int percentile = 0;
    std::vector<std::string> size_names;  // of the generator: "4,096" … "1,048,576"
    std::vector<Index> sizes;             // tokens of each
    int size = 0;                         // of `draft`
    large::PlantedSpec draft;
    std::vector<std::string> heads;      // "head 1", …; one: nothing to choose
    std::vector<large::Head> head_refs;  // of each
    int head = 0;
    bool has_needle = false;
    std::string needle_reason;  // why there is no needle to jump to
    bool go_to_open = false;    // the field has the keyboard
    std::string go_to_draft;
    std::string go_to_fault;           // what is wrong with the draft; "" while it is well
    std::optional<large::Cell> go_to;  // where the draft leads
    std::string point;  // the largest weight in view; "" if unknown or if two are as large
    std::vector<StrongCell> top;
    std::string top_title;  // "strongest cells in view", and why there are none
    std::vector<StrongCell> found;
    std::string found_title;  // "Queries that attend to key 5: Σ of the column = 40,113.2"
    InspectorView inspector;  // of the selected cell
    std::string bottom_line;
};

LargeView build_large_view(const AppState& state);

/// See WorkspaceInfo::reasons.
std::vector<std::string> large_reasons(const AppState& state);

}  // namespace attn::view
