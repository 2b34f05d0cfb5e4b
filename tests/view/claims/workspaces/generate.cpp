#include "app/workspaces/generate/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const GenerateView& v) {
    texts.add_all(v.pending, v.headline, v.muted, v.rest, v.strip, v.cache, v.cache_formula,
                  v.lens_title, v.paths_title);
}

void add_generate_texts(ScreenTexts& texts, const AppState& state) {
    texts.add(build_generate_view(state));
}

}  // namespace attn::view
