#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/forward.h"
#include "app/common/grid.h"
#include "app/common/plot.h"
#include "app/workspaces/positions/state.h"

namespace attn::view {

/// Two dimensions that RoPE rotates together: the angle between query and key at the distance.
struct TurningPair {
    double angle = 0.0;   // θ_c Δ, radians
    double length = 0.0;  // ‖x_c‖ of the largest one's
    double term = 0.0;    // ‖x_c‖² cos(θ_c Δ) / √d_k, part of the score
};

struct PositionsView {
    PositionsControls controls;
    std::string sentence, muted, note;
    PlotView hero;                                   // of the kind that is told of
    std::array<PlotView, kPositionKindCount> plots;  // of all
    std::vector<TurningPair> pairs;                  // of RoPE; empty: another kind is shown
    std::optional<GridView> waves;                   // sinusoidal vectors, a row for each position
    std::string picture_title;                       // of either
};
PositionsView build_positions_view(const AppState& state);
InspectorView positions_inspector(const AppState& state);

inline std::string_view title_of(PositionKind kind) {
    return kPositionKindNames[static_cast<std::size_t>(kind)];
}
Role role_of(PositionKind kind);
/// Of the present settings: those in the state, or computed now.
std::shared_ptr<const PositionScores> scores_of(const AppState& state);
/// What the numbers say of the chosen kind at the chosen distance; and which kinds give every query the same.
std::string positions_sentence(const PositionScores& scores, PositionKind kind, Index distance);
std::string positions_note(const PositionScores& scores);

/// See WorkspaceInfo::reasons.
std::vector<std::string> positions_reasons(const AppState& state);

}  // namespace attn::view
