#pragma once

#include "app/common/set_field.h"
#include "app/workspaces/saturation/state.h"

namespace attn::view {

// Settings of the Saturation workspace; undone.

using SetSaturationModel =
    SetField<SaturationModel, saturation_controls, "model", "set_saturation_model", Kind::edit>;
using SetSaturationWidth =
    SetField<Index, saturation_controls, "d_k", "set_saturation_width", Kind::drag>;
/// The d_k that the gradient is compared with.
using PinSaturation =
    SetField<Index, saturation_controls, "pin", "pin_saturation", Kind::drag, "d_k">;
using SetSaturationKeys =
    SetField<Index, saturation_controls, "keys", "set_saturation_keys", Kind::drag>;
using SetSaturationDraws =
    SetField<Index, saturation_controls, "trials", "set_saturation_draws", Kind::drag, "draws">;
using SetSaturationSeed =
    SetField<std::uint64_t, saturation_controls, "seed", "set_saturation_seed", Kind::drag>;
using SetSaturationLogits = SetField<std::vector<double>, saturation_controls, "logits",
                                     "set_saturation_logits", Kind::edit>;
/// Not undone.
using ShowSaturationDetails =
    SetField<bool, saturation_look, "details", "show_saturation_details", Kind::plain, "on">;
using ShowRawDerivative =
    SetField<bool, saturation_look, "raw", "show_raw_derivative", Kind::plain, "on">;
using ShowGradient = SetField<GradientOf, saturation_look, "gradient", "show_saturation_gradient",
                              Kind::plain, "of">;
struct Redraw {
    static constexpr Meta kMeta{"redraw", Kind::edit};
    friend void carry_out(AppState& state, const Redraw& action);
};
/// Five fixed logits at d_k = 64: 16.1, 24.0, 9.8, 32.4 and 17.8 %.
struct ShowFiveBars {
    static constexpr Meta kMeta{"show_five_bars", Kind::edit};
    friend void carry_out(AppState& state, const ShowFiveBars& action);
};
/// The curves for `settings`.
struct SweepReady {
    SaturationSettings settings;
    std::shared_ptr<const std::vector<SaturationPoint>> sweep{};  // null: `fault` says why
    double elapsed_ms = 0.0;
    std::string fault{};
    static constexpr Meta kMeta{"", Kind::answer};
    friend void carry_out(AppState& state, const SweepReady& action);
};
/// The gradients for `sampling`.
struct GradientSweepReady {
    GradientSampling sampling;
    std::shared_ptr<const std::vector<GradientPoint>> points{};  // null: `fault` says why
    double elapsed_ms = 0.0;
    std::string fault{};
    static constexpr Meta kMeta{"", Kind::answer};
    friend void carry_out(AppState& state, const GradientSweepReady& action);
};

using SaturationActions =
    ActionList<SetSaturationModel, SetSaturationWidth, PinSaturation, SetSaturationKeys,
               SetSaturationDraws, SetSaturationSeed, Redraw, SetSaturationLogits, ShowFiveBars,
               ShowSaturationDetails, ShowRawDerivative, ShowGradient, SweepReady,
               GradientSweepReady>;

}  // namespace attn::view
