#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/forward.h"
#include "app/common/grid.h"
#include "app/common/map/view.h"
#include "app/common/plot.h"
#include "app/workspaces/kinds/controls.h"
#include "core/large/cell.h"

namespace attn::view {

// What the Kinds workspace shows when two kinds are compared.

/// A list of one setting of a side.
struct KindChoice {
    std::string_view setting;  // of kind_settings()
    std::vector<std::string> names;
    std::vector<std::string> keys;
    int current = 0;
    std::string heading, tooltip;
};

struct KindSideView {
    KindsSide side = KindsSide::a;
    std::string letter;  // "A"
    std::string text;    // "scaled dot product"
    std::string tex;     // S_{i,j} = …
    std::string fault;   // why there are no weights; "": there are
    AttentionKind kind;
    std::vector<KindChoice> choices;  // operation, score, position, mask
    // which of the other settings mean something here
    bool shows_scaling = true, shows_temperature = true, shows_cap = true, shows_sink = true;
    GridView weights;
};

/// One line of the table.
struct KindRow {
    std::string label, formula, tooltip;
    std::string a, b;     // of each side, or
    std::string between;  // of both together
};

struct KindsView {
    std::string missing_data;  // why there is nothing to compare; "": there is
    std::string sentence;
    std::string note;  // what the numbers are that are not the document's
    std::vector<std::string> pairs;
    int pair = -1;        // −1: none of them
    bool same = false;    // A is as B
    bool seeded = false;  // a score needs parameters
    std::uint64_t seed = 1;
    KindSideView a, b;
    std::optional<GridView> difference;  // B − A; its largest cell is lit
    std::vector<KindRow> rows;
    std::vector<MapView> maps;        // A, B, B − A in place of grids that would be too long
    std::optional<GridView> outputs;  // of the selected query: A, B and their difference
    /// Missed weight over the number of keys, where a side has a rule; the handle sets that side's number.
    std::optional<PlotView> missed;
    KindsSide missed_side = KindsSide::b;
    Index missed_keys = 1;
};

KindsView build_kinds_view(const AppState& state);
/// Stops of the handle over the number of keys: whole numbers.
Index nearest_keys(double keys);
Index next_keys(Index keys, int steps);

/// A row of O, or of the output, perhaps with ℓ before it.
struct VectorRow {
    std::string label;
    std::vector<double> values;
    std::optional<double> sum = {};  // of all rows or of none
};
/// The rows above each other, a column for each column of V. No cell of it is one of the document's.
GridView vector_grid(const AppState& state, const std::vector<VectorRow>& rows, std::string title);

std::string kinds_missing_data(const AppState& state);
void enter_kinds(AppState& state);
InspectorView kinds_inspector(const AppState& state);

/// The pair that is explained: the selected one, else the one that differs most.
large::Cell shown_pair(const AppState& state);
/// Key of the pair of kinds that A and B are, in kinds_presets(); its count where they are none.
std::size_t present_pair(const KindsControls& controls);

/// See WorkspaceInfo::reasons.
std::vector<std::string> kinds_reasons(const AppState& state);

}  // namespace attn::view
