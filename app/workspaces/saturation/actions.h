#pragma once

#include "app/common/action.h"
#include "app/workspaces/saturation/state.h"

namespace attn::view {

// Settings of the Saturation workspace; undone.

struct SetSaturationModel {
    SaturationModel model;
    static constexpr Meta kMeta{"set_saturation_model", Kind::edit};
    friend void describe(Visitor& visit, SetSaturationModel& action) {
        visit("model", action.model, kModelNames);
    }
    friend void carry_out(AppState& state, const SetSaturationModel& action);
};
struct SetSaturationWidth {
    Index d_k;
    static constexpr Meta kMeta{"set_saturation_width", Kind::drag};
    friend void describe(Visitor& visit, SetSaturationWidth& action) { visit("d_k", action.d_k); }
    friend void carry_out(AppState& state, const SetSaturationWidth& action);
};
/// The d_k that the gradient is compared with.
struct PinSaturation {
    Index d_k;
    static constexpr Meta kMeta{"pin_saturation", Kind::drag};
    friend void describe(Visitor& visit, PinSaturation& action) { visit("d_k", action.d_k); }
    friend void carry_out(AppState& state, const PinSaturation& action);
};
struct SetSaturationKeys {
    Index keys;
    static constexpr Meta kMeta{"set_saturation_keys", Kind::drag};
    friend void describe(Visitor& visit, SetSaturationKeys& action) { visit("keys", action.keys); }
    friend void carry_out(AppState& state, const SetSaturationKeys& action);
};
struct SetSaturationDraws {
    Index draws;
    static constexpr Meta kMeta{"set_saturation_draws", Kind::drag};
    friend void describe(Visitor& visit, SetSaturationDraws& action) {
        visit("draws", action.draws);
    }
    friend void carry_out(AppState& state, const SetSaturationDraws& action);
};
struct SetSaturationSeed {
    std::uint64_t seed;
    static constexpr Meta kMeta{"set_saturation_seed", Kind::drag};
    friend void describe(Visitor& visit, SetSaturationSeed& action) { visit("seed", action.seed); }
    friend void carry_out(AppState& state, const SetSaturationSeed& action);
};
struct Redraw {
    static constexpr Meta kMeta{"redraw", Kind::edit};
    friend void carry_out(AppState& state, const Redraw& action);
};
/// Other fixed logits; goes to their model.
struct SetSaturationLogits {
    std::vector<double> logits;
    static constexpr Meta kMeta{"set_saturation_logits", Kind::edit};
    friend void describe(Visitor& visit, SetSaturationLogits& action) {
        visit("logits", action.logits);
    }
    friend void carry_out(AppState& state, const SetSaturationLogits& action);
};
/// Five fixed logits at d_k = 64: 16.1, 24.0, 9.8, 32.4 and 17.8 %.
struct ShowFiveBars {
    static constexpr Meta kMeta{"show_five_bars", Kind::edit};
    friend void carry_out(AppState& state, const ShowFiveBars& action);
};
/// The derivative by the raw score, and more numbers of the row shown. Not undone.
struct ShowSaturationDetails {
    bool on;
    static constexpr Meta kMeta{"show_saturation_details", Kind::plain};
    friend void describe(Visitor& visit, ShowSaturationDetails& action) { visit("on", action.on); }
    friend void carry_out(AppState& state, const ShowSaturationDetails& action);
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

using SaturationActions =
    ActionList<SetSaturationModel, SetSaturationWidth, PinSaturation, SetSaturationKeys,
               SetSaturationDraws, SetSaturationSeed, Redraw, SetSaturationLogits, ShowFiveBars,
               ShowSaturationDetails, SweepReady>;

}  // namespace attn::view
