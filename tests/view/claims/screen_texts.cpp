#include "tests/view/claims/screen_texts.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/common/grid.h"
#include "app/common/inspector.h"
#include "app/common/plot.h"
#include "app/common/readout.h"
#include "app/common/state.h"
#include "app/common/workspace.h"
#include "core/check.h"

namespace attn::view {

ScreenTexts::ScreenTexts(const AppState& state) {
    if (state.message.severity == Severity::info) add(state.message.text);
    const WorkspaceInfo& shown = shown_workspace(state);
    add(shown.missing_data(state));
    if (shown.missing_data(state).empty()) {
        const auto row =
            std::ranges::find(workspace_texts(), state.workspace, &WorkspaceTexts::workspace);
        ATTN_CHECK(row != workspace_texts().end(),
                   "tests/view/claims/workspaces has a file for each workspace");
        row->add(*this, state);
    }
    add(shown.inspector(state));
    add(shown.reasons(state));
    std::vector<Command> list;
    shown.add_commands(list, state);
    for (const Command& each : list) add(each.why_not);
}

void ScreenTexts::add_labelled(std::string_view label, std::string_view text) {
    if (!text.empty()) add(fmt::format("{}: {}", label, text));
}

void ScreenTexts::add(const std::string& text) {
    if (text.find(' ') != std::string::npos) texts.push_back(text);
}
void ScreenTexts::add(std::string_view text) { add(std::string(text)); }
void ScreenTexts::add(const Piece& piece) { add(piece.text); }
void ScreenTexts::add(const Line& line) {
    std::string text;
    for (const Piece& each : line.pieces) text += each.text;
    add(line.label.empty() ? text : line.label + ": " + text);
}
void ScreenTexts::add(const InspectorView& inspector) {
    add_all(inspector.hint, inspector.lines, inspector.geometry, inspector.gradient,
            inspector.edit_hint);
    if (inspector.table) add(inspector.table->title);
}
void ScreenTexts::add(const SideVector& vector) { add_all(vector.tooltip, vector.cell_tips); }
void ScreenTexts::add(const GridView& grid) {
    add_all(grid.title, grid.tooltip, grid.action, grid.legend, grid.sides);
}
void ScreenTexts::add(const CurveView& curve) { add(curve.label); }
void ScreenTexts::add(const PlotMark& mark) { add(mark.text); }
void ScreenTexts::add(const PlotLevel& level) { add(level.text); }
void ScreenTexts::add(const PlotView& plot) {
    add_all(plot.title, plot.tooltip, plot.curves, plot.marks, plot.levels);
}
void ScreenTexts::add(const Readout& readout) { add(readout.tooltip); }

}  // namespace attn::view
