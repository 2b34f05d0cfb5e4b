#include "app/view/saturation/view.h"

#include <doctest/doctest.h>

#include <cmath>

#include "app/view/saturation/requests.h"

using namespace attn;
using namespace attn::view;

namespace {

AppState saturation_state(SaturationModel model, Index d_k) {
    AppState state;
    Edit edit;
    edit.saturation.settings.model = model;
    edit.saturation.d_k = d_k;
    state.history = {edit};
    return state;
}

AppState with_sweep(AppState state) {
    state.curves.settings = state.saturation().settings;
    state.curves.sweep = std::make_shared<const std::vector<SaturationPoint>>(
        saturation_sweep(state.curves.settings, sweep_widths()).value());
    return state;
}

std::string text_of(const SaturationSideView& side, std::string_view label) {
    for (const Readout& readout : side.readouts)
        if (readout.label == label) return readout.text;
    return "no such read-out";
}

}  // namespace

TEST_CASE("fixed logits at d_k = 64: five bars, and a note that they add to 100.1 %") {
    const SaturationView view =
        build_saturation_view(saturation_state(SaturationModel::fixed_logits, 64));
    std::vector<std::string> texts;
    for (const BarView& bar : view.scaled.bars) texts.push_back(bar.text);
    CHECK(texts == std::vector<std::string>{"16.1 %", "24.0 %", "9.8 %", "32.4 %", "17.8 %"});
    CHECK(view.scaled.rounding_note == "rounded: adds to 100.1 %");
    CHECK(view.scaled.bars[3].bare == "32.4");
}

TEST_CASE("read-outs name the variable: the slope for s and for the raw score z") {
    const SaturationView view =
        build_saturation_view(saturation_state(SaturationModel::fixed_logits, 64));
    CHECK(text_of(view.scaled, "∂p_max/∂s_max") == "0.2190");
    CHECK(text_of(view.scaled, "∂p_max/∂z_max") == "0.0274");
    CHECK(text_of(view.unscaled, "∂p_max/∂z_max") == "0.0845");
    CHECK(text_of(view.scaled, "‖J‖_F") == "0.4064");
    CHECK(text_of(view.scaled, "evenness") == "95.4 %");
    CHECK(text_of(view.unscaled, "max probability") == "90.7 %");
    for (const SaturationSideView* side : {&view.scaled, &view.unscaled})
        for (const Readout& readout : side->readouts) CHECK_FALSE(readout.formula.empty());
}

TEST_CASE("verdicts follow the evenness, at the thresholds that are shown") {
    CHECK(verdict_of(1.0) == Verdict::healthy);
    CHECK(verdict_of(0.5) == Verdict::healthy);
    CHECK(verdict_of(0.4999) == Verdict::saturating);
    CHECK(verdict_of(0.1) == Verdict::saturating);
    CHECK(verdict_of(0.0999) == Verdict::saturated);
    CHECK(verdict_of(std::nan("")) == Verdict::saturated);
    const SaturationView view =
        build_saturation_view(saturation_state(SaturationModel::fixed_logits, 256));
    CHECK(view.scaled.verdict == Verdict::healthy);
    CHECK(view.unscaled.verdict == Verdict::saturated);
    CHECK(view.unscaled.verdict_rule == "evenness ≥ 50 % is healthy, < 10 % saturated");
}

TEST_CASE("the scaling switch picks the Jacobian that is drawn") {
    AppState state = saturation_state(SaturationModel::fixed_logits, 64);
    const SaturationView scaled = build_saturation_view(state);
    state.history[0].saturation.scaling = false;
    const SaturationView unscaled = build_saturation_view(state);
    CHECK(scaled.scaled.focused);
    CHECK(unscaled.unscaled.focused);
    CHECK(scaled.jacobian.rows == 5);
    // J[4,4] = p_max (1 − p_max)
    CHECK(scaled.jacobian.at(3, 3).value == doctest::Approx(0.2190).epsilon(1e-3));
    CHECK(unscaled.jacobian.at(3, 3).value == doctest::Approx(0.0845).epsilon(1e-3));
}

TEST_CASE("five plots, each with its curves, and the marker on the row shown") {
    const AppState state = with_sweep(saturation_state(SaturationModel::sampled, 64));
    const SaturationView view = build_saturation_view(state);
    REQUIRE(view.plots.size() == 5);
    for (const PlotView& plot : view.plots) {
        CHECK(plot.marker_x == 64.0);
        CHECK(plot.marker_ys.size() == plot.curves.size());
        CHECK(plot.marker_texts.size() == plot.curves.size());
        CHECK(plot.x_ticks.size() == plot.x_tick_labels.size());
        CHECK(plot.y_ticks.size() == plot.y_tick_labels.size());
        for (const CurveView& curve : plot.curves) CHECK(curve.x.size() == sweep_widths().size());
    }
    CHECK(view.plots[0].curves[1].label == "unscaled");
    CHECK(view.plots[0].marker_texts[1] == text_of(view.unscaled, "max probability"));
    CHECK(view.plots[3].marker_texts[0] == text_of(view.scaled, "‖J‖_F, raw"));
    CHECK(view.plots[4].curves[2].y == view.plots[4].curves[2].x);  // the line d_k
}

TEST_CASE("bands for sampled scores, none for fixed logits") {
    const auto plots_of = [](SaturationModel model) {
        return build_saturation_view(with_sweep(saturation_state(model, 64))).plots;
    };
    CHECK(plots_of(SaturationModel::sampled)[1].curves[1].low.size() == sweep_widths().size());
    CHECK(plots_of(SaturationModel::fixed_logits)[1].curves[1].low.empty());
}

TEST_CASE("without a sweep the curves are empty and the status says why") {
    const SaturationView view =
        build_saturation_view(saturation_state(SaturationModel::sampled, 64));
    CHECK(view.plots[0].curves[0].x.empty());
    CHECK(view.status == "computing the curves…");
}

TEST_CASE("curves of older settings are marked stale") {
    AppState state = with_sweep(saturation_state(SaturationModel::sampled, 64));
    CHECK_FALSE(build_saturation_view(state).stale);
    state.history[0].saturation.settings.keys = 32;
    CHECK(build_saturation_view(state).stale);
}

TEST_CASE("scores that overflow show NaN") {
    AppState state = saturation_state(SaturationModel::fixed_logits, 4096);
    state.history[0].saturation.settings.logits = {1e308, 0.0};
    const SaturationView view = build_saturation_view(state);
    CHECK(view.unscaled.bars[0].text == "NaN");
    CHECK(text_of(view.unscaled, "evenness") == "NaN");
    CHECK(view.unscaled.verdict == Verdict::saturated);
    CHECK(view.unscaled.rounding_note.empty());
}

TEST_CASE("256 keys: a Jacobian without numbers in its cells") {
    AppState state = saturation_state(SaturationModel::sampled, 64);
    state.history[0].saturation.settings.keys = 256;
    const SaturationView view = build_saturation_view(state);
    CHECK(view.jacobian.rows == 256);
    CHECK(view.jacobian.cells.size() == 256u * 256u);
    CHECK(view.jacobian.at(0, 0).text.empty());
    CHECK(view.scaled.bars.size() == 256);
}
