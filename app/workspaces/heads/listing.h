#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/workspaces/heads/state.h"

namespace attn::view {

// All heads by their measures: two of them as a scatter, all of them as a table. Heads that the filter leaves out are in
// neither.

struct ScatterAxis {
    std::string title;               // "previous token"
    std::string formula;             // "mean of a[i,i−1], i ≥ 1"
    std::vector<std::string> ticks;  // evenly from the low end to the high one
    int current = 0;                 // of the measures
};
struct ScatterDot {
    HeadPlace place;
    float x = 0.0F, y = 0.0F;  // 0 … 1 along the axes
    bool shown = false;
    std::string pin;  // "A", "B" or ""
};
struct HeadsScatter {
    ScatterAxis x, y;
    std::vector<ScatterDot> dots;
    std::string note;  // of heads that have no place
};
HeadsScatter heads_scatter(const AppState& state);

struct HeadsTableColumn {
    std::string key, title, tip;
};
struct HeadsTableRow {
    HeadPlace place;
    std::string name, label;
    std::vector<std::string> cells;
    bool shown = false;
};
struct HeadsTable {
    std::vector<HeadsTableColumn> columns;
    std::string sort;  // key of a column; "": by layer and head
    std::vector<HeadsTableRow> rows;
};
HeadsTable heads_table(const AppState& state);

}  // namespace attn::view
