#include "app/workspaces/step/heads.h"
#include "app/workspaces/step/predict.h"
#include "app/workspaces/step/sentence.h"
#include "app/workspaces/step/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const RibbonItem& v) { texts.add(v.tooltip); }

void add_texts(ScreenTexts& texts, const RowReadouts& v) { texts.add(v.readouts); }

void add_texts(ScreenTexts& texts, const WordChip& v) { texts.add(v.tooltip); }

void add_texts(ScreenTexts& texts, const HeadPicture& v) { texts.add(v.tooltip); }

void add_texts(ScreenTexts& texts, const FlashView& v) { texts.add(v.text); }

void add_texts(ScreenTexts& texts, const PredictView& v) {
    texts.add_all(v.question, v.total, v.notes);
}

void add_texts(ScreenTexts& texts, const StepView& v) {
    texts.add_all(v.ribbon, v.text, v.read_out, v.hint, v.unavailable, v.operands, v.result, v.rows,
                  v.flash);
    texts.add_all(v.controls.badge, v.controls.window_text, v.controls.heads_text);
    std::string headline;
    for (const HeadlinePart& part : v.headline) headline += part.text;
    if (!headline.empty()) texts.add("Headline: " + headline);
    texts.add(v.headline_tip);
}

void add_texts(ScreenTexts& texts, const SentenceView& v) {
    texts.add_all(v.queries.chips, v.keys.chips, v.text);
}

void add_step_texts(ScreenTexts& texts, const AppState& state) {
    texts.add_all(build_step_view(state), build_sentence_view(state), build_heads_view(state).heads,
                  build_predict_view(state));
}

}  // namespace attn::view
