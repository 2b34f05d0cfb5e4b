#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/cell.h"
#include "core/matrix_view.h"
#include "core/role.h"
#include "core/stage.h"

namespace attn {
enum class Axis : std::uint8_t;
enum class HeadAxis : std::uint8_t;
struct Operand;
struct Dimensions;
}  // namespace attn

namespace attn::view {

struct AppState;
struct Document;

inline constexpr double kTied = 1e-6;  // of numbers in float32 that are one but for rounding

// A "sheet" is one tensor as the Step workspace shows it: the matrix of the head shown, with names
// for its rows and columns. Of W_Q, W_K and W_V it is the head's own columns; W_O and the joined
// context are whole.
struct Sheet {
    OperandId id = Stage::x;
    MatrixView<const float> values;  // 0 × 0: not in this trace
    std::vector<std::string> row_labels;
    std::vector<std::string> column_labels;
    Role role = Role::input;
    Role row_role = Role::query;
    Role column_role = Role::key;
};

Sheet sheet_of(const AppState& state, const OperandId& id);
/// The same with ∂L/∂tensor in place of the values.
Sheet gradient_sheet_of(const AppState& state, const OperandId& id);
/// ∂L/∂tensor, the same part of it.
MatrixView<const float> gradient_of(const AppState& state, const OperandId& id);
/// The whole joined context [Tq, H·d_v], head after head, which W_O multiplies. A cell of another
/// head has a column outside 0 … d_v − 1, counted from the head shown.
std::vector<float> joined_context(const AppState& state);

/// Columns of a parameter that belong to the head shown; count 0: all of them do.
struct HeadColumns {
    Index first = 0;
    Index count = 0;
};
HeadColumns head_columns(const AppState& state, Param param);
HeadColumns head_columns(const Dimensions& size, Param param, Index head);
/// Which head of a tensor with that head axis belongs to a query head.
Index head_in(const Dimensions& size, HeadAxis axis, Index head);

/// Whether the canvas shows targets of the outputs: editing an output then sets its target.
bool has_targets(const AppState& state);
/// Whether it is an input of the document: X and W, or Q, K and V where they are given; a target too.
bool is_editable(const AppState& state, const OperandId& id);
/// A cell that exists, in its whole tensor [B,H,T,d]; a joined context's cells of other heads do.
struct CellHandle {
    CellRef cell;
    Index batch = 0, head = 0, row = 0, column = 0;
    float value = 0.0F;
};
/// nullopt where the tensor has no such cell, or the backend does not keep it.
std::optional<CellHandle> resolve(const AppState& state, const CellRef& cell);
inline bool has_cell(const AppState& state, const CellRef& cell) {
    return resolve(state, cell).has_value();
}
inline std::optional<float> value_at(const AppState& state, const CellRef& cell) {
    const auto at = resolve(state, cell);
    return at ? std::optional(at->value) : std::nullopt;
}

/// ∂L/∂cell; nullopt where the cell or its gradient does not exist.
std::optional<float> gradient_at(const AppState& state, const CellRef& cell);

/// "Q", "scores", "W_O": as in formulas and in the names of cells.
std::string name_of(const OperandId& id);
/// "w_q", "scores": npz, journal and session.
std::string_view key_of(const OperandId& id);
std::optional<OperandId> find_operand(std::string_view key);
/// "head 0 (0–7)": indices count from 0 wherever a person meets one.
std::string head_description(Index head, Index heads);
/// "scores[cat, sat]".
std::string cell_name(const AppState& state, const CellRef& cell);

/// Where keys and values come from: X_kv with a source, else X.
Stage key_stage(const Document& document);
/// The stage that multiplies V: the weights after dropout when there is dropout.
Stage weight_stage(const Document& document);
/// The operand of `result` that the stage table calls `id`, in this document.
OperandId operand_of(const Document& document, Stage result, const OperandId& id);
/// All that the stage is made from in this document: those of the table, the parameters of its score, its sinks. None of
/// Q, K and V that are given.
std::vector<Operand> operands_of(const Document& document, Stage stage);
/// Whether the trace holds the tensor. A backend need not keep every stage.
bool is_stored_stage(const AppState& state, const OperandId& id);
/// The words along an axis, a repeated one numbered: "the", "the₂". Of widths: "0", "1", ….
std::vector<std::string> axis_labels(const Document& document, Axis axis, Index count,
                                     Index batch = 0);
/// Of the sequence that is shown.
std::vector<std::string> axis_labels(const AppState& state, Axis axis, Index count);
/// The n-th of them, short enough for the name of a cell; of any n.
std::string axis_label(const Document& document, Axis axis, Index n, Index batch = 0);
std::string axis_label(const AppState& state, Axis axis, Index n);

}  // namespace attn::view
