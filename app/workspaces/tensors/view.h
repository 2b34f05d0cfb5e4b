#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/forward.h"
#include "app/common/grid.h"
#include "app/common/keys.h"
#include "app/common/painter.h"
#include "app/workspaces/tensors/actions.h"

namespace attn::view {

struct TensorRow;

/// One of reading_options() as it is chosen.
struct TensorOption {
    std::string key, title, tip;
    std::vector<std::string> names;  // of a choice, the first for none; else it is typed
    std::string value;               // "": as the file says
};

/// One line of the table; the texts stand in the columns of TensorColumn from `name` on.
struct TensorLine {
    std::string name;
    std::vector<std::string> cells;
    bool selected = false;
    bool faulty = false;  // it has NaN or infinite numbers
    bool unused = false;
};
struct TensorHead {
    TensorColumn column;
    std::string title;
    std::string tip;
    bool right = false;  // numbers
    float share = 1.0F;  // of the width
};
/// The selected array.
struct TensorDetail {
    std::string title, shape;
    std::vector<std::string> lines;  // what was measured and what it may be
    std::string pending;             // why there is no picture; "": there is
    std::optional<GridView> grid;    // in place of the picture where every number has a cell
    std::string caption;             // of either
    Picture picture;
    float aspect = 1.0F;        // height over width
    std::string low, high;      // of the colours
    std::vector<Color> colors;  // from low to high
    std::vector<double> bins;   // shares of the largest, 0 … 1
    std::string least, most;    // numbers, at the ends of the bins
    std::vector<std::string> role_names, role_keys;
    int role = 0;
};
/// The histogram of one array.
struct TensorBins {
    std::string name;
    std::vector<double>
        bins;  // shares of the largest, 0 … 1; empty: not measured, or all are equal
    bool selected = false;
};
/// One answer to what the file leaves open.
struct TensorAnswer {
    std::string title;    // "A: bottom-right"
    std::string meaning;  // one sentence
    std::string tip;      // the key
    AnswerTensors action;
};
struct TensorsView {
    std::string point;     // the first line
    std::string reason;    // why no attention can be made of it; "": it can
    std::string question;  // what has to be said first; "": nothing
    std::vector<TensorAnswer> answers;
    std::string empty;  // why the table is empty; "": it is not
    std::string filter;
    std::vector<TensorHead> heads;
    std::vector<TensorLine> lines;
    TensorColumn sort = TensorColumn::order;
    bool descending = false;
    std::optional<TensorDetail> detail;
    std::vector<TensorBins> distributions;  // of the rows around the selected one
    bool can_read = false;                  // roles can be given: it is a file
    std::vector<std::string> axes_names, axes_keys;
    int axes = 0;
    std::vector<TensorOption> options;
    std::string unused;  // names what is not used
};

/// The keys of the first answers; there are never more of them.
inline constexpr Key kAnswerKeys[] = {Key::a, Key::b, Key::c, Key::d};
/// Name of the array that is shown: the selected one where the listing has it, else the default; "" without either.
const std::string& shown_tensor(const AppState& state);
TensorsView build_tensors_view(const AppState& state);
/// The rows of the table in their order on screen.
std::vector<const TensorRow*> tensor_rows(const AppState& state);

/// See WorkspaceInfo::reasons.
std::vector<std::string> tensors_reasons(const AppState& state);

}  // namespace attn::view
