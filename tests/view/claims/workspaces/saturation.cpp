#include "app/workspaces/saturation/gradients.h"
#include "app/workspaces/saturation/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const GradientTab& v) {
    texts.add_all(v.text, v.tooltip, v.plot);
}

void add_texts(ScreenTexts& texts, const GradientNumber& v) { texts.add(v.tooltip); }

void add_texts(ScreenTexts& texts, const GradientsOverWidth& v) {
    texts.add_all(v.sentence, v.note, v.closing, v.tabs);
    if (!v.ready) return;
    texts.add_all(v.plot, v.dead_text, v.dead_scaled, v.medians, v.means, v.none, v.strip_text);
    texts.add_labelled("Between the medians", v.lost);
    texts.add_labelled("Change of the median", v.typical);
    texts.add_labelled("Rows with almost no gradient, with", v.none.scaled);
    texts.add_labelled("Rows with almost no gradient, without", v.none.unscaled);
}

void add_texts(ScreenTexts& texts, const ComparedNumber& v) { texts.add_all(v.formula, v.tooltip); }

void add_texts(ScreenTexts& texts, const BarView& v) { texts.add(v.tooltip); }

void add_texts(ScreenTexts& texts, const SaturationSideView& v) {
    texts.add_all(v.bars, v.rounding_note, v.note, v.jacobian);
}

void add_texts(ScreenTexts& texts, const StopView& v) { texts.add(v.tooltip); }

void add_texts(ScreenTexts& texts, const HeroView& v) {
    texts.add_all(v.plot, v.headline, v.headline_range, v.stops, v.stops_caption);
    texts.add_labelled("Between the curves", v.gap_label);
}

void add_texts(ScreenTexts& texts, const SaturationView& v) {
    texts.add_all(v.model_text, v.sentence, v.note, v.status);
    if (v.gradients) return texts.add(*v.gradients);
    texts.add_all(v.hero, v.plots, v.table.caption, v.table.rows, v.table.rule, v.row_caption,
                  v.scaled, v.unscaled, v.details.sentence, v.details.caption, v.details.rows,
                  v.details.raw);
    if (v.table.scaled) texts.add_labelled("Softmax with scaling", v.table.scaled->text);
    if (v.table.unscaled) texts.add_labelled("Softmax without scaling", v.table.unscaled->text);
}

void add_saturation_texts(ScreenTexts& texts, const AppState& state) {
    texts.add(build_saturation_view(state));
}

}  // namespace attn::view
