#include "app/common/document/place.h"

#include <limits>

#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/image_tokens.h"
#include "app/common/format.h"
#include "app/common/pair.h"
#include "app/common/sheet.h"
#include "app/common/workspace.h"
#include "core/masks.h"
#include "core/metrics.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr std::size_t kAxes = 6;
static_assert(static_cast<std::size_t>(Axis::d_out) + 1 == kAxes && kPlaceKinds == 2 * kAxes);

CellRef at(Stage stage, const large::Cell& place) { return {stage, place.row, place.column}; }

/// Stages whose rows and columns count the same things share a place.
std::size_t kind_of_place(Stage stage) {
    const std::size_t rows = info(stage).rows == Axis::query ? 0 : 1;
    return rows * kAxes + static_cast<std::size_t>(info(stage).columns);
}

/// The key with the largest weight of a query; 0 where no weight is a number.
Index best_key(const AppState& state, Index query) {
    const auto weights = sheet_of(state, Stage::weights).values;
    if (weights.rows <= query) return 0;
    Index key = 0;
    float largest = 0.0F;
    for (Index j = 0; j < weights.columns; ++j)
        if (weights(query, j) > largest) {
            largest = weights(query, j);
            key = j;
        }
    return key;
}

/// The query whose weights are least even, the first of them, of those that may attend to at least half as many keys as
/// any; nullopt: no row has two keys, there are too many, or tokens are patches of an image, whose class token is first.
std::optional<Index> least_even_query(const AppState& state) {
    constexpr Index kMostRead = 1 << 16;
    const auto weights = sheet_of(state, Stage::weights).values;
    if (weights.rows * weights.columns > kMostRead || has_image_tokens(state)) return std::nullopt;
    const Document& document = state.document();
    std::vector<Index> allowed(static_cast<std::size_t>(weights.rows));
    for (const auto [i, j] : each_cell(weights))
        allowed[i] += may_attend(document.spec.mask, document.size, state.batch, state.head, i, j);
    const Index most = allowed.empty() ? 0 : std::ranges::max(allowed);
    std::optional<Index> best;
    double least = std::numeric_limits<double>::infinity();
    for (Index i = 0; i < weights.rows; ++i) {
        if (2 * allowed[i] < most) continue;
        const double evenness = row_metrics(weights.row(i), allowed[i]).evenness;
        if (!(evenness < least)) continue;
        least = evenness;
        best = i;
    }
    return best;
}

}  // namespace

large::Cell first_pair(const AppState& state) {
    const auto& pair = state.places[kind_of_place(Stage::weights)];
    if (pair && has_cell(state, at(Stage::weights, *pair))) return *pair;
    const bool causal = state.document().spec.mask.causal.has_value();
    const Index last = std::max<Index>(state.document().size.tq, 1) - 1;
    const Index query = least_even_query(state).value_or(causal ? last : 0);
    return {query, best_key(state, query)};
}

namespace {

large::Cell first_place(const AppState& state, Stage stage) {
    const large::Cell pair = first_pair(state);
    if (info(stage).columns == Axis::key) return pair;
    return {info(stage).rows == Axis::key ? pair.column : pair.row, 0};
}

/// A cell of another head, as the joined context counts it, becomes that head's own.
void show_head_of(AppState& state, CellRef& cell) {
    const Index width = state.document().size.d_v;
    if (cell.tensor != OperandId(Stage::context)) return;
    const Index column = state.head * width + cell.column;
    state.head = column / width;
    cell.column = column % width;
}

}  // namespace

Stage stage_in(const Document& document, Stage stage) {
    const std::vector<Stage> stages = ribbon_stages(document);
    if (std::ranges::count(stages, stage)) return stage;
    return stage == Stage::dropped ? Stage::weights : stages.front();
}

void choose_cell(AppState& state, const CellRef& cell) {
    state.chosen = state.selected = cell;
    if (const Stage* const stage = std::get_if<Stage>(&cell.tensor))
        state.places[kind_of_place(*stage)] = large::Cell{cell.row, cell.column};
}

void choose_pair(AppState& state, const large::Cell& pair) {
    state.places[kind_of_place(Stage::weights)] = pair;
    if (pair_stages()[index_of(state.stage)]) state.chosen = state.selected = at(state.stage, pair);
}

void choose_query(AppState& state, Index query) {
    if (first_pair(state).row != query) choose_pair(state, {query, best_key(state, query)});
    const bool row_of_query = info(state.stage).rows == Axis::query;
    if (row_of_query && !pair_stages()[index_of(state.stage)] && state.selected &&
        state.selected->tensor == OperandId(state.stage))
        choose_cell(state, {state.stage, query, state.selected->column});
}

void go_to_stage(AppState& state, Stage stage) {
    const Stage from = std::exchange(state.stage, stage);
    if (stage != from) {
        state.hovered.reset();
        state.chosen.reset();
        if (const auto& place = state.places[kind_of_place(stage)])
            state.chosen = at(stage, *place);
        show_place(state);
    }
    for (const WorkspaceInfo* workspace : state.workspaces) workspace->arrive(state, from);
}

void show_place(AppState& state) {
    state.selected.reset();
    if (!stages_lack(state.document()).empty()) {  // a weight can still be chosen
        if (state.chosen && has_cell(state, *state.chosen)) state.selected = state.chosen;
        return;
    }
    auto& place = state.places[kind_of_place(state.stage)];
    if (state.chosen && has_cell(state, *state.chosen)) {
        state.selected = state.chosen;
        return;
    }
    if (place && has_cell(state, at(state.stage, *place))) {
        state.selected = at(state.stage, *place);
        return;
    }
    const CellRef first = at(state.stage, first_place(state, state.stage));
    if (!has_cell(state, first)) return;
    state.selected = first;
    if (!place) place = large::Cell{first.row, first.column};
}

void clear_places(AppState& state) {
    state.places = {};
    state.chosen.reset();
    state.selected.reset();
}

void clamp_place(AppState& state) {
    const Dimensions& size = state.document().size;
    state.head = std::clamp(state.head, Index{0}, std::max<Index>(size.heads, 1) - 1);
    state.batch = std::clamp(state.batch, Index{0}, std::max<Index>(size.batch, 1) - 1);
    state.stage = stage_in(state.document(), state.stage);
    show_place(state);
    if (state.hovered && !has_cell(state, *state.hovered)) state.hovered.reset();
}

std::vector<CellRef> cells_of(const Places& places) {
    std::vector<CellRef> cells;
    std::array<bool, kPlaceKinds> listed{};
    for (const StageInfo& stage : stage_table()) {
        const std::size_t kind = kind_of_place(stage.stage);
        if (places[kind] && !std::exchange(listed[kind], true))
            cells.push_back(at(stage.stage, *places[kind]));
    }
    return cells;
}

Places places_from(const std::vector<CellRef>& cells, Visitor& visit) {
    Places places;
    for (const CellRef& cell : cells) {
        const Stage* const stage = std::get_if<Stage>(&cell.tensor);
        if (stage == nullptr || cell.column < 0)
            visit.complain("has 'places': expected cells of stages");
        else
            places[kind_of_place(*stage)] = large::Cell{cell.row, cell.column};
    }
    return places;
}

void restore_place(AppState& state) {
    state.chosen = state.selected;
    const Stage* const stage =
        state.selected ? std::get_if<Stage>(&state.selected->tensor) : nullptr;
    if (stage != nullptr) {
        auto& place = state.places[kind_of_place(*stage)];
        if (!place) place = large::Cell{state.selected->row, state.selected->column};
        if (!has_cell(state, at(*stage, *place))) state.chosen = at(*stage, *place);
    }
    show_place(state);
}

// ---- actions

void carry_out(AppState& state, const GoToStage& action) {
    if (!std::ranges::count(ribbon_stages(state.document()), action.stage))
        return warn(state, "This document has no stage {}.", info(action.stage).key);
    go_to_stage(state, action.stage);
}

void carry_out(AppState& state, const SelectCell& action) {
    if (!has_cell(state, action.cell)) {
        const Pair pair{action.cell.row, action.cell.column};
        const bool is_given = !state.document().given.empty() && has_pair(state, pair);
        if (is_given && action.cell.tensor == OperandId(Stage::weights)) {  // no trace has them
            state.places[kind_of_place(Stage::weights)] = large::Cell{pair.query, pair.key};
            return;
        }
        const Sheet sheet = sheet_of(state, action.cell.tensor);
        return warn(state, "{} has no cell at row {}, column {}, counted from 0: it is {}",
                    name_of(action.cell.tensor), action.cell.row, action.cell.column,
                    size(sheet.values.rows, sheet.values.columns));
    }
    CellRef cell = action.cell;
    show_head_of(state, cell);
    choose_cell(state, cell);
    show_message(state, "{} = {}", cell_name(state, cell), number(*value_at(state, cell)));
}

void carry_out(AppState& state, const MoveSelection& action) {
    CellRef cell = state.selected.value_or(CellRef{state.stage, -1, -1});
    const Sheet sheet = sheet_of(state, cell.tensor);
    if (sheet.values.rows == 0 || sheet.values.columns == 0) return;
    const bool first = cell.row < 0;
    cell.row = first ? 0 : std::clamp(cell.row + action.rows, Index{0}, sheet.values.rows - 1);
    cell.column =
        first ? 0 : std::clamp(cell.column + action.columns, Index{0}, sheet.values.columns - 1);
    carry_out(state, SelectCell{cell});
}

void carry_out(AppState& state, const HoverCell& action) {
    const bool there = action.cell && has_cell(state, *action.cell);
    state.hovered = there ? action.cell : std::nullopt;
}

}  // namespace attn::view
