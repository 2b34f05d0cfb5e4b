#pragma once

#include <optional>
#include <string>

#include "app/common/action.h"
#include "app/common/map/state.h"

namespace attn::view {

// The map of a large matrix.

/// What a map of `document` is computed from.
struct MapInputReady {
    std::shared_ptr<const Document> document;
    std::shared_ptr<const large::MapInput> input{};  // null: `fault` says why
    std::string fault{};
    MapForm form = MapForm::weights;  // see source_form()
    static constexpr Meta kMeta{"", Kind::answer};
    friend void carry_out(AppState& state, const MapInputReady& action);
};
struct MapReady {
    std::shared_ptr<const large::MapInput> input;
    std::shared_ptr<const large::MapSnapshot> snapshot{};
    static constexpr Meta kMeta{"", Kind::answer};
    friend void carry_out(AppState& state, const MapReady& action);
};
struct MapCellReady {
    std::shared_ptr<const large::MapInput> input;
    std::shared_ptr<const MapCell> cell{};
    static constexpr Meta kMeta{"", Kind::answer};
    friend void carry_out(AppState& state, const MapCellReady& action);
};
struct MachineProbed {
    double peak_gflops = 0.0;
    double stream_gbytes = 0.0;
    static constexpr Meta kMeta{"", Kind::answer};
    friend void carry_out(AppState& state, const MachineProbed& action);
};
/// The panel's room.
struct SetMapCanvas {
    MapCanvas canvas;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const SetMapCanvas& action);
};
/// Zoom, pan, minimap.
struct SetMapCamera {
    MapCamera camera;
    static constexpr Meta kMeta{"set_map_camera", Kind::plain, fields<&SetMapCamera::camera>};
    friend void carry_out(AppState& state, const SetMapCamera& action);
};
/// The whole matrix.
struct FitMap {
    static constexpr Meta kMeta{"fit_map", Kind::plain};
    friend void carry_out(AppState& state, const FitMap& action);
};
/// The field "go to" takes the keyboard, or gives it back.
struct ShowGoTo {
    bool on;
    static constexpr Meta kMeta{"show_go_to", Kind::plain, fields<&ShowGoTo::on>};
    friend void carry_out(AppState& state, const ShowGoTo& action);
};
/// "70001, 5", or "70001" for (70001, 70001); typing.
struct DraftGoTo {
    std::string text;
    static constexpr Meta kMeta{"draft_go_to", Kind::plain, fields<&DraftGoTo::text>};
    friend void carry_out(AppState& state, const DraftGoTo& action);
};
/// To the cell, close enough to read it, and selects it.
struct GoToCell {
    large::Cell cell;
    static constexpr Meta kMeta{"go_to_cell", Kind::plain, fields<&GoToCell::cell>};
    friend void carry_out(AppState& state, const GoToCell& action);
};
struct GoToNeedle {
    static constexpr Meta kMeta{"go_to_needle", Kind::plain};
    friend void carry_out(AppState& state, const GoToNeedle& action);
};
struct SelectMapCell {
    large::Cell cell;
    static constexpr Meta kMeta{"select_map_cell", Kind::plain, fields<&SelectMapCell::cell>};
    friend void carry_out(AppState& state, const SelectMapCell& action);
};
struct HoverMapCell {
    std::optional<large::Cell> cell;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const HoverMapCell& action);
};
struct SetMapColors {
    MapColors colors;
    static constexpr Meta kMeta{"set_map_colors", Kind::plain, fields<&SetMapColors::colors>};
    friend void carry_out(AppState& state, const SetMapColors& action);
};
/// Weights, or the scaled scores that they come from.
struct SetMapPicture {
    MapPictureOf picture;
    static constexpr Meta kMeta{"set_map_picture", Kind::plain};
    friend void describe(Visitor& visit, SetMapPicture& action) {
        visit("picture", action.picture, kMapPictureNames);
    }
    friend void carry_out(AppState& state, const SetMapPicture& action);
};
/// Which of the strongest cells are listed.
struct SetTopCells {
    large::TopChoice top;
    static constexpr Meta kMeta{"set_top_cells", Kind::plain, fields<&SetTopCells::top>};
    friend void carry_out(AppState& state, const SetTopCells& action);
};
/// Start or resume; false: pause.
struct SetFullPass {
    bool on;
    static constexpr Meta kMeta{"set_full_pass", Kind::plain, fields<&SetFullPass::on>};
    friend void carry_out(AppState& state, const SetFullPass& action);
};
/// Nullopt: closes the search.
struct SearchMap {
    std::optional<large::Search> search;
    static constexpr Meta kMeta{"search_map", Kind::plain, fields<&SearchMap::search>};
    friend void carry_out(AppState& state, const SearchMap& action);
};

using MapActions =
    ActionList<MapInputReady, MapReady, MapCellReady, MachineProbed, SetMapCanvas, SetMapCamera,
               FitMap, ShowGoTo, DraftGoTo, GoToCell, GoToNeedle, SelectMapCell, HoverMapCell,
               SetMapColors, SetMapPicture, SetTopCells, SetFullPass, SearchMap>;

/// What moves the map to `camera`: FitMap where that shows the whole matrix.
Action moved_map(const MapLook& look, const MapCamera& camera);

// What a workspace that shows the map hooks into its row.

/// The map stands for another stage from now on.
void show_form(AppState& state, MapForm form);
void settle_map(AppState& state);
void forget_map(AppState& state);
void tick_map(AppState& state, double seconds);
/// A session took the place of `was`, which has what is of this machine.
void keep_machine(AppState& state, const AppState& was);
/// For a picture: nothing moves, and no time is known.
void still_map(AppState& state);

}  // namespace attn::view
