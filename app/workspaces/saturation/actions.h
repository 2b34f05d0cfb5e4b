#pragma once

#include <optional>
#include <vector>

#include "app/common/action.h"
#include "app/common/set_field.h"
#include "app/workspaces/saturation/state.h"

namespace attn::view {

// Settings of the Saturation workspace; undone.

using SetSaturationModel =
    SetField<SaturationModel, saturation_controls, "model", "set_saturation_model">;
using SetSaturationWidth = SetField<Index, saturation_controls, "d_k", "set_saturation_width">;
/// The d_k that the gradient is compared with.
using PinSaturation = SetField<Index, saturation_controls, "pin", "pin_saturation", "d_k">;
using SetSaturationKeys = SetField<Index, saturation_controls, "keys", "set_saturation_keys">;
using SetSaturationDraws =
    SetField<Index, saturation_controls, "trials", "set_saturation_draws", "draws">;
using SetSaturationSeed =
    SetField<std::uint64_t, saturation_controls, "seed", "set_saturation_seed">;
using SetSaturationLogits =
    SetField<std::vector<double>, saturation_controls, "logits", "set_saturation_logits">;
/// Not undone.
using ShowSaturationDetails =
    SetField<bool, saturation_look, "details", "show_saturation_details", "on">;
using ShowRawDerivative = SetField<bool, saturation_look, "raw", "show_raw_derivative", "on">;
using ShowSaturationSentence =
    SetField<bool, saturation_look, "sentence", "show_saturation_sentence", "on">;
using ShowGradient =
    SetField<GradientOf, saturation_look, "gradient", "show_saturation_gradient", "of">;
struct Redraw {
    static constexpr auto kJournalNames = journal_names("redraw");
};
/// Five fixed logits at d_k = 64: 16.1, 24.0, 9.8, 32.4 and 17.8 %.
struct ShowFiveBars {
    static constexpr auto kJournalNames = journal_names("show_five_bars");
};
/// Moves d_k from its smallest to its largest value, without changing the setting.
struct PlayCollapse {
    static constexpr auto kJournalNames = journal_names("play_collapse");
};
/// The curves for `settings`.
struct SweepReady {
    SaturationSettings settings;
    std::shared_ptr<const std::vector<SaturationPoint>> sweep{};  // null: `fault` says why
    double elapsed_ms = 0.0;
    std::string fault{};
};
/// The gradients for `sampling`.
struct GradientSweepReady {
    GradientSampling sampling;
    std::shared_ptr<const std::vector<GradientPoint>> points{};  // null: `fault` says why
    double elapsed_ms = 0.0;
    std::string fault{};
};

using SaturationActions =
    ActionList<ViewActions<ShowSaturationDetails, ShowRawDerivative, ShowSaturationSentence,
                           ShowGradient, PlayCollapse>,
               EditActions<SetSaturationModel, Redraw, SetSaturationLogits, ShowFiveBars>,
               DragActions<SetSaturationWidth, PinSaturation, SetSaturationKeys, SetSaturationDraws,
                           SetSaturationSeed>,
               Answers<SweepReady, GradientSweepReady>>;
template <ListedIn<SaturationActions> A>
inline constexpr Meta kMetaOf<A> = SaturationActions::kMeta<A>;

/// d_k of the curves: 1, 2, 4, … 4096.
std::vector<Index> sweep_widths();
/// The same with the d_k that is looked at and the pinned one, rising, each once.
std::vector<Index> wanted_widths(const SaturationControls& controls);

/// The curves over d_k for the present settings.
struct SweepRequest {
    SaturationSettings settings;
    std::vector<Index> widths = sweep_widths();  // wanted_widths()
    bool operator==(const SweepRequest&) const = default;
};
/// nullopt while the workspace is not shown, or its curves are up to date.
std::optional<SweepRequest> requested_sweep(const AppState& state);
/// SweepReady.
Action run(const SweepRequest& request, const RunControl& control);

/// The gradients over d_k of as many rows as GradientSampling has by itself.
struct GradientSweepRequest {
    GradientSampling sampling;
    std::vector<Index> widths;  // wanted_widths()
    bool operator==(const GradientSweepRequest&) const = default;
};
/// nullopt while they are not shown, or up to date.
std::optional<GradientSweepRequest> requested_gradient_sweep(const AppState& state);
/// GradientSweepReady.
Action run(const GradientSweepRequest& request, const RunControl& control);

}  // namespace attn::view
