#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "app/common/map/state.h"
#include "app/common/request.h"
#include "core/large/weight_map.h"

namespace attn::view {
struct Document;
}  // namespace attn::view

namespace attn::large {
struct MapInput;
}  // namespace attn::large

namespace attn {
struct AttentionSpec;
}  // namespace attn

namespace attn::view {

// What the map has computed by jobs: see request.h. A map is in view, or was and may be again.

/// This machine's peak and bandwidth, before any map is computed beside the measurement.
struct ProbeRequest {
    bool operator==(const ProbeRequest&) const = default;
};
std::optional<ProbeRequest> requested_probe(const AppState& state);
Action run(const ProbeRequest& request, const RunControl& control);

/// The form that decides the numbers of a map: those that give the same ones are one. `own` stays apart only where it
/// refuses what the map of a stage leaves out, dropout.
MapForm source_form(MapForm form, const AttentionSpec& spec);

/// Queries and keys of a document, projected where it has X.
struct MapInputRequest {
    std::shared_ptr<const Document> document;
    MapForm form = MapForm::weights;
    std::shared_ptr<const large::MapInput> operands;  // of another form of it; null: none yet
    bool operator==(const MapInputRequest&) const = default;
};
std::optional<MapInputRequest> requested_map_input(const AppState& state);
Action run(const MapInputRequest& request, const RunControl& control);

/// The arithmetic of the selected cell.
struct MapCellRequest {
    std::shared_ptr<const large::MapInput> input;
    large::Head head;
    large::Cell cell;
    bool operator==(const MapCellRequest&) const = default;
};
std::optional<MapCellRequest> requested_map_cell(const AppState& state);
Action run(const MapCellRequest& request, const RunControl& control);

/// What is in view: answered again and again while it becomes sharper.
struct MapRequest {
    std::shared_ptr<const large::MapInput> input;
    large::ViewRequest view;
    bool operator==(const MapRequest&) const = default;
};
std::optional<MapRequest> requested_map(const AppState& state);
std::unique_ptr<Job> make_map_job(std::function<void()> wake);

}  // namespace attn::view
