#pragma once

#include <string_view>
#include <utility>

#include "app/workspaces/step/explain_parts.h"

namespace attn::view {

// Numbers of a chain rule: of any sequence and head, values and gradients. d_ is gradient of; b sequence,
// h query head, g key/value head, i query row, j key row, c column.

enum class From : std::uint8_t { values, gradients };
/// Which matrix of a stage: a sequence and a head.
struct Slice {
    Index batch = 0;
    Index head = 0;
};
/// One number of a stage, linked where it is of the sequence and head shown.
Expr stage_expr(const AppState& state, From from, Stage stage, Slice slice, Index row,
                Index column);
/// The same of the sequence and head that the window shows.
Expr stage_expr(const AppState& state, From from, Stage stage, Index row, Index column);
/// One number of a whole parameter, linked where it is of the head shown.
Expr param_expr(const AppState& state, Param param, Index row, Index column);

/// The query heads [first, end) that read the key/value head shown.
std::pair<Index, Index> readers_of(const AppState& state);
/// Which keys row i of a head takes part with.
std::vector<std::uint8_t> contributing_keys(const AppState& state, Slice slice, Index i);

/// A chain of gradients of `left` times values of `right`; the names end with what the indices are, as TeX.
Chain chain_of(const OperandId& left, const std::string& left_index, const OperandId& right,
               const std::string& right_index, std::string counts);
/// Its formula, a sum over `index`, and the last step.
void add_chain(const AppState& state, Explanation& explanation, Chain chain,
               std::string_view index);

/// What a parameter multiplies and what it makes.
struct Projection {
    Stage input, output;
};
Projection projection_of(const AppState& state, Param param);

// Parts of explain_gradient(), each with what it reads kept.
void explain_vector_gradient(const AppState& state, Explanation& explanation, Stage stage);
void explain_param_gradient(const AppState& state, Explanation& explanation, Param param);

}  // namespace attn::view
