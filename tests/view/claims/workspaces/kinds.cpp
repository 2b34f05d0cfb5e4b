#include "app/workspaces/kinds/online.h"
#include "app/workspaces/kinds/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const KindChoice& v) { texts.add(v.tooltip); }

void add_texts(ScreenTexts& texts, const KindSideView& v) {
    texts.add_all(v.text, v.fault, v.choices, v.weights);
}

void add_texts(ScreenTexts& texts, const OnlineKey& v) { texts.add(v.tooltip); }

void add_texts(ScreenTexts& texts, const OnlineView& v) {
    texts.add_all(v.fault, v.heading, v.sentence, v.keys, v.state, v.result, v.result_text,
                  v.memory);
}

void add_texts(ScreenTexts& texts, const KindsView& v) {
    texts.add_all(v.missing_data, v.sentence, v.note, v.a, v.b, v.difference, v.outputs);
    for (const KindRow& each : v.rows) {
        texts.add_all(each.tooltip, each.between);
        for (const auto& [side, text] : {std::pair("A", each.a), std::pair("B", each.b)})
            if (text.find(' ') != text.npos)
                texts.add(std::string(side) + ", " + each.label + ": " + text);
    }
}

void add_kinds_texts(ScreenTexts& texts, const AppState& state) {
    texts.add_all(build_kinds_view(state), build_online_view(state));
}

}  // namespace attn::view
