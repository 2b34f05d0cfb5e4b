#include "app/workspaces/positions/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const PositionsView& v) {
    texts.add_all(v.sentence, v.muted, v.note, v.hero);
}

void add_positions_texts(ScreenTexts& texts, const AppState& state) {
    texts.add(build_positions_view(state));
}

}  // namespace attn::view
