#include "app/workspaces/masks/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const SwitchView& v) {
    texts.add_all(v.text, v.count, v.possible, v.tip);
}

void add_texts(ScreenTexts& texts, const ConventionView& v) { texts.add_all(v.verdict, v.tip); }

void add_texts(ScreenTexts& texts, const MasksView& v) {
    texts.add_all(v.point, v.unavailable, v.grids, v.hover_text, v.notes, v.switches);
    for (const ConventionGroup& group : v.groups) texts.add(group.rows);
}

void add_masks_texts(ScreenTexts& texts, const AppState& state) {
    texts.add(build_masks_view(state));
}

}  // namespace attn::view
