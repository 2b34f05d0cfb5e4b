#include "app/workspaces/step/view_parts.h"

#include <fmt/format.h>

#include "app/common/document/effect.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/workspaces/step/workspace.h"

namespace attn::view {
namespace {

std::string step_label(const Document& document, const StageInfo& stage) {
    if (stage.stage != Stage::scaled) return std::string(stage.step);
    if (document.spec.scale == ScaleKind::none) return "÷1";
    if (document.spec.scale == ScaleKind::value)
        return "×" + significant(document.spec.scale_value, 3);
    return std::string(stage.step);
}

Mark mark_of(const StageChange& change) {
    const bool changed = change.fate == Fate::changed || change.fate == Fate::resized;
    return changed ? Mark::changed : Mark::same;
}

}  // namespace

RibbonItem ribbon_item(const AppState& state, Stage stage) {
    const StageInfo& row = info(stage);
    const Sheet sheet = sheet_of(state, stage);
    RibbonItem item;
    item.stage = stage;
    item.label = step_label(state.document(), row);
    if (is_kept(state, stage))
        item.shape = size(sheet.values.rows, sheet.values.columns);
    else if (map_form(state, stage) != MapForm::own)
        item.shape = size(state.document().size.tq, state.document().size.tk);
    else if (!is_empty(state.document()))
        item.shape = "not kept";
    item.tooltip = fmt::format("{}\n{}\n{}", row.title, plain_formula(row),
                               to_string((*state.trace)[stage].shape()));
    item.role = row.role;
    if (const std::string change = change_words(state, stage); !change.empty()) {
        item.tooltip += "\n" + change;
        item.mark = mark_of(*change_of(state, stage));
    }
    item.progress = Progress::ahead;
    if (stage == state.stage) item.progress = Progress::current;
    if (stage < state.stage) item.progress = Progress::done;
    return item;
}

}  // namespace attn::view
