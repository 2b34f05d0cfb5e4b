#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/common/slots.h"
#include "core/saturation.h"
#include "core/saturation_gradients.h"

namespace attn::view {

// Limits of the settings.
inline constexpr Index kWidestSweep = 4096;
inline constexpr Index kFewestKeys = 2;
inline constexpr Index kMostKeys = 256;
inline constexpr Index kMostDraws = 4000;

/// Settings of the Saturation workspace; undone with the document.
struct SaturationControls {
    // It opens on the model where the growth with √d_k comes from by itself.
    SaturationSettings settings{.model = SaturationModel::sampled};
    Index d_k = 512;  // where the collapse without scaling is plain to see
    Index pin = 4;    // the d_k that the gradient is compared with
    Index draw = 0;   // trial shown in the sampled model; "re-draw" adds 1
    bool operator==(const SaturationControls&) const = default;
};
void describe(Visitor& visit, SaturationControls& controls);
/// Typed logits go to their model; the draw stays among the draws.
Result<void> prepare(const AppState& state, SaturationControls& next, std::string_view changed);

/// Of the loss by: the logits z that enter softmax, the raw scores s = q·k, the query, W_Q of a batch.
enum class GradientOf : std::uint8_t { z, s, q, w_q };
inline constexpr std::size_t kGradientsOf = 4;
inline constexpr std::string_view kGradientNames[] = {"z", "s", "q", "w_q"};

/// What is open in it.
struct SaturationLook {
    GradientOf gradient = GradientOf::q;
    bool details = false;  // softmax alone: its Jacobian, weights and the spread of scores
    bool raw = false;  // in the details: the derivative by the raw score, more numbers of the row
    bool sentence = true;  // the open sentence above the gradients
};
void describe(Visitor& visit, SaturationLook& look);

/// A playback that moves d_k from 4 to 4096; the setting stays. Transient.
struct SaturationPlay {
    // transient
    bool ticks = false;             // a clock runs: without one nothing is played
    std::optional<double> seconds;  // since it began
    bool operator==(const SaturationPlay&) const = default;
};
inline constexpr double kCollapseSeconds = 6.0;

/// The curves over d_k, from a job.
struct SaturationCurves {
    std::shared_ptr<const std::vector<SaturationPoint>> sweep;  // null until the first one is ready
    SaturationSettings settings;                                // what it was computed for
    double elapsed_ms = 0.0;                                    // 0: not told
};

/// The gradients over d_k, from a job.
struct SaturationGradients {
    std::shared_ptr<const std::vector<GradientPoint>> points;  // null until the first are ready
    GradientSampling sampling;                                 // what they were drawn for
    double elapsed_ms = 0.0;                                   // 0: not told
};

inline constexpr Controls<SaturationControls> saturation_controls;
inline constexpr Look<SaturationLook> saturation_look;
inline constexpr Look<SaturationPlay> saturation_play;
inline constexpr Look<SaturationCurves> saturation_curves;
inline constexpr Look<SaturationGradients> saturation_gradients;

/// The settings, with the d_k of the playback.
SaturationControls shown_saturation(const AppState& state);
/// Whether softmax alone is shown: fixed logits have no q and k that a gradient could reach.
bool shows_softmax_alone(const AppState& state);

}  // namespace attn::view
