#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "core/large/weight_map.h"

namespace attn::view {

/// Where the matrix of the Large workspace comes from: nothing yet, generated, or a file that `trace`
/// reads.
struct MapFile {
    std::string path;
    bool operator==(const MapFile&) const = default;
};
using MapOrigin = std::variant<std::monostate, large::PlantedSpec, MapFile>;

/// What the canvas shows: the cell in its middle and how many cells a pixel stands for (less than 1:
/// a cell is many pixels).
struct MapCamera {
    double row = 0.0;
    double column = 0.0;
    double cells_per_pixel = 1.0;
    bool operator==(const MapCamera&) const = default;
};

/// Room of the canvas, in pixels; the panel says so (SetMapCanvas).
struct MapCanvas {
    double width = 0.0;
    double height = 0.0;
    double scale = 1.0;  // pixels of one design unit: what text needs grows with it
    bool operator==(const MapCanvas&) const = default;
};

/// How pooled weights become colours.
struct MapColors {
    large::Pooling pooling = large::Pooling::max;
    bool log_scale = true;
    double low_percentile = 1.0;
    double high_percentile = 99.9;
    bool operator==(const MapColors&) const = default;
};

/// The arithmetic of one cell, from the worker.
struct MapCell {
    large::Head head;
    large::Cell cell;
    large::CellArithmetic arithmetic;
};

/// What the Large workspace looks at. Not undone: nothing of it is a document.
struct LargeLook {
    large::PlantedSpec draft;  // what "generate" would make
    MapOrigin origin;
    large::Head head;
    MapCamera camera;
    MapCanvas canvas;
    bool fitted = true;  // follows the canvas: the whole matrix in view
    MapColors colors;
    /// The exact overview is wanted; false: paused. nullopt: while it is quick, see wants_full_pass().
    std::optional<bool> full_pass;
    double moving_s = 0.0;  // > 0: the person pans or zooms; counts down with Tick
    std::optional<large::Cell> selected;
    std::optional<large::Cell> hovered;
    std::optional<large::Search> search;
    bool go_to_open = false;  // the field "go to" has the keyboard
    std::string go_to_draft;
    bool needle_awaited = false;  // GoToNeedle came before the matrix

    std::uint64_t opened = 0;  // how many matrices were: parts their pictures

    // from the worker
    std::shared_ptr<const large::MapInput> input;        // of `origin`; null: being made
    std::shared_ptr<const large::MapSnapshot> snapshot;  // null before the first
    std::shared_ptr<const MapCell> inspected;            // the last that was selected
    std::string fault;                                   // why `origin` cannot be shown; "": it can
    double peak_gflops = 0.0;    // of this machine, all threads; 0: not probed yet
    double stream_gbytes = 0.0;  // per second; 0: not probed yet
};

}  // namespace attn::view
