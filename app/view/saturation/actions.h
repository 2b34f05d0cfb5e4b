#pragma once

#include "app/view/common/action.h"
#include "app/view/state.h"

namespace attn::view {

// Settings of the Saturation workspace; undone.

struct SetSaturationModel {
    SaturationModel model;
    static constexpr auto kMeta =
        meta("set_saturation_model", Kind::edit, field("model", &SetSaturationModel::model));
    friend void carry_out(AppState& state, const SetSaturationModel& action);
};
struct SetSaturationWidth {
    Index d_k;
    static constexpr auto kMeta =
        meta("set_saturation_width", Kind::drag, field("d_k", &SetSaturationWidth::d_k));
    friend void carry_out(AppState& state, const SetSaturationWidth& action);
};
/// The d_k that the gradient is compared with.
struct PinSaturation {
    Index d_k;
    static constexpr auto kMeta =
        meta("pin_saturation", Kind::drag, field("d_k", &PinSaturation::d_k));
    friend void carry_out(AppState& state, const PinSaturation& action);
};
struct SetSaturationKeys {
    Index keys;
    static constexpr auto kMeta =
        meta("set_saturation_keys", Kind::drag, field("keys", &SetSaturationKeys::keys));
    friend void carry_out(AppState& state, const SetSaturationKeys& action);
};
struct SetSaturationDraws {
    Index draws;
    static constexpr auto kMeta =
        meta("set_saturation_draws", Kind::drag, field("draws", &SetSaturationDraws::draws));
    friend void carry_out(AppState& state, const SetSaturationDraws& action);
};
struct SetSaturationSeed {
    std::uint64_t seed;
    static constexpr auto kMeta =
        meta("set_saturation_seed", Kind::drag, field("seed", &SetSaturationSeed::seed));
    friend void carry_out(AppState& state, const SetSaturationSeed& action);
};
struct Redraw {
    static constexpr auto kMeta = meta("redraw", Kind::edit);
    friend void carry_out(AppState& state, const Redraw& action);
};
/// Other fixed logits; goes to their model.
struct SetSaturationLogits {
    std::vector<double> logits;
    static constexpr auto kMeta =
        meta("set_saturation_logits", Kind::edit, field("logits", &SetSaturationLogits::logits));
    friend void carry_out(AppState& state, const SetSaturationLogits& action);
};
/// Five fixed logits at d_k = 64: 16.1, 24.0, 9.8, 32.4 and 17.8 %.
struct ShowFiveBars {
    static constexpr auto kMeta = meta("show_five_bars", Kind::edit);
    friend void carry_out(AppState& state, const ShowFiveBars& action);
};
/// The derivative by the raw score, and more numbers of the row shown. Not undone.
struct ShowSaturationDetails {
    bool on;
    static constexpr auto kMeta =
        meta("show_saturation_details", Kind::plain, field("on", &ShowSaturationDetails::on));
    friend void carry_out(AppState& state, const ShowSaturationDetails& action);
};
/// The curves for `settings`.
struct SweepReady {
    SaturationSettings settings;
    std::shared_ptr<const std::vector<SaturationPoint>> sweep{};  // null: `fault` says why
    double elapsed_ms = 0.0;
    std::string fault{};
    static constexpr auto kMeta = unwritten(Kind::answer);
    friend void carry_out(AppState& state, const SweepReady& action);
};

using SaturationActions =
    ActionList<SetSaturationModel, SetSaturationWidth, PinSaturation, SetSaturationKeys,
               SetSaturationDraws, SetSaturationSeed, Redraw, SetSaturationLogits, ShowFiveBars,
               ShowSaturationDetails, SweepReady>;

}  // namespace attn::view
