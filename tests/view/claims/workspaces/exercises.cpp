#include "app/workspaces/exercises/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const ExercisesView& v) {
    texts.add_all(v.missing_data, v.status);
    for (const ExercisesView::Question& each : v.questions)
        if (each.checked) texts.add(each.checked->text);
}

void add_exercises_texts(ScreenTexts& texts, const AppState& state) {
    texts.add(build_exercises_view(state));
}

}  // namespace attn::view
