#include "app/workspaces/tensors/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const TensorsView& v) {
    texts.add_all(v.point, v.reason, v.question, v.empty, v.unused);
    for (const TensorLine& each : v.lines) texts.add(each.cells);
    for (const TensorHead& each : v.heads) texts.add(each.tip);
    if (v.detail) texts.add_all(v.detail->lines, v.detail->pending);
}

void add_tensors_texts(ScreenTexts& texts, const AppState& state) {
    texts.add(build_tensors_view(state));
}

}  // namespace attn::view
