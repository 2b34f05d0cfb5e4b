#pragma once

#include <string>

#include "app/view/actions.h"

namespace attn::view {

// What apply() dispatches to, by group; each overload carries out one action.

// apply_look.cpp: moving about
void carry_out(AppState& state, const SetWorkspace& action);
void carry_out(AppState& state, const GoToStage& action);
void carry_out(AppState& state, const StepBy& action);
void carry_out(AppState& state, const GoToEnd& action);
void carry_out(AppState& state, const TogglePlay& action);
void carry_out(AppState& state, const ShowHead& action);
void carry_out(AppState& state, const SelectCell& action);
void carry_out(AppState& state, const MoveSelection& action);
void carry_out(AppState& state, const ClearSelection& action);
void carry_out(AppState& state, const HoverCell& action);
void carry_out(AppState& state, const ShowGradients& action);
void carry_out(AppState& state, const CopyArithmetic& action);
void carry_out(AppState& state, const Tick& action);

// apply_model.cpp: the toy model
void carry_out(AppState& state, const LoadPreset& action);
void carry_out(AppState& state, const DraftSentence& action);
void carry_out(AppState& state, const SetSentence& action);
void carry_out(AppState& state, const SetModelWidth& action);
void carry_out(AppState& state, const SetKeyWidth& action);
void carry_out(AppState& state, const SetHeads& action);
void carry_out(AppState& state, const SetScaling& action);
void carry_out(AppState& state, const SetTemperature& action);
void carry_out(AppState& state, const SetCausal& action);
void carry_out(AppState& state, const SetSeed& action);
void carry_out(AppState& state, const SetBackend& action);
void carry_out(AppState& state, const TraceReady& action);

// apply_cell.cpp: one number of X or of a W
void carry_out(AppState& state, const BeginCellEdit& action);
void carry_out(AppState& state, const DraftCell& action);
void carry_out(AppState& state, const CommitCellEdit& action);
void carry_out(AppState& state, const CancelCellEdit& action);
void carry_out(AppState& state, const SetCell& action);

// apply_saturation.cpp
void carry_out(AppState& state, const SetSaturationModel& action);
void carry_out(AppState& state, const SetSaturationWidth& action);
void carry_out(AppState& state, const SetSaturationScaling& action);
void carry_out(AppState& state, const SetSaturationKeys& action);
void carry_out(AppState& state, const SetSaturationSeed& action);
void carry_out(AppState& state, const Redraw& action);
void carry_out(AppState& state, const SweepReady& action);

// apply_large.cpp: the map of a large matrix
void carry_out(AppState& state, const DraftPlanted& action);
void carry_out(AppState& state, const OpenPlanted& action);
void carry_out(AppState& state, const OpenMapFile& action);
void carry_out(AppState& state, const MapInputReady& action);
void carry_out(AppState& state, const MapReady& action);
void carry_out(AppState& state, const MapCellReady& action);
void carry_out(AppState& state, const MachineProbed& action);
void carry_out(AppState& state, const SetMapCanvas& action);
void carry_out(AppState& state, const SetMapCamera& action);
void carry_out(AppState& state, const ZoomMap& action);
void carry_out(AppState& state, const PanMap& action);
void carry_out(AppState& state, const FitMap& action);
void carry_out(AppState& state, const ShowGoTo& action);
void carry_out(AppState& state, const DraftGoTo& action);
void carry_out(AppState& state, const GoToCell& action);
void carry_out(AppState& state, const GoToNeedle& action);
void carry_out(AppState& state, const SelectMapCell& action);
void carry_out(AppState& state, const HoverMapCell& action);
void carry_out(AppState& state, const SetMapColors& action);
void carry_out(AppState& state, const ShowMapHead& action);
void carry_out(AppState& state, const SetFullPass& action);
void carry_out(AppState& state, const SearchMap& action);

// apply_window.cpp
void carry_out(AppState& state, const EndGesture& action);
void carry_out(AppState& state, const Undo& action);
void carry_out(AppState& state, const Redo& action);
void carry_out(AppState& state, const SetTheme& action);
void carry_out(AppState& state, const SetUiScale& action);
void carry_out(AppState& state, const SetReducedMotion& action);
void carry_out(AppState& state, const ShowHelp& action);
void carry_out(AppState& state, const ShowPalette& action);
void carry_out(AppState& state, const SetPaletteQuery& action);
void carry_out(AppState& state, const MovePalette& action);
void carry_out(AppState& state, const RunPaletteRow& action);
void carry_out(AppState& state, const Notify& action);
void carry_out(AppState& state, const TakeScreenshot& action);
void carry_out(AppState& state, const SaveSession& action);
void carry_out(AppState& state, const Quit& action);

}  // namespace attn::view
