#include "app/workspaces/compare/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const CompareView& v) {
    texts.add_all(v.missing_data, v.point, v.point_b, v.grids, v.pins, v.reach.missing_data,
                  v.reach.title);
    for (const ReachLine& each : v.reach.lines) texts.add_all(each.text, each.tip);
}

void add_compare_texts(ScreenTexts& texts, const AppState& state) {
    texts.add(build_compare_view(state));
}

}  // namespace attn::view
