#include "app/workspaces/compare/view.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/apart.h"
#include "app/common/color_look.h"
#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/inspector.h"
#include "app/common/pair_grid.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "core/head_measures.h"
#include "core/masks.h"
#include "core/metrics.h"
#include "core/note.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostNamedDifferences = 4;
constexpr double kSameChange = 1e-6;  // of changes that are one but for rounding

/// Whether a weight of `stage` at a pair the mask forbids looks masked.
IsMasked compare_masked(const AppState& state, MatrixView<const float> values) {
    const Stage stage = compare_look(state).stage;
    const bool shows = stage == Stage::masked || stage == Stage::weights || stage == Stage::dropped;
    const MaskSpec& mask = state.document().spec.mask;
    if (!shows || !mask.any()) return {};
    IsMasked masked;
    for (const auto [i, j] : each_cell(values))
        masked.push_back(!may_attend(mask, state.document().size, state.batch, state.head, i, j) &&
                         !std::isnan(values(i, j)));
    return masked;
}

/// `state` looks at the baseline or at what is shown now.
GridView side_grid(const AppState& state, std::string_view side) {
    const StageInfo& row = info(compare_look(state).stage);
    const Sheet sheet = sheet_of(state, compare_look(state).stage);
    GridView grid =
        make_grid(state, sheet, {row.colors, false, compare_masked(state, sheet.values)});
    grid.title = fmt::format("{}: {}", side, row.key);
    grid.tooltip = fmt::format("{}: {}", side, row.title);
    look_at(grid, compare_look(state).cell, compare_look(state).hovered);
    return grid;
}

/// A row of weights as a distribution: with the share of the sink after its keys, where one takes part.
std::vector<float> distribution_of(std::span<const float> row, bool sink) {
    std::vector<float> shares(row.begin(), row.end());
    double rest = 1.0;
    for (const float weight : row) rest -= weight;
    shares.push_back(sink ? static_cast<float>(std::isnan(rest) ? rest : std::max(rest, 0.0))
                          : 0.0F);
    return shares;
}

SideVector row_numbers(const AppState& state, const AppState& pinned, const ComparedStage& stage,
                       bool kl) {
    const std::string_view sink =
        has_sinks(pinned.document()) || has_sinks(state.document()) ? ", including the sink" : "";
    SideVector side{kl ? "KL" : "TV",
                    kl ? fmt::format("KL(b‖n) = Σ_j b ln(b / n) of each row{}, in nats: b the "
                                     "baseline, n now; ∞ if n is 0 at a key where b is not",
                                     sink)
                       : fmt::format("total variation ½ Σ_j |b − n| of each row{}, b the baseline, "
                                     "n now: if both sum to 1, the fraction of the weight that "
                                     "moved",
                                     sink),
                    {},
                    Role::score};
    for (Index i = 0; i < stage.a.rows; ++i) {
        const auto a = distribution_of(stage.a.row(i), has_sinks(pinned.document()));
        const auto b = distribution_of(stage.b.row(i), has_sinks(state.document()));
        const bool empty = std::ranges::all_of(a, [](float weight) { return weight == 0.0F; });
        const double value = kl ? row_divergence(a, b) : total_variation(a, b);
        side.cells.push_back(kl && empty ? "–" : cell_number(value, 2));
        if (!kl) side.bars.push_back(std::isfinite(value) ? std::clamp(value, 0.0, 1.0) : 0.0);
    }
    return side;
}

GridView change_grid(const AppState& state, const AppState& pinned, const ComparedStage& stage) {
    std::vector<float> values;
    for (const auto [i, j] : each_cell(stage.b))
        values.push_back(signed_difference(stage.a(i, j), stage.b(i, j)));
    Sheet sheet = sheet_of(state, compare_look(state).stage);
    sheet.values = {values.data(), stage.b.rows, stage.b.columns, stage.b.columns};
    IsMasked masked = compare_masked(state, stage.b);
    const IsMasked other = compare_masked(pinned, stage.a);
    if (other.size() != masked.size()) masked.clear();
    for (std::size_t n = 0; n < masked.size(); ++n)
        masked[n] = masked[n] != 0 && other[n] != 0 ? 1 : 0;
    GridView grid = make_grid(state, sheet, {ColorScale::diverging, false, std::move(masked)});
    grid.title = "now − baseline";
    grid.plus = true;
    grid.role = Role::score;
    grid.tooltip = "now minus baseline; 0 where both are the same ∞ or both NaN";
    look_at(grid, compare_look(state).cell, compare_look(state).hovered);
    if (compare_look(state).stage == Stage::weights)  // distributions
        grid.sides = {row_numbers(state, pinned, stage, true),
                      row_numbers(state, pinned, stage, false)};
    return grid;
}

/// "Differs: temperature 1 → 2, head 0 → 1 and 3 more."
std::string differing_text(const std::vector<Difference>& list) {
    if (list.empty()) return "Nothing differs from the baseline yet: S switches scaling.";
    std::string text = "Differs: ";
    const std::size_t most = std::min(list.size(), kMostNamedDifferences);
    for (std::size_t n = 0; n < most; ++n)
        text += fmt::format("{}{}", n == 0 ? "" : ", ", difference_text(list[n]));
    if (list.size() > most) text += fmt::format(", and {} more", list.size() - most);
    return text + ".";
}

std::string amount_text(const AppState& state, const ComparedStage& stage) {
    if (!stage.missing_data.empty()) return stage.missing_data;
    const auto most = largest_change(stage);
    const StageInfo& row = info(compare_look(state).stage);
    const std::string cells = grouped(stage.b.rows * stage.b.columns);
    if (!most)
        return fmt::format("No number of {} differs from the baseline ({} compared).", row.symbol,
                           cells);
    const CellRef cell{compare_look(state).stage, most->cell.row, most->cell.column};
    const auto [a, b] = distinguished(most->a, most->b);
    std::string text =
        fmt::format("{} of {} numbers of {} differ, most at {}: {} → {}", grouped(most->cells),
                    cells, row.symbol, cell_name(state, cell), a, b);
    const double change = static_cast<double>(most->b) - most->a;
    if (std::isfinite(change))
        text += fmt::format(" ({}{})", change < 0 ? "" : "+", number(change));
    return text + as_much_text(most->others) + ".";
}

void add_compare_controls(const AppState& state, CompareView& view) {
    const CompareLook& look = compare_look(state);
    for (std::size_t n = 0; n < look.pins.size(); ++n)
        view.pins.push_back(fmt::format("{}  {}", n + 1, look.pins[n].text));
    view.baseline = static_cast<Index>(look.baseline);
    for (const Stage stage : ribbon_stages(state.document())) {
        view.stages.push_back(stage);
        view.stage_names.push_back(name_of(stage));
        if (stage == look.stage) view.stage = static_cast<int>(view.stages.size()) - 1;
    }
    view.blink = look.blink;
    view.hovered = look.hovered;
}

// --- the inspector

/// The whole row of both, the selected cell's marked.
InspectorTable compare_table(const AppState& state, const ComparedStage& stage) {
    const StageInfo& row = info(compare_look(state).stage);
    const auto [i, chosen] = compare_look(state).cell;
    const auto labels = axis_labels(state, row.columns, stage.b.columns);
    InspectorTable table{
        "the row, baseline and now",
        row.columns == Axis::key ? "key" : "column",
        {{"baseline", row.role}, {"now", row.role}, {"now − baseline", Role::score}},
        {},
        std::nullopt};
    for (Index j = 0; j < stage.b.columns; ++j) {
        const float a = stage.a(i, j);
        const float b = stage.b(i, j);
        TableRow line{labels[j], {}};
        line.cells = {{cell_number(a, 4), row.role, {}},
                      {cell_number(b, 4), row.role, {}},
                      {cell_number(signed_difference(a, b), 4), Role::score, {}}};
        line.chosen = j == chosen;
        table.rows.push_back(std::move(line));
    }
    return table;
}

/// The selected cell and its row, of what is shown.
InspectorView unpinned_inspector(const AppState& state) {
    const ComparedStage stage = compared_stage(state, state);
    const auto [i, j] = compare_look(state).cell;
    InspectorView view = only_hint("B pins the current state as the baseline.");
    if (!stage.missing_data.empty() || i >= stage.b.rows || j >= stage.b.columns) return view;
    view.empty = false;
    view.role = info(compare_look(state).stage).role;
    view.title = cell_name(state, {compare_look(state).stage, i, j});
    view.value = number(stage.b(i, j));
    view.edit_hint = view.hint;
    view.table = compare_table(state, stage);
    view.table->title.clear();
    view.table->columns = {{"now", view.role}};
    for (TableRow& row : view.table->rows) row.cells.resize(1);
    view.as_text = view.as_latex = view.as_python = text_of(view);
    return view;
}

}  // namespace

float signed_difference(float a, float b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return 0.0F;
    return b - a;
}

double total_variation(std::span<const float> a, std::span<const float> b) {
    double sum = 0.0;
    for (std::size_t n = 0; n < a.size(); ++n) sum += std::abs(static_cast<double>(a[n]) - b[n]);
    return sum / 2;
}

AppState pinned_state(const AppState& state, const ComparePin& pin) {
    AppState pinned;
    pinned.theme = state.theme;
    color_look(pinned) = color_look(state);
    pinned.history.emplace_back().document = pin.document;
    pinned.trace = pin.trace;
    pinned.gradients = state.gradients;
    pinned.batch = pin.batch;
    pinned.head = pin.head;
    compare_look(pinned).stage = compare_look(state).stage;
    compare_look(pinned).cell = compare_look(state).cell;
    compare_look(pinned).hovered = compare_look(state).hovered;
    return pinned;
}

ComparedStage compared_stage(const AppState& state, const AppState& pinned) {
    ComparedStage stage;
    stage.a = sheet_of(pinned, compare_look(state).stage).values;
    stage.b = sheet_of(state, compare_look(state).stage).values;
    const std::string name(info(compare_look(state).stage).symbol);
    const auto none = [](MatrixView<const float> values) {
        return values.rows * values.columns == 0;
    };
    if (none(stage.a) || none(stage.b))
        stage.missing_data =
            fmt::format("{} has no {}: it is not computed or not stored.",
                        none(stage.a) ? "The baseline" : "The current state", name);
    else if (stage.a.rows != stage.b.rows || stage.a.columns != stage.b.columns)
        stage.missing_data =
            fmt::format("Cannot subtract: {} is {} in the baseline and {} now.", name,
                        size(stage.a.rows, stage.a.columns), size(stage.b.rows, stage.b.columns));
    return stage;
}

std::optional<LargestChange> largest_change(const ComparedStage& stage) {
    std::vector<double> changes;
    for (const auto [i, j] : each_cell(stage.a)) {
        const float by = signed_difference(stage.a(i, j), stage.b(i, j));
        changes.push_back(std::isnan(by) ? HUGE_VAL : std::abs(double{by}));
    }
    const auto cells = std::ssize(changes) - std::ranges::count(changes, 0.0);
    if (cells == 0) return std::nullopt;
    const auto most = largest_places(std::span<const double>(changes), kSameChange);
    const large::Cell at{most.front() / stage.a.columns, most.front() % stage.a.columns};
    return LargestChange{at, stage.a(at.row, at.column), stage.b(at.row, at.column), cells,
                         std::ssize(most) - 1};
}

CompareView build_compare_view(const AppState& state) {
    CompareView view;
    view.missing_data = compare_missing_data(state);
    if (!view.missing_data.empty()) return view;
    const CompareLook& look = compare_look(state);
    add_compare_controls(state, view);
    view.reach = reach_view(state);
    const ComparePin* const shown = look.shown_pin();
    if (shown == nullptr) {
        view.point =
            "Press B to pin the current state as the baseline, then change something: scaling, "
            "temperature, a mask, a number, the head or the document.";
        view.grids = {side_grid(state, "now")};
        return view;
    }
    const ComparePin& pin = *shown;
    const AppState pinned = pinned_state(state, pin);
    const ComparedStage stage = compared_stage(state, pinned);
    const auto differs = differences(state, pin);
    view.point = amount_text(state, stage);
    view.point_b = differing_text(differs);
    if (differs.empty()) std::swap(view.point, view.point_b);
    const auto add = [&](GridView grid) {
        if (grid.rows > 0 && grid.columns > 0) view.grids.push_back(std::move(grid));
    };
    if (look.blink) {
        add(*look.blink == 0 ? side_grid(pinned, "baseline") : side_grid(state, "now"));
        return view;
    }
    add(side_grid(pinned, "baseline"));
    add(side_grid(state, "now"));
    if (view.grids.size() == 2) share_range({&view.grids[0], &view.grids[1]}, state.theme);
    if (stage.missing_data.empty()) add(change_grid(state, pinned, stage));
    return view;
}

InspectorView compare_inspector(const AppState& state) {
    if (!compare_missing_data(state).empty()) return {};
    const CompareLook& look = compare_look(state);
    const ComparePin* const shown = look.shown_pin();
    if (shown == nullptr) return unpinned_inspector(state);
    const ComparePin& pin = *shown;
    const AppState pinned = pinned_state(state, pin);
    const ComparedStage stage = compared_stage(state, pinned);
    const auto [i, j] = look.cell;
    if (!stage.missing_data.empty() || i >= stage.b.rows || j >= stage.b.columns)
        return only_hint(stage.missing_data.empty() ? "Click a cell to compare it."
                                                    : stage.missing_data);
    InspectorView view = titled(cell_name(state, {look.stage, i, j}), info(look.stage).role);
    const float a = stage.a(i, j);
    const float b = stage.b(i, j);
    view.value = fmt::format("{} → {}", number(a), number(b));
    view.formula = fmt::format("now − baseline = {} − {} = {}", number(b), factor(number(a)),
                               number(signed_difference(a, b)));
    view.lines = {text_line("baseline", pin.text), text_line("now", pin_text(state))};
    for (const Difference& difference : differences(state, pin))
        view.add("differs", difference_text(difference));
    view.table = compare_table(state, stage);
    view.as_text = view.as_latex = view.as_python = text_of(view);
    return view;
}

}  // namespace attn::view
