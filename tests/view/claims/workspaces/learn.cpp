#include "app/workspaces/learn/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const LearnFieldView& v) { texts.add(v.tip); }

void add_texts(ScreenTexts& texts, const LearnView& v) {
    texts.add_all(v.point, v.notes, v.missing_data, v.experiment_names, v.progress, v.plots, v.maps,
                  v.map_text, v.sentence_hint, v.fields, v.lines.summary, v.lines.answer,
                  v.lines.unknown, v.lines.progress);
}

void add_learn_texts(ScreenTexts& texts, const AppState& state) {
    texts.add(build_learn_view(state));
}

}  // namespace attn::view
