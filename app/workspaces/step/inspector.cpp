#include <ranges>
#include <set>

#include <fmt/format.h>

#include "app/common/document/mask_rules.h"
#include "app/common/document/solve.h"
#include "app/common/explain/backward.h"
#include "app/common/explain/explain.h"
#include "app/common/format.h"
#include "app/common/map/map_cell.h"
#include "app/common/state.h"
#include "app/workspaces/step/grids.h"
#include "app/workspaces/step/predict.h"
#include "app/workspaces/step/sources.h"
#include "app/workspaces/step/view.h"
#include "app/workspaces/step/view_parts.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// A hovered weight, which the headline and the arcs are about; else the selected cell; without one, the hovered.
std::optional<CellRef> inspected(const AppState& state) {
    for (const auto& cell : {hovered_weight(state), state.selected, state.hovered})
        if (cell && has_cell(state, *cell)) return cell;
    return std::nullopt;
}

/// "∂L/∂S[cat, sat] = 0.0123, L = Σ output": beside a value.
std::string gradient_line(const AppState& state, const CellRef& cell) {
    const auto gradient = gradient_at(state, cell);
    if (!gradient) return {};
    return fmt::format("{} = {}, L = {}", gradient_name(state, cell), number(*gradient),
                       loss_text(state));
}

/// "S[cat, sat] = 0.61, L = output[cat, 2] = 0.83": beside a gradient.
std::string value_line(const AppState& state, const CellRef& cell) {
    const auto loss = loss_value(state);
    return fmt::format("{} = {}, L = {}{}", cell_name(state, cell), number(*value_at(state, cell)),
                       loss_text(state), loss ? " = " + number(*loss) : "");
}

std::string edit_hint(const AppState& state, const CellRef& cell) {
    if (is_solved_for(state, cell.tensor))
        return "Double-click the cell, or press Enter, to change this number: W_V is solved for "
               "it, and X stays.";
    if (!is_editable(state, cell.tensor)) return {};
    if (cell.tensor == OperandId(Stage::output))
        return "Double-click its target, or press Enter, to set the target of this output.";
    return "Double-click the cell, or press Enter, to change this number.";
}

constexpr std::size_t kSourcesMostRows = 3;  // named one by one

/// Some rows of a tensor, and one of its columns or all of them.
struct Region {
    OperandId id;
    std::set<Index> rows;
    std::optional<Index> column;
};

Index row_count(const AppState& state, const OperandId& id) {
    return sheet_of(state, id).values.rows;
}

/// The walk from a number back to the inputs.
class Walk {
  public:
    explicit Walk(const AppState& state)
        : state_(state), allowed_(allowed_pairs(state)), keys_(state.document().size.tk) {}

    void visit(const Region& region) {
        if (region.rows.empty()) return;
        if (is_editable(state_, region.id)) return add(region);
        const Stage stage = std::get<Stage>(region.id);
        for (const Operand& operand : operands_of(state_.document(), stage))
            step(region, stage, operand);
    }
    const std::vector<Region>& inputs() const { return inputs_; }

    /// Keys that query `row` may attend to.
    std::set<Index> open_keys(Index row) const {
        std::set<Index> keys;
        for (Index j = 0; j < keys_; ++j)
            if (allowed_[row * keys_ + j] != 0) keys.insert(j);
        return keys;
    }

  private:
    /// Keys of a pair stage's cells: one column, or all that the rows may attend to.
    std::set<Index> keys_of(const Region& region) const {
        if (region.column) return {*region.column};
        std::set<Index> keys;
        for (const Index row : region.rows) keys.merge(open_keys(row));
        return keys;
    }

    /// Rows whose weights depend on scores: with one logit or none there is nothing to share.
    std::set<Index> sharing(const std::set<Index>& rows) const {
        std::set<Index> some;
        for (const Index row : rows)
            if (open_keys(row).size() > (has_sinks(state_.document()) ? 0U : 1U)) some.insert(row);
        return some;
    }

    void step(const Region& region, Stage stage, const Operand& operand) {
        const OperandId& id = operand.id;
        if (std::holds_alternative<Param>(id) && row_count(state_, id) == 0) return;  // no W_O
        switch (operand.lights) {
            case Lights::same_cell:
                return visit({id, region.rows, region.column});
            case Lights::same_row:
                return visit({id, stage == Stage::weights ? sharing(region.rows) : region.rows,
                              std::nullopt});
            case Lights::row_of_column:
                return visit({id, keys_of(region), std::nullopt});
            case Lights::own_head:
                return visit({id, {0}, state_.head});
            case Lights::whole:
            case Lights::column:
                break;
        }
        if (stage == Stage::context)  // of V only the rows of open keys
            return visit({id, keys_of({id, region.rows, std::nullopt}), region.column});
        const auto all = std::views::iota(Index{0}, row_count(state_, id));
        const bool column = operand.lights == Lights::column;
        visit({id, {all.begin(), all.end()}, column ? region.column : std::nullopt});
    }

    void add(const Region& region) {
        const auto same = std::ranges::find(inputs_, region.id, &Region::id);
        if (same == inputs_.end()) return inputs_.push_back(region);
        same->rows.insert(region.rows.begin(), region.rows.end());
        if (same->column != region.column) same->column.reset();
    }

    const AppState& state_;
    std::vector<std::uint8_t> allowed_;
    Index keys_;
    std::vector<Region> inputs_;
};

/// The stage at which the canvas shows a tensor.
Stage shown_at(const Document& document, const OperandId& id) {
    if (const Stage* stage = std::get_if<Stage>(&id)) return *stage;
    for (const Stage stage : ribbon_stages(document))
        for (const Operand& operand : operands_of(document, stage))
            if (operand.id == id) return stage;
    return Stage::x;
}

SourceLink link_to(const Document& document, const OperandId& id, std::string text, Index row,
                   Index column) {
    const Role role = std::visit([](auto key) { return info(key).role; }, id);
    return {std::move(text), {id, row, column}, shown_at(document, id), role};
}

void add_links(const AppState& state, const Region& region, std::vector<SourceLink>& links) {
    const Index column = region.column.value_or(0);
    const std::string name = name_of(region.id);
    if (std::holds_alternative<Param>(region.id)) {
        const bool sink = info(std::get<Param>(region.id)).use == ParamUse::sink;
        if (sink)
            return links.push_back(link_to(state.document(), region.id,
                                           fmt::format("sink of head {}", column), 0, column));
        const std::string part = region.column ? fmt::format("column {} of ", column) : "";
        return links.push_back(link_to(state.document(), region.id, part + name, 0, column));
    }
    const auto all = static_cast<std::size_t>(row_count(state, region.id));
    const bool whole = region.rows.size() == all && all > 1;
    if (whole || region.rows.size() > kSourcesMostRows) {
        const std::string part =
            whole ? "" : fmt::format("{} of the {} rows of ", region.rows.size(), all);
        return links.push_back(
            link_to(state.document(), region.id, part + name, *region.rows.begin(), column));
    }
    const Axis axis = info(std::get<Stage>(region.id)).rows;
    for (const Index row : region.rows)
        links.push_back(link_to(state.document(), region.id,
                                fmt::format("{}[{}]", name, axis_label(state, axis, row)), row,
                                column));
}

/// Inputs of tokens first, then weight matrices, as the stage table lists them.
bool comes_first(const Region& a, const Region& b) { return a.id.index() < b.id.index(); }

/// What decides a weight when no input does; "": inputs do.
std::string mask_description(const AppState& state, const CellRef& cell) {
    if (!is_pair(cell.tensor)) return {};
    const Stage stage = std::get<Stage>(cell.tensor);
    if (stage < Stage::masked) return {};
    const std::set<Index> open = Walk(state).open_keys(cell.row);
    if (!open.contains(cell.column))
        return "the mask forbids this pair, so no input changes its weight";
    const bool sinks = has_sinks(state.document());
    if (stage != Stage::masked && open.size() == 1 && !sinks)
        return "the query may attend only to this key, so no input changes its weight";
    return {};
}

}  // namespace

InspectorView step_inspector(const AppState& state) {
    InspectorView view;
    if (is_guessing(state)) {
        view.hint = "Numbers appear after you reveal the row and the stage. Press Enter.";
        return view;
    }
    const auto cell = inspected(state);
    if (!cell) {
        const bool any = !is_empty(state.document()) && is_stored_stage(state, state.stage);
        if (any) view.hint = "Click any number to see where it comes from.";
        return view;
    }
    const bool backward = state.show_gradients && gradient_at(state, *cell);
    const Explanation explanation =
        backward ? explain_gradient(state, *cell) : explain(state, *cell);
    view.empty = false;
    view.title = explanation.name;
    view.value = number(explanation.value);
    view.role = std::visit([](auto key) { return info(key).role; }, cell->tensor);
    view.tex = explanation.tex;
    view.formula = explanation.formula;
    view.lines = explanation_lines(explanation);
    view.table = explanation_table(explanation);
    view.geometry = backward ? std::vector<Line>{} : geometry_lines(explanation);
    view.gradient = backward ? value_line(state, *cell) : gradient_line(state, *cell);
    if (cell->tensor == OperandId(Stage::output)) view.loss_cell = cell;
    view.editable = can_be_typed(state, cell->tensor);
    if (!backward) view.sources = sources_of(state, *cell);  // a gradient is made from all of L
    view.edit_hint = edit_hint(state, *cell);
    view.as_text = copy_as_text(explanation);
    view.as_latex = copy_as_latex(explanation);
    view.as_python = copy_as_python(explanation);
    return view;
}

std::string joined(const std::vector<std::string>& items, const char* last) {
    std::string text;
    for (std::size_t n = 0; n < items.size(); ++n)
        text += (n == 0 ? "" : n + 1 == items.size() ? last : ", ") + items[n];
    return text;
}

std::vector<SourceLink> sources_of(const AppState& state, const CellRef& cell) {
    if (is_editable(state, cell.tensor) || !mask_description(state, cell).empty()) return {};
    Walk walk(state);
    walk.visit({cell.tensor, {cell.row}, cell.column});
    std::vector<Region> inputs = walk.inputs();
    std::ranges::stable_sort(inputs, comes_first);
    std::vector<SourceLink> links;
    for (const Region& region : inputs) add_links(state, region, links);
    return links;
}

std::string source_text(const AppState& state, const CellRef& cell) {
    const std::string name = cell_name(state, cell);
    if (is_editable(state, cell.tensor)) return name + " is an input: you can change it.";
    const std::string masked = mask_description(state, cell);
    if (!masked.empty()) return fmt::format("{}: {}.", name, masked);
    std::vector<std::string> sources;
    for (const SourceLink& link : sources_of(state, cell)) sources.push_back(link.text);
    return fmt::format("{} is computed: change {}.", name, joined(sources, " or "));
}

}  // namespace attn::view
