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
struct SetSaturationScaling {
    bool on;
    static constexpr auto kMeta =
        meta("set_saturation_scaling", Kind::edit, field("on", &SetSaturationScaling::on));
    friend void carry_out(AppState& state, const SetSaturationScaling& action);
};
struct SetSaturationKeys {
    Index keys;
    static constexpr auto kMeta =
        meta("set_saturation_keys", Kind::drag, field("keys", &SetSaturationKeys::keys));
    friend void carry_out(AppState& state, const SetSaturationKeys& action);
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
/// The curves for `settings`.
struct SweepReady {
    SaturationSettings settings;
    std::shared_ptr<const std::vector<SaturationPoint>> sweep{};  // null: `fault` says why
    double elapsed_ms = 0.0;
    std::string fault{};
    static constexpr auto kMeta = unwritten(Kind::answer);
    friend void carry_out(AppState& state, const SweepReady& action);
};

using SaturationActions = ActionList<SetSaturationModel, SetSaturationWidth, SetSaturationScaling,
                                     SetSaturationKeys, SetSaturationSeed, Redraw, SweepReady>;

}  // namespace attn::view
