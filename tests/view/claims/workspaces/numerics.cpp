#include "app/workspaces/numerics/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const NumericsView& v) {
    texts.add_all(v.sentence, v.note, v.why, v.status);
    for (const NumericsColumn& each : v.columns) texts.add_all(each.breaks, each.plot);
    for (const NumericsFormatRow& each : v.rows) texts.add(each.tooltip);
    for (const auto& row : v.cells)
        for (const NumericsCellView& each : row) texts.add_all(each.text, each.cause);
}

void add_numerics_texts(ScreenTexts& texts, const AppState& state) {
    texts.add(build_numerics_view(state));
}

}  // namespace attn::view
