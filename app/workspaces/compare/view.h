#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/common/forward.h"
#include "app/common/grid.h"
#include "app/workspaces/compare/state.h"
#include "core/matrix_view.h"
#include "core/stage.h"

namespace attn::view {

struct SessionReader;

/// One thing that differs between two documents: "temperature 1 → 2".
struct Difference {
    std::string name;
    std::string a, b;  // "" where there is no short value
};
/// What differs between the pin A and the present B, of all that numbers come from: settings, words, place, and how
/// many numbers of each tensor.
std::vector<Difference> differences(const AppState& state, const ComparePin& pin);
/// "temperature 1 → 2".
std::string difference_text(const Difference& difference);
/// "The cat sat down · scaling on · head 0": what stands for a pin.
std::string pin_text(const AppState& state);
/// What is shown, as PinBaseline pins it.
ComparePin pin_of(const AppState& state);

/// A state that looks at what was pinned, for whatever reads a state; nothing else of `state` but its theme.
AppState pinned_state(const AppState& state, const ComparePin& pin);

/// The two matrices of one stage.
struct ComparedStage {
    MatrixView<const float> a, b;
    std::string missing_data;  // why they cannot be subtracted; "": they can
};
ComparedStage compared_stage(const AppState& state, const AppState& pinned);

/// The largest |B − A|; a difference that is NaN where one side alone is counts as larger than any. Cells that are the
/// same, −∞ and NaN beside their like too, differ by 0. nullopt: nothing differs.
struct LargestChange {
    large::Cell cell;
    float a = 0.0F, b = 0.0F;
    Index cells = 0;   // so many differ
    Index others = 0;  // of them as much as this one
};
std::optional<LargestChange> largest_change(const ComparedStage& stage);
/// b − a; 0 where both are the same infinity or both NaN.
float signed_difference(float a, float b);
/// ½ Σ_j |a − b|, 0 … 1 of two distributions.
double total_variation(std::span<const float> a, std::span<const float> b);

/// One way to give the selected weight its target.
struct ReachLine {
    std::string title;  // "score"
    std::string text;   // "Δs = +1.204: 1.229 → 2.433"
    std::string tip;
    bool applies = false;  // a button makes an edit of it
    bool word = false;     // of the key's word; else of the query
};
struct ReachView {
    std::string missing_data;  // why the result is missing; "": it is there
    std::string title;         // "weight[cat, sat] = 0.40"
    double target = 0.5;
    std::vector<ReachLine> lines;
};
ReachView reach_view(const AppState& state);

struct CompareView {
    std::string missing_data;     // why nothing is compared; "": something is
    std::string point;            // the first line: what differs
    std::string point_b;          // and by how much
    std::vector<GridView> grids;  // A, B and B − A; while it blinks, one
    std::vector<std::string> pins;
    Index baseline = 0;
    std::vector<std::string> stage_names;
    std::vector<Stage> stages;
    int stage = -1;
    std::optional<Index> blink;
    std::optional<large::Cell> hovered;
    ReachView reach;
};
CompareView build_compare_view(const AppState& state);

std::string compare_missing_data(const AppState& state);
void clamp_compare(AppState& state);
InspectorView compare_inspector(const AppState& state);
/// The line "pins" of a session: what is pinned, each with its own document; "" where nothing is.
std::string write_pins(const AppState& state, const std::filesystem::path& folder);
void read_pins(const SessionReader& session);

/// See WorkspaceInfo::reasons.
std::vector<std::string> compare_reasons(const AppState& state);

}  // namespace attn::view
