#include <algorithm>

#include <fmt/format.h>

#include "app/common/document/edits.h"
#include "app/common/logits.h"
#include "app/workspaces/numerics/actions.h"
#include "app/workspaces/numerics/row.h"

namespace attn::view {
namespace {

/// Changes a copy, checks it, and makes it the present one.
template <class Change>
void change_numerics(AppState& state, const std::string& words, Change&& change_controls) {
    NumericsControls controls = numerics_controls(state);
    change_controls(controls);
    if (auto fine = check_controls(controls); !fine) return say(state, fine.error());
    edit_controls(state, std::move(controls), words);
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
    numerics_look(state) = {action.algorithm, action.format,
                            std::clamp<Index>(action.key, 0, keys - 1)};
}

void carry_out(AppState& state, const NumericsReady& action) {
    numerics_curves(state) = {action.sweep, action.logits, action.elapsed_ms};
}

}  // namespace attn::view
