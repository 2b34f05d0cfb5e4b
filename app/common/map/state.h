#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/common/names.h"
#include "app/common/slots.h"
#include "core/large/cell.h"
#include "core/large/map_choices.h"

namespace attn::large {
struct MapInput;
struct MapSnapshot;
}  // namespace attn::large

namespace attn::view {

struct Document;
struct MapCell;

/// Rows and columns of the matrix; both 0 while there is none.
struct MapSize {
    Index rows = 0;
    Index columns = 0;
    bool operator==(const MapSize&) const = default;
};

/// What is looked at: the cell in the middle and how many cells a design unit stands for (less than 1: a cell is many
/// units). In terms of the matrix alone: what a canvas of some size makes of it is shown_camera().
struct MapCamera {
    double row = 0.0;
    double column = 0.0;
    double cells_per_unit = 1.0;
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

/// What the map draws.
enum class MapPictureOf : std::uint8_t { weights, scores };
template <>
inline constexpr std::string_view kNamesOf<MapPictureOf>[] = {"weights", "scores"};

/// What the map is of. own: of the document, weights or scores as chosen. Else the stage that it stands for, made of
/// what that stage has: `scores` has no factor, no bias and no mask, `scaled` no bias and no mask, `biased` no mask;
/// `weights` are those before dropout.
enum class MapForm : std::uint8_t { own, scores, scaled, biased, masked, weights };

inline constexpr std::string_view kPoolingNames[] = {"mean", "max", "log_mean"};
void describe(Visitor& visit, large::Search& search);
void describe(Visitor& visit, large::TopChoice& top);
void describe(Visitor& visit, MapCamera& camera);
void describe(Visitor& visit, MapColors& colors);

/// A movement of the camera from where it was to MapLook::camera.
struct MapFlight {
    MapCamera from;
    double seconds = 1.0, left_s = 1.0;
};

/// What was measured of this machine, for a roofline: all threads; 0: not yet.
struct MapMachine {
    bool probes = false;  // it is to be measured before the first map
    double peak_gflops = 0.0;
    double stream_gbytes = 0.0;  // per second
};

/// What the one map looks at, whichever workspace shows it. Not undone: nothing of it is a document.
struct MapLook {
    MapCamera camera;
    bool fitted = true;  // the whole matrix in view, whatever `camera` is
    MapPictureOf picture = MapPictureOf::weights;
    MapColors colors;
    large::TopChoice top;  // which of the strongest cells are listed
    /// The exact overview is requested; false: paused. nullopt: while it is quick, see wants_full_pass().
    std::optional<bool> full_pass;
    std::optional<large::Cell> selected;
    std::optional<large::Search> search;
    bool go_to_open = false;  // the field "go to" has the keyboard
    std::string go_to_draft;

    // of the moment: in no session and no journal
    MapSize size;  // of the present document's matrix: see clamp_map()

    // of the moment: in no session and no journal
    MapForm form = MapForm::own;  // see show_form()
    bool own_shown = false;       // a workspace shows it under `own`
    MapCanvas canvas;
    double moving_s = 0.0;  // > 0: the person pans or zooms; counts down with Tick
    bool ticks = false;     // there is a clock: what moves may take time
    std::optional<MapFlight> flight;
    std::optional<large::Cell> hovered;

    // from jobs
    std::shared_ptr<const Document> mapped;  // what `input` and `fault` are of
    MapForm mapped_form = MapForm::own;      // and under which of its forms: see source_form()
    std::shared_ptr<const large::MapInput> operands;  // the last of `mapped`: serves every form
    std::shared_ptr<const large::MapInput> input;     // null: being made
    std::uint64_t inputs = 0;                         // how many there were: parts their pictures
    std::shared_ptr<const large::MapSnapshot> snapshot;  // null before the first
    std::shared_ptr<const MapCell> inspected;            // the last that was selected
    std::string fault;                                   // why `mapped` cannot be shown; "": it can
    MapMachine machine;
};

/// All that a session keeps of it.
void describe(Visitor& visit, MapLook& look);
inline constexpr Look<MapLook> map_look;

/// The head that all workspaces show, as the map counts it.
large::Head shown_head(const AppState& state);
/// A workspace shows it.
bool is_map_shown(const AppState& state);

}  // namespace attn::view
