#include "app/workspaces/lookup/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const LookupGridsView& v) {
    texts.add_all(v.missing_data, v.point, v.notes, v.grids);
}

void add_texts(ScreenTexts& texts, const LookupView& v) {
    texts.add_all(v.memory.point, v.memory.notes, v.memory.numbers, v.capacity.point,
                  v.capacity.notes, v.capacity.interference, v.capacity.error,
                  v.capacity.near_cosine, v.similarity.body, v.alignment.body, v.permutation.body,
                  v.status);
    for (const AlignmentRowView& each : v.alignment.rows) texts.add(each.tooltip);
    for (const PlanePointView& each : v.memory.keys) texts.add(each.tooltip);
    for (const PlanePointView& each : v.memory.values) texts.add(each.tooltip);
}

void add_lookup_texts(ScreenTexts& texts, const AppState& state) {
    texts.add(build_lookup_view(state));
}

}  // namespace attn::view
