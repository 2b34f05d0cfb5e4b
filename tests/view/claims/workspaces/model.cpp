#include "app/workspaces/model/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const ModelView& v) {
    texts.add_all(v.missing_data, v.headline, v.muted, v.notes, v.status, v.grid);
    for (const KnownModelRow& row : v.known) texts.add(row.tip);
    for (const ModelRow& row : v.rows) {
        texts.add(row.tip);
        for (const ModelBar& bar : row.bars) texts.add(bar.tip);
    }
}

void add_model_texts(ScreenTexts& texts, const AppState& state) {
    texts.add(build_model_view(state));
}

}  // namespace attn::view
