#include <algorithm>

#include <fmt/format.h>

#include "app/view/common/logits.h"
#include "app/view/document/edits.h"
#include "app/view/numerics/actions.h"
#include "app/view/numerics/row.h"

namespace attn::view {
namespace {

/// Changes a copy, checks it, and makes it the present one.
template <class Change>
void change_numerics(AppState& state, const std::string& words, Change&& change_controls) {
    NumericsControls controls = state.numerics();
    change_controls(controls);
    if (auto fine = check_controls(controls); !fine) return say(state, fine.error());
    edit_numerics(state, std::move(controls), words);
}

}  // namespace

void carry_out(AppState& state, const SetNumericsGain& action) {
    change_numerics(state, fmt::format("Gain {}", action.gain),
                    [&](NumericsControls& controls) { controls.gain = action.gain; });
}

void carry_out(AppState& state, const SetNumericsLogits& action) {
    change_numerics(state, fmt::format("Logits {}", listed(action.logits)),
                    [&](NumericsControls& controls) {
                        controls.row = LogitRow::typed;
                        controls.logits = action.logits;
                    });
}

void carry_out(AppState& state, const SetNumericsRow& action) {
    const bool document = action.row == LogitRow::document;
    if (document)
        if (const auto row = document_logits(state); !row) return say(state, row.error());
    change_numerics(state, document ? "The row of the document" : "The typed logits",
                    [&](NumericsControls& controls) { controls.row = action.row; });
}

void carry_out(AppState& state, const SelectNumericsCell& action) {
    const Index keys = std::ssize(shown_logits(state));
    state.numerics_look = {action.algorithm, action.format,
                           std::clamp<Index>(action.key, 0, keys - 1)};
}

void carry_out(AppState& state, const NumericsReady& action) {
    state.numerics_curves = {action.sweep, action.logits, action.elapsed_ms};
}

}  // namespace attn::view
