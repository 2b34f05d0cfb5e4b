#include "app/workspaces/cost/view.h"
#include "tests/view/claims/claims.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const CostView& v) {
    texts.add_all(v.sentence, v.note, v.notes, v.plot, v.measure.text, v.status);
    for (const CostCardView& each : v.cards) texts.add_all(each.title, each.limit, each.tooltip);
    for (const CostFieldView& each : v.fields) texts.add(each.text);
    for (const CostTimeView& each : v.measure.times) texts.add_all(each.ratio, each.tooltip);
}

void add_cost_texts(ScreenTexts& texts, const AppState& state) {
    texts.add(build_cost_view(state, kClaimMemory));
}

}  // namespace attn::view
