#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "app/view/common/format.h"
#include "app/view/common/sheet.h"
#include "app/view/document/actions.h"
#include "app/view/edits.h"
#include "app/view/step/actions.h"
#include "core/text.h"

namespace attn::view {
namespace {

std::string without_spaces(std::string_view text) {
    std::string packed;
    for (const char c : text)
        if (c != ' ' && c != '\t') packed += c;
    return packed;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

/// "0.5", "-1e-3", "nan", "inf", and the typeset "−∞". nullopt when it is no number.
std::optional<double> parse_number(std::string_view typed) {
    std::string text = without_spaces(typed);
    replace_all(text, "−", "-");
    replace_all(text, "∞", "inf");
    if (text.starts_with('+')) text.erase(0, 1);
    double value = 0.0;
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end || text.empty()) return std::nullopt;
    return value;
}

bool fits_a_float(double value) {
    return !std::isfinite(value) || std::isfinite(static_cast<float>(value));
}

std::string not_editable(const AppState& state, const CellRef& cell) {
    if (!is_editable(state, cell.tensor))
        return fmt::format("{} is computed: edit a number of X or of a W instead",
                           name_of(cell.tensor));
    if (!has_cell(state, cell))
        return fmt::format("{} has no cell at row {}, column {}, counted from 0",
                           name_of(cell.tensor), cell.row, cell.column);
    return {};
}

/// The cell in the coordinates of the whole tensor.
InputEdit input_edit(const AppState& state, const CellRef& cell, float value) {
    InputEdit edit{state.document().layer, 0, 0, cell.tensor, cell.row, cell.column, value};
    if (const Param* param = std::get_if<Param>(&cell.tensor)) {
        edit.column += head_columns(state, *param).first;
        return edit;
    }
    edit.batch = state.batch;
    edit.head = state.head_in(info(std::get<Stage>(cell.tensor)).heads);
    return edit;
}

}  // namespace

void carry_out(AppState& state, const BeginCellEdit& action) {
    if (const std::string wrong = not_editable(state, action.cell); !wrong.empty())
        return say(state, wrong, Severity::warning);
    state.step.selected = action.cell;
    state.step.editing = CellEdit{action.cell, exact(*value_at(state, action.cell))};
}

void carry_out(AppState& state, const DraftCell& action) {
    if (state.step.editing) state.step.editing->draft = action.text;
}

void carry_out(AppState& state, const CommitCellEdit&) {
    if (!state.step.editing) return;
    const CellEdit edit = *std::exchange(state.step.editing, std::nullopt);
    const auto before = value_at(state, edit.cell);
    if (!before) return;
    const auto stays = [&] {
        return fmt::format("{} stays {}", cell_name(state, edit.cell), exact(*before));
    };
    const auto value = parse_number(edit.draft);
    if (!value)
        return say(state, fmt::format("'{}' is not a number; {}", shortened(edit.draft), stays()),
                   Severity::error);
    if (!fits_a_float(*value))
        return say(state,
                   fmt::format("{} is too large for a float (at most 3.4e38); {}",
                               shortened(edit.draft), stays()),
                   Severity::error);
    carry_out(state, SetCell{edit.cell, *value});
}

void carry_out(AppState& state, const CancelCellEdit&) { state.step.editing.reset(); }

void carry_out(AppState& state, const SetCell& action) {
    if (const std::string wrong = not_editable(state, action.cell); !wrong.empty())
        return say(state, wrong, Severity::error);
    const float before = *value_at(state, action.cell);
    const float after = static_cast<float>(action.value);
    if (before == after) return;
    Document document = state.document();
    const InputEdit edit = input_edit(state, action.cell, after);
    set_input(document, edit);
    if (is_toy(document)) {
        if (document.name != "custom") document.note += ", edited";
        document.name = "custom";
    } else {
        if (document.edits.empty()) document.note += ", edited";
        document.edits.push_back(edit);
    }
    edit_document(
        state, std::move(document),
        fmt::format("{}: {} → {}", cell_name(state, action.cell), number(before), number(after)));
}

}  // namespace attn::view
