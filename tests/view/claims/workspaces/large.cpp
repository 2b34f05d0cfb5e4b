#include "app/workspaces/large/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const LargeView& v) {
    texts.add_all(v.hint, v.fault, v.title, v.quality, v.hover_text, v.legend.title, v.legend.nan,
                  v.legend.note, v.pass.text, v.pass.detail, v.roofline.text, v.roofline.tooltip,
                  v.not_finite, v.picture_tip, v.needle_reason, v.top_title, v.found_title,
                  v.inspector, v.bottom_line);
}

void add_large_texts(ScreenTexts& texts, const AppState& state) {
    texts.add(build_large_view(state));
}

}  // namespace attn::view
