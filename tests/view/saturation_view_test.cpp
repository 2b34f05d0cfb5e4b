#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/text.h"
#include "app/workspaces/saturation/view.h"
#include "core/train/run.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

constexpr Index kFewDraws = 21;

/// Softmax alone: the details.
AppState saturation_state(SaturationModel model, Index d_k) {
    AppState state;
    saturation_look(state).details = true;
    Edit edit;
    auto& controls = edit.controls.edit<SaturationControls>();
    controls.settings.model = model;
    controls.settings.trials = kFewDraws;
    controls.d_k = d_k;
    controls.draw = 0;
    state.history = {edit};
    return state;
}

SaturationControls& controls_of(AppState& state) {
    return state.history[0].controls.edit<SaturationControls>();
}

AppState with_sweep(AppState state) {
    saturation_curves(state).settings = saturation_controls(state).settings;
    saturation_curves(state).sweep = std::make_shared<const std::vector<SaturationPoint>>(
        saturation_sweep(saturation_curves(state).settings,
                         wanted_widths(saturation_controls(state)))
            .value());
    return state;
}

SaturationView view_of(SaturationModel model, Index d_k) {
    return build_saturation_view(with_sweep(saturation_state(model, d_k)));
}

const ComparedNumber& number_of(const std::vector<ComparedNumber>& rows, std::string_view label) {
    return one_of(rows, label, &ComparedNumber::label);
}

double at(const CurveView& curve, double d_k) {
    for (std::size_t n = 0; n < curve.x.size(); ++n)
        if (curve.x[n] == d_k) return curve.y[n];
    return std::nan("");
}

}  // namespace

TEST_CASE("fixed logits at d_k = 64: five bars that add to 100.1 %, numbers of both sides") {
    SaturationView view = view_of(SaturationModel::fixed_logits, 64);
    std::vector<std::string> texts;
    for (const BarView& bar : view.scaled.bars) texts.push_back(bar.text);
    CHECK(texts == std::vector<std::string>{"16.1 %", "24.0 %", "9.8 %", "32.4 %", "17.8 %"});
    CHECK(view.scaled.rounding_note == "rounded: adds up to 100.1 %");
    CHECK(view.scaled.bars[3].bare == "32.4");
    CHECK(view.scaled.note == "p_max(1 − p_max) = 0.2190");
    AppState state = with_sweep(saturation_state(SaturationModel::fixed_logits, 64));
    saturation_look(state).raw = true;
    view = build_saturation_view(state);
    REQUIRE(view.table.rows.size() == 3);
    CHECK(number_of(view.table.rows, "p_max").scaled == "32.4 %");
    CHECK(number_of(view.table.rows, "p_max").unscaled == "90.7 %");
    CHECK(number_of(view.table.rows, "evenness").scaled == "95.4 %");
    CHECK(number_of(view.table.rows, "evenness").unscaled == "21.8 %");
    CHECK(number_of(view.table.rows, "‖J‖_F").scaled == "0.4064");
    const std::vector<ComparedNumber>& more = view.details.rows;
    CHECK(number_of(more, "∂p_max/∂z_max").scaled == "0.2190");
    CHECK(number_of(more, "∂p_max/∂s_max").scaled == "0.0274");
    CHECK(number_of(more, "∂p_max/∂s_max").unscaled == "0.0845");
    CHECK(number_of(more, "‖J‖_F").scaled == "0.4064");
    CHECK(number_of(more, "‖J‖₂").scaled == "0.2863");
    for (const ComparedNumber& row : more) CHECK_FALSE(row.formula.empty());
}

TEST_CASE("verdicts follow the evenness, at the thresholds that are shown") {
    CHECK(verdict_of(1.0) == Verdict::healthy);
    CHECK(verdict_of(0.5) == Verdict::healthy);
    CHECK(verdict_of(0.4999) == Verdict::saturating);
    CHECK(verdict_of(0.1) == Verdict::saturating);
    CHECK(verdict_of(0.0999) == Verdict::saturated);
    CHECK(verdict_of(std::nan("")) == Verdict::saturated);
    const SaturationView view = view_of(SaturationModel::fixed_logits, 256);
    REQUIRE(view.table.scaled);
    REQUIRE(view.table.unscaled);
    CHECK(view.table.scaled->verdict == Verdict::healthy);
    CHECK(view.table.unscaled->verdict == Verdict::saturated);
    CHECK(view.table.rule == "evenness ≥ 50 % is healthy, < 10 % saturated");
}

TEST_CASE("table and verdict are of the medians: another draw changes the bars alone") {
    AppState state = with_sweep(saturation_state(SaturationModel::sampled, 64));
    const SaturationView first = build_saturation_view(state);
    controls_of(state).draw = 1;
    const SaturationView second = build_saturation_view(state);
    CHECK(first.unscaled.bars[0].value != second.unscaled.bars[0].value);
    CHECK(first.sentence == second.sentence);
    CHECK(first.row_caption != second.row_caption);
    for (std::size_t n = 0; n < first.table.rows.size(); ++n)
        CHECK(first.table.rows[n].unscaled == second.table.rows[n].unscaled);
    CHECK(first.table.unscaled->verdict == second.table.unscaled->verdict);
}

TEST_CASE("a verdict that so few draws leave open is none") {
    bool open = false, resolved = false;
    for (const Index d_k : sweep_widths()) {
        const AppState state = with_sweep(saturation_state(SaturationModel::sampled, d_k));
        const SaturationView view = build_saturation_view(state);
        for (const SaturationPoint& point : *saturation_curves(state).sweep) {
            if (point.d_k != d_k) continue;
            const Band& evenness = point.unscaled.evenness;
            const bool border = verdict_of(evenness.sure_low) != verdict_of(evenness.sure_high);
            CAPTURE(d_k);
            CHECK((view.table.unscaled->text == "borderline") == border);
            open |= border;
            resolved |= !border;
        }
    }
    CHECK(open);
    CHECK(resolved);
}

TEST_CASE("both Jacobians are drawn on one scale, which the larger one fills") {
    const SaturationView view = view_of(SaturationModel::fixed_logits, 64);
    const GridView& scaled = view.scaled.jacobian;
    const GridView& unscaled = view.unscaled.jacobian;
    CHECK(scaled.rows == 5);
    CHECK(scaled.range.low == unscaled.range.low);
    CHECK(scaled.range.high == unscaled.range.high);
    CHECK(scaled.range.low == -scaled.range.high);
    // J[3,3] = p_max (1 − p_max)
    CHECK(scaled.at(3, 3).value == doctest::Approx(0.2190).epsilon(1e-3));
    CHECK(unscaled.at(3, 3).value == doctest::Approx(0.0845).epsilon(1e-3));
    double most = 0.0;
    for (const GridView* grid : {&scaled, &unscaled})
        for (const CellView& cell : grid->cells) most = std::max(most, std::abs(cell.value));
    CHECK(scaled.range.high >= most);
    CHECK(scaled.range.high <= 2.0 * most);
}

TEST_CASE("every plot has its curves, and its points are the curves at the handle") {
    AppState state = with_sweep(saturation_state(SaturationModel::sampled, 64));
    saturation_look(state).raw = true;
    const SaturationView view = build_saturation_view(state);
    REQUIRE(view.plots.size() == 3);
    std::vector<const PlotView*> plots{&view.hero.plot, &view.details.raw};
    for (const PlotView& plot : view.plots) plots.push_back(&plot);
    for (const PlotView* plot : plots) {
        CHECK(plot->marker_x == 64.0);
        REQUIRE(plot->marker_ys.size() == plot->curves.size());
        CHECK(plot->marker_texts.size() == plot->curves.size());
        CHECK(plot->x_ticks.size() == plot->x_tick_labels.size());
        CHECK(plot->y_ticks.size() == plot->y_tick_labels.size());
        for (std::size_t n = 0; n < plot->curves.size(); ++n) {
            CHECK(plot->curves[n].x.size() == sweep_widths().size());
            CHECK(plot->marker_ys[n] == at(plot->curves[n], 64.0));
            for (const double y : plot->curves[n].y) CHECK_FALSE(y > plot->y_high);
        }
    }
    CHECK(view.plots[0].marker_texts[1] == number_of(view.table.rows, "p_max").unscaled);
    CHECK(view.hero.plot.marker_texts[0] == number_of(view.table.rows, "‖J‖_F").scaled);
    CHECK(view.plots[2].curves[0].y == view.plots[2].curves[0].x);  // the line d_k
}

TEST_CASE("the gap is shaded between the curves, where the scaled one is upper, if there is one") {
    for (const Index keys : {2, 5, 16, 64}) {
        AppState state = saturation_state(SaturationModel::sampled, 64);
        controls_of(state).settings.keys = keys;
        const HeroView hero = build_saturation_view(with_sweep(state)).hero;
        REQUIRE_FALSE(hero.gaps.empty());
        CHECK(hero.gap_label == "gradient lost");
        for (const GapView& gap : hero.gaps)
            for (std::size_t n = 0; n < gap.x.size(); ++n) {
                CHECK(gap.high[n] >= gap.low[n]);
                if (n > 0) CHECK(gap.x[n] > gap.x[n - 1]);
                const double scaled = at(hero.plot.curves[0], gap.x[n]);
                if (!std::isnan(scaled)) CHECK(gap.high[n] == scaled);
            }
        const std::vector<double>& xs = hero.plot.curves[0].x;
        for (const GapView& gap : hero.gaps)  // a piece ends where the curves meet, or end
            for (const std::size_t n : {std::size_t{0}, gap.x.size() - 1})
                CHECK((gap.high[n] == doctest::Approx(gap.low[n]) || gap.x[n] == xs.front() ||
                       gap.x[n] == xs.back()));
        std::size_t covered = 0, wanted = 0;
        for (const double x : hero.plot.curves[0].x) {
            wanted += at(hero.plot.curves[0], x) > at(hero.plot.curves[1], x) ? 1 : 0;
            for (const GapView& gap : hero.gaps)
                for (std::size_t n = 0; n < gap.x.size(); ++n)
                    covered += gap.x[n] == x && gap.high[n] > gap.low[n] ? 1 : 0;
        }
        CHECK(covered == wanted);
    }
    AppState state = saturation_state(SaturationModel::fixed_logits, 64);
    controls_of(state).settings.logits = {1.0, 1.0, 1.0};
    const HeroView hero = build_saturation_view(with_sweep(state)).hero;
    CHECK(hero.gaps.empty());
    CHECK(hero.gap_label.empty());
}

TEST_CASE("the factor from the pinned d_k is the ratio of the unscaled curve") {
    for (const Index pin : {1, 4, 64, 100})
        for (const Index d_k : {4, 100, 512}) {
            AppState state = saturation_state(SaturationModel::sampled, d_k);
            controls_of(state).pin = pin;
            const HeroView hero = build_saturation_view(with_sweep(state)).hero;
            if (pin == d_k) {
                CHECK(has(hero.headline, "is pinned"));
                continue;
            }
            const std::string text = change_text(at(hero.plot.curves[1], static_cast<double>(pin)),
                                                 at(hero.plot.curves[1], static_cast<double>(d_k)));
            CHECK(hero.headline.starts_with("d_k " + std::to_string(pin) + " → " +
                                            std::to_string(d_k) + ": gradient " + text +
                                            " without scaling,"));
            CHECK(hero.pin_y == at(hero.plot.curves[1], static_cast<double>(pin)));
        }
}

TEST_CASE("under each power of two stands its factor, whatever the handle's place") {
    const HeroView hero = view_of(SaturationModel::sampled, 64).hero;
    REQUIRE(hero.stops.size() == sweep_widths().size());
    const double before = at(hero.plot.curves[1], 4.0);
    for (const StopView& stop : hero.stops) {
        const double after = at(hero.plot.curves[1], static_cast<double>(stop.d_k));
        CHECK(stop.change == (stop.d_k == 4 ? "pin" : change_tick(before, after)));
        CHECK_FALSE(stop.tooltip.empty());
    }
}

TEST_CASE("bands for sampled scores, none for fixed logits; no curves without a sweep") {
    CHECK(view_of(SaturationModel::sampled, 64).plots[1].curves[1].low.size() ==
          sweep_widths().size());
    CHECK(view_of(SaturationModel::fixed_logits, 64).plots[1].curves[1].low.empty());
    const SaturationView view =
        build_saturation_view(saturation_state(SaturationModel::sampled, 64));
    CHECK(view.plots[0].curves[0].x.empty());
    CHECK(view.status == "computing the curves…");
    CHECK(view.sentence.starts_with("Computing"));
    CHECK(view.table.rows[0].scaled == "…");
    CHECK_FALSE(view.table.scaled);
    CHECK(view.stale);
}

TEST_CASE("a d_k between the powers of two is asked for, and then stands on the curves") {
    AppState state = with_sweep(saturation_state(SaturationModel::sampled, 64));
    state.workspace = "saturation";
    CHECK_FALSE(requested_sweep(state));
    controls_of(state).d_k = 100;
    const auto request = requested_sweep(state);
    REQUIRE(request);
    CHECK(build_saturation_view(state).sentence.starts_with("Computing at d_k = 100"));
    CHECK_FALSE(requested_sweep(acted(state, {run(*request, {})})));
    const SaturationView view = build_saturation_view(state);
    CHECK(
        view.sentence.starts_with("Without scaling, the scores have standard deviation √100 = 10"));
    CHECK(view.hero.plot.curves[0].x.size() == sweep_widths().size() + 1);
    controls_of(state).d_k = 64;
    CHECK_FALSE(requested_sweep(state));
    CHECK(build_saturation_view(state).hero.plot.curves[0].x.size() == sweep_widths().size());
}

TEST_CASE("curves of older settings are stale; overflow is NaN; 256 keys have no numbers") {
    AppState state = with_sweep(saturation_state(SaturationModel::sampled, 64));
    CHECK_FALSE(build_saturation_view(state).stale);
    controls_of(state).settings.keys = 32;
    SaturationView view = build_saturation_view(state);
    CHECK(view.stale);
    CHECK(has(view.note, "16 keys"));
    state = saturation_state(SaturationModel::fixed_logits, 4096);
    controls_of(state).settings.logits = {1e308, 0.0};
    view = build_saturation_view(with_sweep(state));
    CHECK(view.unscaled.bars[0].text == "NaN");
    CHECK(number_of(view.table.rows, "evenness").unscaled == "NaN");
    CHECK(view.table.unscaled->verdict == Verdict::saturated);
    CHECK(view.unscaled.rounding_note.empty());
    CHECK(has(view.sentence, "the weights and all gradients are NaN"));
    state = saturation_state(SaturationModel::sampled, 64);
    controls_of(state).settings.keys = 256;
    view = build_saturation_view(state);
    CHECK(view.scaled.jacobian.rows == 256);
    CHECK(view.scaled.jacobian.cells.size() == 256u * 256u);
    CHECK(view.scaled.jacobian.at(0, 0).text.empty());
    CHECK(view.scaled.bars.size() == 256);
}

TEST_CASE("the handle stops at powers of two within 1 … 4096") {
    CHECK(nearest_stop(0.1) == 1);
    CHECK(nearest_stop(90.0) == 64);
    CHECK(nearest_stop(91.0) == 128);
    CHECK(nearest_stop(1e9) == 4096);
    CHECK(next_stop(64, 1) == 128);
    CHECK(next_stop(64, -1) == 32);
    CHECK(next_stop(100, 1) == 128);
    CHECK(next_stop(100, -1) == 64);
    CHECK(next_stop(1, -1) == 1);
    CHECK(next_stop(4096, 1) == 4096);
}

TEST_CASE("it opens on the sampled model, and the five bars are one action away") {
    AppState state = initial_state();
    CHECK(saturation_controls(state).settings.model == SaturationModel::sampled);
    CHECK(saturation_controls(state).pin == 4);
    CHECK_FALSE(shows_softmax_alone(state));
    acted(state, {SetSaturationLogits{{1.0, 2.0}}, SetSaturationWidth{8}, ShowFiveBars{}});
    CHECK(shows_softmax_alone(state));
    const SaturationView view = build_saturation_view(state);
    REQUIRE(view.scaled.bars.size() == 5);
    CHECK(view.scaled.bars[3].text == "32.4 %");
    CHECK(view.unscaled.bars[3].text == "90.7 %");
    CHECK(saturation_controls(acted(state, {Undo{}})).settings.logits.size() == 2);
}

TEST_CASE("four gradients: asked for while shown; tabs, table and bars are their numbers") {
    AppState state = after(initial_state(), {SetWorkspace{"saturation"}, SetSaturationWidth{512}});
    CHECK_FALSE(requested_sweep(state));
    auto request = requested_gradient_sweep(state);
    REQUIRE(request);
    CHECK(request->sampling.rows >= 10'000);
    CHECK(build_saturation_view(state).sentence == "Computing at d_k = 512…");
    request->sampling.rows = 640;
    SaturationGradients& drawn = saturation_gradients(state);
    drawn.sampling = {.rows = GradientSampling{}.rows};
    drawn.points = std::make_shared<const std::vector<GradientPoint>>(
        gradient_sweep(request->sampling, request->widths).value());
    CHECK_FALSE(requested_gradient_sweep(state));
    const GradientPoint& here = (*drawn.points)[9];
    REQUIRE(here.d_k == 512);
    for (const GradientOf of : {GradientOf::z, GradientOf::s, GradientOf::q, GradientOf::w_q}) {
        play(state, {ShowGradient{of}});
        const SaturationView whole = build_saturation_view(state);
        REQUIRE(whole.gradients);
        const GradientsOverWidth& view = *whole.gradients;
        CHECK(whole.sentence == gradient_sentence(of, here));
        CHECK(view.plot.marker_ys == std::vector<double>{spread_in(here.scaled, of).median(),
                                                         spread_in(here.unscaled, of).median(),
                                                         spread_in(here.scaled, of).mean,
                                                         spread_in(here.unscaled, of).mean});
        CHECK(view.tabs[view.tab].of == of);
        CHECK(view.tabs[view.tab].plot.marker_ys[1] == view.plot.marker_ys[1]);
        CHECK(view.strips[1].ticks.size() == 99);
        CHECK(view.strips[1].median == spread_in(here.unscaled, of).median());
        for (const GradientTab& tab : view.tabs) {
            CHECK(tab.plot.y_high == view.tabs[0].plot.y_high);
            for (const CurveView& curve : tab.plot.curves)
                for (const double y : curve.y) CHECK_FALSE(y > tab.plot.y_high);
        }
    }
    const GradientsOverWidth view = *build_saturation_view(state).gradients;
    REQUIRE(view.dead.size() == sweep_widths().size());
    CHECK(view.dead[9].share == here.unscaled.z.dead);
    CHECK(view.none.unscaled == view.dead[9].text);
    CHECK(view.typical == change_text(here.scaled.w_q.median(), here.unscaled.w_q.median()));
    CHECK(requested_gradient_sweep(after(state, {SetSaturationSeed{2}})));
    CHECK(build_saturation_view(after(state, {SetSaturationKeys{4}})).stale);
    CHECK(requested_sweep(after(state, {ShowSaturationDetails{true}})));
    CHECK_FALSE(requested_gradient_sweep(after(state, {ShowSaturationDetails{true}})));
}

TEST_CASE(
    "the sentence at d_k: at its own width it is the document without scaling; wider, each row "
    "collapses") {
    for (const char* preset : {"the-cat-sat-down", "three-heads", "eight-heads"}) {
        CAPTURE(preset);
        const AppState state = preset_state(preset);
        const Index own = state.document().size.d_k;
        const auto at = [&](const AppState& from, Index d_k) {
            const auto view = sentence_at_width(after(from, {SetSaturationWidth{d_k}}));
            REQUIRE(view);
            return *view;
        };
        const auto weights_of = [](const AppState& from) {
            const Sheet sheet = sheet_of(from, Stage::weights);
            std::vector<double> all;
            for (Index i = 0; i < sheet.values.rows; ++i)
                for (Index j = 0; j < sheet.values.columns; ++j)
                    all.push_back(double{sheet.values(i, j)});
            return all;
        };
        const auto check_alike = [](const std::vector<double>& a, const std::vector<double>& b) {
            REQUIRE(a.size() == b.size());
            for (std::size_t n = 0; n < a.size(); ++n) CHECK(std::abs(a[n] - b[n]) < 1e-5);
        };
        const AppState scaled = after(state, {SetScaling{true}});
        const AppState unscaled = after(state, {SetScaling{false}});
        for (const AppState* const from : {&scaled, &unscaled}) {
            const SentenceAtWidth view = at(*from, own);
            check_alike(view.sides[0].weights, weights_of(scaled));
            check_alike(view.sides[1].weights, weights_of(unscaled));
        }
        const SentenceAtWidth wide = at(scaled, 4096), narrow = at(scaled, 1);
        check_alike(wide.sides[0].weights, narrow.sides[0].weights);  // scaling holds them
        check_alike(narrow.sides[1].weights, narrow.sides[0].weights);
        const std::size_t columns = wide.keys.size();
        const double most = wide.sides[1].weights[wide.query * columns + wide.key];
        CHECK(most > narrow.sides[1].weights[narrow.query * columns + narrow.key]);
        CHECK(wide.sides[1].title.find(wide.keys[wide.key]) != std::string::npos);
        CHECK(wide.sides[1].title.ends_with(percent(most)));
    }
    const AppState state = preset_state("the-cat-sat-down");
    CHECK(build_gradients_over_width(state).sentence_at.has_value());
    CHECK_FALSE(
        build_gradients_over_width(after(state, {ShowSaturationSentence{false}})).sentence_at);
    CHECK_FALSE(sentence_at_width(after(state, {SetSentence{"one"}})));
    const SentenceAtWidth row =
        *sentence_at_width(after(state, {SelectCell{{Stage::weights, 1, 0}}}));
    CHECK(row.query == 1);
}
