#pragma once

#include "app/common/action.h"
#include "app/workspaces/numerics/state.h"

namespace attn::view {

// Settings of the Numerics workspace; undone.

/// 1 … kMostGain.
struct SetNumericsGain {
    Index gain;
    static constexpr Meta kMeta{"set_numerics_gain", Kind::drag};
    friend void describe(Visitor& visit, SetNumericsGain& action) { visit("gain", action.gain); }
    friend void carry_out(AppState& state, const SetNumericsGain& action);
};
/// Other typed logits; goes to them.
struct SetNumericsLogits {
    std::vector<double> logits;
    static constexpr Meta kMeta{"set_numerics_logits", Kind::edit};
    friend void describe(Visitor& visit, SetNumericsLogits& action) {
        visit("logits", action.logits);
    }
    friend void carry_out(AppState& state, const SetNumericsLogits& action);
};
struct SetNumericsRow {
    LogitRow row;
    static constexpr Meta kMeta{"set_numerics_row", Kind::edit};
    friend void describe(Visitor& visit, SetNumericsRow& action) {
        visit("row", action.row, kLogitRowNames);
    }
    friend void carry_out(AppState& state, const SetNumericsRow& action);
};
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
