#include <algorithm>

#include "app/workspaces/numerics/actions.h"
#include "app/workspaces/numerics/row.h"

namespace attn::view {
void describe(Visitor& visit, NumericsControls& controls) {
    constexpr std::string_view kRows[] = {"typed", "document"};
    visit("row", controls.row, kRows, {.words = "row of logits"});
    visit("logits", controls.logits);
    visit("gain", controls.gain,
          {.tip = "s = gain · x: every logit is multiplied by it\nPowers of two are stops. ← and → "
                  "go from one to the next.",
           .low = 1,
           .high = kMostGain});
    if (!visit.reads()) return;
    if (auto fine = check_logits(controls.logits); !fine)
        visit.complain(": " + fine.error().sentence);
}

void describe(Visitor& visit, NumericsLook& look) {
    visit("algorithm", look.algorithm, kAlgorithmNames);
    visit("format", look.format, kFormatNames);
    visit("key", look.key, {.low = 0, .high = kMostNumericsKeys - 1});
}

Result<void> prepare(const AppState& state, NumericsControls& next, std::string_view changed) {
    if (changed == "logits") next.row = LogitRow::typed;
    if (changed != "row" || next.row == LogitRow::typed) return {};
    return document_logits(state).map([](const auto&) {});
}

void carry_out(AppState& state, const SelectNumericsCell& action) {
    const Index keys = std::ssize(shown_logits(state));
    numerics_look(state) = {action.algorithm, action.format,
                            std::clamp<Index>(action.key, 0, keys - 1)};
}

void carry_out(AppState& state, const NumericsReady& action) {
    numerics_curves(state) = {action.sweep, action.logits, action.elapsed_ms};
}

}  // namespace attn::view
