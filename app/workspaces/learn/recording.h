#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/workspaces/learn/state.h"
#include "core/result.h"

namespace attn::view {

/// The run that plays where nothing was trained: pronouns, with and without scaling, as attnscope train --record wrote it.
struct LearnRecording {
    std::string_view experiment;  // see learn_experiments()
    LearnControls controls;
    Index steps = 0;
    Index every = 1;                 // steps between probes
    Index word = 0;                  // position of the word whose weights it has
    Index answer = 0;                // position of the word's answer
    std::array<LearnSide, 2> sides;  // whole; no probe, no moments, no matrices
    std::array<std::vector<std::shared_ptr<const train::Probe>>, 2> probes;
    std::vector<std::string> vocabulary;
};
/// Read once. An error names the file that is missing or not valid.
const Result<LearnRecording>& learn_recording();

/// The step at which the held-out answers of the two runs differ most.
Index widest_gap(const LearnRecording& recording);

/// Seconds in which it plays.
inline constexpr double kReplaySeconds = 6.0;

/// The recording is shown: it plays or rests.
bool is_recorded(const AppState& state);
bool is_replaying(const AppState& state);

/// Shows the recording: from its first step where a clock ticks and motion is not reduced. It rests at its widest gap.
void play_recording(AppState& state);
/// Plays on from a step of it and keeps the selection; from the last step it begins again.
void resume_recording(AppState& state, Index from);
/// The settings take its place, before their training.
void leave_recording(AppState& state);
/// Shows one step of it; nullopt: the last. Ends the playback.
void show_recorded_step(AppState& state, std::optional<Index> step);
/// Brings the series to the step that is shown.
void follow_recording(AppState& state);
void tick_recording(AppState& state, double seconds);
/// Ends the playback at the widest gap.
void end_replay(AppState& state);

}  // namespace attn::view
