#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/view/state.h"

namespace attn::view {

// Everything a person can do. A panel appends these; apply() carries them out; the journal writes
// them, one JSON line each. An action holds the new value, never a difference, where it can.

// moving about
struct SetWorkspace {
    Workspace workspace;
};
struct GoToStage {
    Stage stage;
};
struct StepBy {
    int steps;
};  // ←/→
struct GoToEnd {
    bool last;
};                     // Home/End
struct TogglePlay {};  // Space
struct ShowHead {
    Index head;
};
struct SelectCell {
    CellRef cell;
};
struct MoveSelection {
    int rows;
    int columns;
};
struct ClearSelection {};
struct HoverCell {
    std::optional<CellRef> cell;
};  // not journaled
struct ShowGradients {
    bool on;
};
enum class CopyAs : std::uint8_t { text, latex, python };
struct CopyArithmetic {  // of the inspected cell: puts it into requests.clipboard
    CopyAs format;
};

// the toy model (undone)
struct LoadPreset {
    std::string key;
};
struct DraftSentence {
    std::string text;
};  // typing; not undone
struct SetSentence {
    std::string text;
};  // Enter
struct SetModelWidth {
    Index d_model;
};
struct SetKeyWidth {
    Index d_k;
};
struct SetHeads {
    Index heads;
};
struct SetScaling {
    bool on;
};
struct SetTemperature {
    double temperature;
};
struct SetCausal {
    bool on;
};
struct SetSeed {
    std::uint64_t seed;
};
struct BeginCellEdit {
    CellRef cell;
};
struct DraftCell {
    std::string text;
};
struct CommitCellEdit {};
struct CancelCellEdit {};
struct SetCell {
    CellRef cell;
    double value;
};
struct EndGesture {};  // the mouse let go of a slider

// saturation (undone)
struct SetSaturationModel {
    SaturationModel model;
};
struct SetSaturationWidth {
    Index d_k;
};
struct SetSaturationScaling {
    bool on;
};
struct SetSaturationKeys {
    Index keys;
};
struct SetSaturationSeed {
    std::uint64_t seed;
};
struct Redraw {};
struct TraceReady {  // from the worker; not journaled
    std::string backend;
    std::shared_ptr<const Document> document;  // null: only `unavailable` was asked
    std::shared_ptr<const Trace> trace;        // null: `failure` says why
    double elapsed_ms;
    std::string failure;
    std::string unavailable;  // why the backend cannot run here at all; "": it can
};
struct SweepReady {  // from the worker; not journaled
    SaturationSettings settings;
    std::shared_ptr<const std::vector<SaturationPoint>> sweep;
    double elapsed_ms;
};

// the map of a large matrix
struct DraftPlanted {  // the generator's settings; not made yet
    large::PlantedSpec spec;
};
struct OpenPlanted {
    large::PlantedSpec spec;
};
struct OpenMapFile {
    std::string path;
};
struct MapInputReady {  // from the worker; not journaled
    MapOrigin origin;
    std::shared_ptr<const large::MapInput> input;  // null: `fault` says why
    std::string fault;
};
struct MapReady {  // from the worker; not journaled
    MapOrigin origin;
    std::shared_ptr<const large::MapSnapshot> snapshot;
};
struct MapCellReady {  // from the worker; not journaled
    MapOrigin origin;
    std::shared_ptr<const MapCell> cell;
};
struct MachineProbed {  // from the worker; not journaled
    double peak_gflops;
    double stream_gbytes;
};
struct SetMapCanvas {  // the panel's room; not journaled
    MapCanvas canvas;
};
struct SetMapCamera {  // zoom, pan, minimap: clamped to the matrix
    MapCamera camera;
};
struct ZoomMap {  // about the middle; > 1: closer
    double factor;
};
struct PanMap {  // arrow keys, in canvas heights and widths
    double rows;
    double columns;
};
struct FitMap {};  // the whole matrix
struct ShowGoTo {  // the field "go to" takes the keyboard, or gives it back
    bool on;
};
struct DraftGoTo {  // "70001, 5", or "70001" for (70001, 70001); typing
    std::string text;
};
struct GoToCell {  // to the cell, close enough to read it, and selects it
    large::Cell cell;
};
struct GoToNeedle {};
struct SelectMapCell {
    large::Cell cell;
};
struct HoverMapCell {
    std::optional<large::Cell> cell;
};  // not journaled
struct SetMapColors {
    MapColors colors;
};
struct ShowMapHead {
    large::Head head;
};
struct SetFullPass {  // start or go on; false: pause
    bool on;
};
struct SearchMap {  // nullopt: closes the search
    std::optional<large::Search> search;
};

// the window
struct Undo {};
struct Redo {};
struct SetTheme {
    ThemeName theme;
};
struct SetUiScale {
    double scale;
};
struct SetReducedMotion {
    bool on;
};
struct SetBackend {
    std::string name;
};
struct ShowHelp {
    bool on;
};
struct ShowPalette {
    bool on;
};
struct SetPaletteQuery {
    std::string query;
};
struct MovePalette {
    int rows;
};
struct RunPaletteRow {};
struct Notify {
    Message message;
};  // "Copied as LaTeX", an error from outside
struct TakeScreenshot {};
struct SaveSession {};
struct Quit {};
struct Tick {
    double seconds;
};  // not journaled; see due_actions()

using Action = std::variant<
    SetWorkspace, GoToStage, StepBy, GoToEnd, TogglePlay, ShowHead, SelectCell, MoveSelection,
    ClearSelection, HoverCell, ShowGradients, CopyArithmetic, LoadPreset, DraftSentence,
    SetSentence, SetModelWidth, SetKeyWidth, SetHeads, SetScaling, SetTemperature, SetCausal,
    SetSeed, BeginCellEdit, DraftCell, CommitCellEdit, CancelCellEdit, SetCell, EndGesture,
    SetSaturationModel, SetSaturationWidth, SetSaturationScaling, SetSaturationKeys,
    SetSaturationSeed, Redraw, SweepReady, DraftPlanted, OpenPlanted, OpenMapFile, MapInputReady,
    MapReady, MapCellReady, MachineProbed, SetMapCanvas, SetMapCamera, ZoomMap, PanMap, FitMap,
    ShowGoTo, DraftGoTo, GoToCell, GoToNeedle, SelectMapCell, HoverMapCell, SetMapColors,
    ShowMapHead, SetFullPass, SearchMap, Undo, Redo, SetTheme, SetUiScale, SetReducedMotion,
    SetBackend, TraceReady, ShowHelp, ShowPalette, SetPaletteQuery, MovePalette, RunPaletteRow,
    Notify, TakeScreenshot, SaveSession, Quit, Tick>;
using Actions = std::vector<Action>;

/// The only mutator. An action that cannot be carried out leaves the last good state and puts one
/// clear sentence into state.message.
void apply(AppState& state, const Action& action);

/// What the clock has made due (the next step while playing): ordinary, journaled actions, so that a
/// replay needs no clock.
Actions due_actions(const AppState& state);

/// One JSON line. nullopt for actions that are not journaled.
std::optional<std::string> to_journal(const Action& action);
/// An error names the line's fault: the unknown action, the missing or wrong field.
Result<Action> from_journal(std::string_view line);

}  // namespace attn::view
