#pragma once

#include "app/common/document/document.h"

namespace attn::view {

struct AppState;
struct CellHandle;

// A number of V that is typed: W_V is solved for it, so that X and the weights stay.

/// V where a document makes it of X and W_V.
bool is_solved_for(const AppState& state, const OperandId& id);
/// An input of the document, or solved for.
bool can_be_typed(const AppState& state, const OperandId& id);

/// The document in which that cell of V is `value`. An error says why no W_V makes it so.
struct SolvedValue {
    Document document;
    bool alone = false;  // no other row of V moves
};
Result<SolvedValue> solved_for(const AppState& state, const CellHandle& cell, float value);

}  // namespace attn::view
