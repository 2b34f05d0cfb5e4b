#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/common/forward.h"
#include "app/common/grid.h"
#include "app/common/plot.h"
#include "app/common/readout.h"
#include "app/common/text.h"
#include "app/workspaces/lookup/state.h"
#include "core/matrix_view.h"

namespace attn::view {

// ---- memory

/// A point of a plane that can be dragged.
struct PlanePointView {
    std::string name;
    PlanePoint at{};
    double weight = 0.0;  // the area of its disc
    std::string tooltip;
    bool selected = false, hovered = false;
};
struct MemoryRowView {
    std::string key, value;
    std::string score, cosine, weight, at, contribution;
    double share = 0.0;         // the weight
    bool best = false;          // largest score
    bool most_similar = false;  // largest cosine
    bool selected = false, hovered = false;
};
struct MemoryView {
    std::string point;  // the first line
    std::vector<std::string> notes;
    std::vector<PlanePointView> keys, values;
    PlanePoint query{}, output{}, hard{}, mean{};
    std::vector<PlanePoint> hull;  // of the values
    std::vector<MemoryRowView> rows;
    std::vector<Readout> numbers;
    std::string tau;  // the temperature as text
    double temperature = 1.0;
    std::vector<std::string> preset_names, preset_keys;
    int preset = -1;  // −1: changed since
    Index pair = 0;
    std::string key_name, value_name;
    PlanePoint free{};  // where a pair is added
};

// ---- capacity

struct CapacityView {
    std::string point;
    std::vector<std::string> notes;
    PlotView interference, error, near_cosine;
    bool stale = false;  // the curves belong to older settings, or are missing
    bool ready = false;  // there are curves
    Index width = 2, pairs = 2;
    double temperature = 0.1;
    std::string tau;
    std::uint64_t seed = 1;
};

// ---- the document's tokens

/// Matrices of the document's queries and keys beside each other.
struct LookupGridsView {
    std::string missing_data;  // why there is nothing; "": there is
    std::string point;
    std::vector<std::string> notes;
    std::vector<GridView> grids;
};
struct SimilarityView {
    LookupGridsView body;
    SimilarityOf of = SimilarityOf::qk;
    SimilarityMeasure measure = SimilarityMeasure::dot;
    SimilaritySoftmax softmax = SimilaritySoftmax::none;
    double temperature = 1.0;
    std::string tau;
};
/// One query and its keys.
struct AlignmentRowView {
    std::string query;
    Index dot = 0, cosine = 0;  // the best key by each; on a tie the same where it can be
    bool agree = true;
    bool none = false;  // a score is NaN: there is no best key
    std::string tooltip;
};
struct AlignmentView {
    LookupGridsView body;   // no grids
    SimilarityView towers;  // the compared sequences
    std::vector<AlignmentRowView> rows;
    std::vector<std::string> keys;
    Index row = 0, column = 0;  // that are looked at
};
struct TokenChipView {
    std::string label;
    Index token = 0;
    bool moved = false;  // its place differs from the document
};
struct PermutationView {
    LookupGridsView body;
    std::vector<TokenChipView> chips;  // in their order
    PermutationPosition position = PermutationPosition::none;
    std::vector<std::string> position_names;
    std::uint64_t next_seed = 1;
};

struct LookupView {
    LookupPage page = LookupPage::memory;
    std::vector<std::string> page_names;
    // that of the page is filled
    MemoryView memory;
    CapacityView capacity;
    SimilarityView similarity;
    AlignmentView alignment;
    PermutationView permutation;
    std::string status;
};

/// A matrix of the document's queries and keys, with the pair that is looked at.
struct LookupGrid {
    MatrixView<const float> values;
    ColorScale colors = ColorScale::diverging;
    Role role = Role::score;
    std::string title, tooltip;
};
GridView lookup_grid(const AppState& state, const LookupGrid& of);
/// Why a result is not shown; "": there is one, without a fault.
template <class Result>
std::string missing_data_text(const Result* result) {
    if (result == nullptr) return "Nothing is computed yet.";
    return result->fault.empty() ? "" : sentence(result->fault);
}

/// Clamps to the plane and rounds to two decimals; nullopt if a coordinate is NaN.
std::optional<PlanePoint> on_plane(double x, double y);

MemoryView build_memory_view(const AppState& state);
CapacityView build_capacity_view(const AppState& state);
SimilarityView build_similarity_view(const AppState& state);
AlignmentView build_alignment_view(const AppState& state);
PermutationView build_permutation_view(const AppState& state);
/// The order that S brings next.
std::uint64_t next_shuffle(const AppState& state);
LookupView build_lookup_view(const AppState& state);

InspectorView lookup_inspector(const AppState& state);

/// See WorkspaceInfo::reasons.
std::vector<std::string> lookup_reasons(const AppState& state);

}  // namespace attn::view
