#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/forward.h"
#include "app/common/grid.h"
#include "app/workspaces/verify/state.h"
#include "core/verify/report.h"

namespace attn::view {

struct OpenCheckedInStep;

/// One array of the results.
struct CheckedLine {
    std::string key;
    std::vector<std::string> cells;  // as kCheckedColumns
    bool differs = false;            // some of it is beyond tolerance
    bool shown = false;
};
inline constexpr std::string_view kCheckedColumns[] = {"array", "max error", "relative", "ulp",
                                                       "beyond"};

/// A head or a row, and its worst number.
struct CheckedPart {
    std::string text;
    CheckedCell worst;
    bool differs = false;
    bool shown = false;
};

/// What the diagnosis says of one hypothesis, or a fact that can be seen.
struct Finding {
    std::string text;
    bool bad = false;  // it explains the error, or is suspicious
    bool warns =
        false;  // something is wrong or uncertain: a cause that explains all of the error is neither
};

struct VerifyView {
    std::string missing_data;
    std::string point;
    bool bad = false;    // the results differ
    bool warns = false;  // an input is NaN or infinite
    bool ready = false;
    std::vector<CheckedLine> lines;
    std::vector<CheckedPart> heads, rows;
    std::string rows_title;  // "worst rows", "4 rows are equally wrong"
    std::vector<Finding> findings;
    std::optional<GridView> grid;  // of the head that is shown
    std::string blocks;            // how many numbers a cell stands for; "": one
    VerifyLook look;
    std::vector<std::string> fault_names, fault_keys;
    int fault = 0;
    std::string status;
};

/// Ways of measuring errors, as a person reads them.
inline constexpr std::string_view kScaleText[] = {"fraction of tolerance", "difference",
                                                  "relative error", "ULP"};

inline constexpr std::string_view kAllowedText[] = {"by precision", "1e-7", "1e-6", "1e-5",
                                                    "1e-4",         "1e-3", "1e-2"};

VerifyView build_verify_view(const AppState& state);
InspectorView verify_inspector(const AppState& state);
/// What of the checked results is beyond tolerance, one sentence; "": nothing is, or nothing is compared yet.
std::string verify_differs(const AppState& state);
/// Why there is nothing to check; "": there is.
std::string verify_missing_data(const AppState& state);
/// The fault that is planted where it can be: the example's only while no results are given. "": none.
std::string applied_fault(const AppState& state);
/// The results have the example's fault.
bool shows_example(const AppState& state);
/// Opens the number that is looked at; nullopt: it is no cell of what is open.
std::optional<OpenCheckedInStep> checked_in_step(const AppState& state);
/// The cell of the array that a drawn cell stands for: of a block its worst one.
CheckedCell checked_cell_at(const AppState& state, Index row, Index column);
/// The array that is shown; nullptr: there is none.
const verify::DiffRow* shown_array(const AppState& state);
/// The number that is looked at; nullopt: the array has none.
std::optional<CheckedCell> shown_cell(const AppState& state);

/// See WorkspaceInfo::reasons.
std::vector<std::string> verify_reasons(const AppState& state);

}  // namespace attn::view
