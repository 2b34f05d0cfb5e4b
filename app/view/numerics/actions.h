#pragma once

#include "app/view/common/action.h"
#include "app/view/state.h"

namespace attn::view {

// Settings of the Numerics workspace; undone.

/// 1 … kMostGain.
struct SetNumericsGain {
    Index gain;
    static constexpr auto kMeta =
        meta("set_numerics_gain", Kind::drag, field("gain", &SetNumericsGain::gain));
    friend void carry_out(AppState& state, const SetNumericsGain& action);
};
/// Other typed logits; goes to them.
struct SetNumericsLogits {
    std::vector<double> logits;
    static constexpr auto kMeta =
        meta("set_numerics_logits", Kind::edit, field("logits", &SetNumericsLogits::logits));
    friend void carry_out(AppState& state, const SetNumericsLogits& action);
};
struct SetNumericsRow {
    LogitRow row;
    static constexpr auto kMeta =
        meta("set_numerics_row", Kind::edit, field("row", &SetNumericsRow::row));
    friend void carry_out(AppState& state, const SetNumericsRow& action);
};
/// The cell that the inspector explains. Not undone. A key that the row does not have is its last one.
struct SelectNumericsCell {
    SoftmaxAlgorithm algorithm;
    FloatFormat format;
    Index key;
    static constexpr auto kMeta = meta(
        "select_numerics_cell", Kind::plain, field("algorithm", &SelectNumericsCell::algorithm),
        field("format", &SelectNumericsCell::format), field("key", &SelectNumericsCell::key));
    friend void carry_out(AppState& state, const SelectNumericsCell& action);
};
/// The errors over the gain of these logits.
struct NumericsReady {
    std::vector<double> logits;
    std::shared_ptr<const NumericsSweep> sweep{};
    double elapsed_ms = 0.0;
    static constexpr auto kMeta = unwritten(Kind::answer);
    friend void carry_out(AppState& state, const NumericsReady& action);
};

using NumericsActions = ActionList<SetNumericsGain, SetNumericsLogits, SetNumericsRow,
                                   SelectNumericsCell, NumericsReady>;

}  // namespace attn::view
