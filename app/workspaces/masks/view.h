#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/common/forward.h"
#include "app/common/grid.h"
#include "app/common/map/view.h"
#include "app/workspaces/masks/state.h"

namespace attn::view {

enum class CausalChoice : std::uint8_t;

/// The switch of a rule, with its effect here.
struct SwitchView {
    std::string name;  // "causal"
    bool on = false;
    std::string text = {};      // "query i sees keys 0 … i"
    std::string count = {};     // "alone 10 of 16"; "" while it is off
    std::string possible = {};  // why it cannot be switched on; "": it can
    std::string tip = {};
};
/// In display order.
enum class MaskSwitch : std::uint8_t { causal, window, globals, block, padding, paint };
inline constexpr std::size_t kMaskSwitches = 6;

/// The values that the controls set.
struct MaskControls {
    CausalChoice causal{};  // off
    std::optional<Index> padding, block, left, right;
    Index globals = 0;
    bool any_rule = false;  // besides the painted mask
    bool nan = false;       // empty rows
    Index queries = 0, keys = 0;
    Index head = 0, heads = 1, batch = 0, batches = 1;
};

struct ConventionView {
    std::string key, name, verdict, tip;
    bool first = false, second = false;  // one of the two that are compared
    bool differs = false;                // from the first
};
struct ConventionGroup {
    std::string title;
    std::vector<ConventionView> rows;
};

/// The weights of one row, with the mask and without one.
struct RowChange {
    Index row = 0;
    std::string text;
    std::vector<double> before, after;
};

/// Three matrices of the same rows and columns, and their controls.
struct MasksView {
    MasksTab tab = MasksTab::compose;
    std::string point;        // the headline
    bool warns = false;       // it tells of something that goes wrong
    std::string unavailable;  // why there are fewer than three grids; "": there are
    std::vector<GridView>
        grids;         // mask, weights and masked scores; or two conventions and their difference
    std::string both;  // the first two of them
    std::optional<RowChange> change;    // of the row that is pointed at, else selected
    std::vector<MapView> maps;          // in their place where they are too long for cells
    bool paints = false;                // the first grid can be painted
    bool takes_bias = false;            // the bias can be, in place of the mask
    std::optional<double> bias_value;   // painted into the bias, which the first grid then shows
    std::vector<float> bias;            // cells of that grid; empty: it shows the mask
    std::vector<bool> flagged;          // rows without a key
    std::vector<std::uint8_t> painted;  // cells of the first grid that paint forbids
    std::optional<Pair> corner;         // of the selected rectangle
    std::optional<Pair> hovered;
    std::optional<Brush> brush;           // of the drag that goes on
    std::string hover_title, hover_text;  // of the hovered pair
    std::vector<std::string> notes;       // a sentence for each described row
    MaskControls controls;
    std::array<SwitchView, kMaskSwitches> switches;
    std::vector<ConventionGroup> groups;
    std::vector<std::string> gain_names;
    std::vector<Index> gains;  // in decades, as many
    int gain = -1;             // of these; -1: another
};

MasksView build_masks_view(const AppState& state);
struct MasksLong;
/// What is shown of a long sentence: see follow_masks().
void fill_masks(const AppState& state, MasksLong& found);

/// Whether a click on the pair allows it.
bool toggled_value(const AppState& state, Pair pair);
/// The number that a click paints into the bias; nullopt: it paints the mask.
std::optional<double> bias_brush(const AppState& state);
/// The number that a click paints on a pair with this bias: the brush, or 0 in place of the brush's own number.
double toggled_bias(double bias, double brush);

std::string masks_missing_data(const AppState& state);
InspectorView masks_inspector(const AppState& state);
/// What can be done in the tab that is shown.
std::string masks_entering_text(const AppState& state);

/// See WorkspaceInfo::reasons.
std::vector<std::string> masks_reasons(const AppState& state);

}  // namespace attn::view
