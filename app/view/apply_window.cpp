#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/view/apply_parts.h"
#include "app/view/commands.h"
#include "app/view/edits.h"

namespace attn::view {

void carry_out(AppState&, const EndGesture&) {}  // apply() ends every gesture

void carry_out(AppState& state, const Undo&) {
    if (state.now == 0) return say(state, "Nothing to undo.");
    travel(state, state.now - 1, fmt::format("Undone: {}.", state.history[state.now].words));
}

void carry_out(AppState& state, const Redo&) {
    if (state.now + 1 == state.history.size()) return say(state, "Nothing to redo.");
    travel(state, state.now + 1, fmt::format("Redone: {}.", state.history[state.now + 1].words));
}

void carry_out(AppState& state, const SetTheme& action) { state.theme = action.theme; }

void carry_out(AppState& state, const SetUiScale& action) {
    if (!std::isfinite(action.scale)) return;
    state.ui_scale = std::clamp(action.scale, 1.0, 2.0);
    say(state, fmt::format("Scale {:.0f} %.", 100.0 * state.ui_scale));
}

void carry_out(AppState& state, const SetReducedMotion& action) {
    state.reduced_motion = action.on;
    if (action.on) state.step.fade = 1.0;
    say(state, action.on ? "Reduced motion: stages change at once." : "Stages cross-fade.");
}

void carry_out(AppState& state, const ShowHelp& action) {
    state.show_help = action.on;
    if (action.on) state.show_palette = false;
}

void carry_out(AppState& state, const ShowPalette& action) {
    state.show_palette = action.on;
    if (action.on) state.show_help = false;
    state.palette_query.clear();
    state.palette_row = 0;
}

void carry_out(AppState& state, const SetPaletteQuery& action) {
    state.palette_query = action.query;
    state.palette_row = 0;
}

void carry_out(AppState& state, const MovePalette& action) {
    const Index rows = static_cast<Index>(find_commands(state, state.palette_query).size());
    const Index to = static_cast<Index>(state.palette_row) + action.rows;
    state.palette_row =
        static_cast<std::size_t>(std::clamp(to, Index{0}, std::max(rows, Index{1}) - 1));
}

void carry_out(AppState& state, const RunPaletteRow&) {
    const std::vector<Command> found = find_commands(state, state.palette_query);
    const std::size_t row = state.palette_row;
    carry_out(state, ShowPalette{false});
    if (row >= found.size()) return;
    if (!found[row].enabled)
        return say(state, fmt::format("{}: {}", found[row].words, found[row].why_not),
                   Severity::warning);
    view::apply(state, found[row].action);
}

void carry_out(AppState& state, const Notify& action) { state.message = action.message; }
void carry_out(AppState& state, const TakeScreenshot&) { state.requests.screenshot = true; }
void carry_out(AppState& state, const SaveSession&) { state.requests.save_session = true; }
void carry_out(AppState& state, const Quit&) { state.requests.quit = true; }

}  // namespace attn::view
