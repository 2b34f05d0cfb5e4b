#pragma once

#include "app/common/set_field.h"
#include "app/workspaces/numerics/state.h"

namespace attn::view {

// Settings of the Numerics workspace; undone.

using SetNumericsGain = SetField<Index, numerics_controls, "gain", "set_numerics_gain", Kind::drag>;
using SetNumericsLogits =
    SetField<std::vector<double>, numerics_controls, "logits", "set_numerics_logits", Kind::edit>;
using SetNumericsRow = SetField<LogitRow, numerics_controls, "row", "set_numerics_row", Kind::edit>;
/// The cell that the inspector explains. Not undone. A key that the row does not have is its last one.
struct SelectNumericsCell {
    SoftmaxAlgorithm algorithm;
    FloatFormat format;
    Index key;
    static constexpr Meta kMeta{"select_numerics_cell", Kind::plain};
    friend void describe(Visitor& visit, SelectNumericsCell& action) {
        visit("algorithm", action.algorithm, kAlgorithmNames);
        visit("format", action.format, kFormatNames);
        visit("key", action.key);
    }
    friend void carry_out(AppState& state, const SelectNumericsCell& action);
};
/// The errors over the gain of these logits.
struct NumericsReady {
    std::vector<double> logits;
    std::shared_ptr<const NumericsSweep> sweep{};
    double elapsed_ms = 0.0;
    static constexpr Meta kMeta{"", Kind::answer};
    friend void carry_out(AppState& state, const NumericsReady& action);
};

using NumericsActions = ActionList<SetNumericsGain, SetNumericsLogits, SetNumericsRow,
                                   SelectNumericsCell, NumericsReady>;

}  // namespace attn::view
