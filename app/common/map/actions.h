#pragma once

#include <optional>
#include <string>

#include "app/common/action.h"
#include "app/common/keys.h"
#include "app/common/map/state.h"
#include "app/common/set_field.h"

namespace attn::view {

struct CommandAdder;

// The map of a large matrix.

/// What a map of `document` is computed from.
struct MapInputReady {
    std::shared_ptr<const Document> document;
    std::shared_ptr<const large::MapInput> input{};  // null: `fault` says why
    std::string fault{};
    MapForm form = MapForm::weights;  // see source_form()
};
struct MapReady {
    std::shared_ptr<const large::MapInput> input;
    std::shared_ptr<const large::MapSnapshot> snapshot{};
};
struct MapCellReady {
    std::shared_ptr<const large::MapInput> input;
    std::shared_ptr<const MapCell> cell{};
};
struct MachineProbed {
    double peak_gflops = 0.0;
    double stream_gbytes = 0.0;
};
/// The panel's room.
using SetMapCanvas = Put<map_look, &MapLook::canvas>;
/// Zoom, pan, minimap.
struct SetMapCamera {
    MapCamera camera;
    static constexpr auto kJournalNames = journal_names("set_map_camera", "camera");
};
/// The whole matrix.
struct FitMap {
    static constexpr auto kJournalNames = journal_names("fit_map");
};
/// The field "go to" takes the keyboard, or gives it back.
struct ShowGoTo {
    bool on;
    static constexpr auto kJournalNames = journal_names("show_go_to", "on");
};
/// "70001, 5", or "70001" for (70001, 70001); typing.
struct DraftGoTo {
    std::string text;
    static constexpr auto kJournalNames = journal_names("draft_go_to", "text");
};
/// To the cell, close enough to read it, and selects it.
struct GoToCell {
    large::Cell cell;
    static constexpr auto kJournalNames = journal_names("go_to_cell", "cell");
};
inline constexpr double kNeedleSeconds = 5.0;  // of the flight
struct GoToNeedle {
    static constexpr auto kJournalNames = journal_names("go_to_needle");
};
struct SelectMapCell {
    large::Cell cell;
    static constexpr auto kJournalNames = journal_names("select_map_cell", "cell");
};
struct HoverMapCell {
    std::optional<large::Cell> cell;
};
struct SetMapColors {
    MapColors colors;
    static constexpr auto kJournalNames = journal_names("set_map_colors", "colors");
};
/// Weights, or the scaled scores that they come from.
struct SetMapPicture {
    MapPictureOf picture;
    static constexpr auto kJournalNames = journal_names("set_map_picture", "picture");
};
/// Which of the strongest cells are listed.
struct SetTopCells {
    large::TopChoice top;
    static constexpr auto kJournalNames = journal_names("set_top_cells", "top");
};
/// Start or resume; false: pause.
struct SetFullPass {
    bool on;
    static constexpr auto kJournalNames = journal_names("set_full_pass", "on");
};
/// Nullopt: closes the search.
struct SearchMap {
    std::optional<large::Search> search;
    static constexpr auto kJournalNames = journal_names("search_map", "search");
};

using MapActions = ActionList<
    ViewActions<SetMapCamera, FitMap, ShowGoTo, DraftGoTo, GoToCell, GoToNeedle, SelectMapCell,
                SetMapColors, SetMapPicture, SetTopCells, SetFullPass, SearchMap>,
    Answers<MapInputReady, MapReady, MapCellReady, MachineProbed>,
    TransientActions<SetMapCanvas, HoverMapCell>>;
template <ListedIn<MapActions> A>
inline constexpr Meta kMetaOf<A> = MapActions::kMeta<A>;

/// What moves the map to `camera`: FitMap where that shows the whole matrix.
Action moved_map(const MapLook& look, const MapCamera& camera);

// What a workspace that shows the map hooks into its row.

/// The map stands for another stage from now on.
void show_form(AppState& state, MapForm form);
void clamp_map(AppState& state);
void clear_map(AppState& state);
void tick_map(AppState& state, double seconds);
/// A session took the place of `was`, which has what is of this machine.
void keep_machine(AppState& state, const AppState& was);
/// For a picture: nothing moves, and no time is known.
void still_map(AppState& state);

/// Closer, farther, the whole matrix; `whole`: the key of the last.
void add_zoom_commands(const CommandAdder& add, const MapLook& look, Key whole = Key::f);
/// How pooled weights become colours; Key::none: in the palette only.
void add_color_commands(const CommandAdder& add, const MapLook& look, Key pooling, Key scale);
/// What can be done with the map where it stands for a stage.
void add_map_commands(const CommandAdder& add, const AppState& state);

}  // namespace attn::view
