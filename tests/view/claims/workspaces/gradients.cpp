#include "app/workspaces/gradients/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const CompetitionToken& v) { texts.add(v.tip); }

void add_texts(ScreenTexts& texts, const CompetitionView& v) {
    texts.add_all(v.missing_data, v.title, v.formula, v.sum, v.why, v.tokens);
}

void add_texts(ScreenTexts& texts, const GradientsView& v) {
    texts.add_all(v.missing_data, v.point, v.notes, v.badge, v.badge_tip, v.competition, v.grids,
                  v.status);
}

void add_gradients_texts(ScreenTexts& texts, const AppState& state) {
    texts.add(build_gradients_view(state));
}

}  // namespace attn::view
