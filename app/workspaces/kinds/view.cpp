#include "app/workspaces/kinds/view.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/workspaces/kinds/compute.h"
#include "app/workspaces/kinds/vectors.h"
#include "app/workspaces/kinds/words.h"
#include "app/workspaces/kinds/workspace.h"
#include "core/scores/score.h"

namespace attn::view {
namespace {

/// Softmax over scores of pairs.
bool has_pair_scores(const AttentionKind& kind) {
    return kind.operation == KindOperation::softmax || kind.operation == KindOperation::chunked;
}

KindChoice choice_of(std::string_view setting, std::span<const KindName> names, std::size_t current,
                     std::string heading, std::string tooltip) {
    KindChoice choice{setting,           {}, {}, static_cast<int>(current), std::move(heading),
                      std::move(tooltip)};
    for (const KindName& each : names) {
        choice.names.emplace_back(each.name);
        choice.keys.emplace_back(each.key);
    }
    return choice;
}

/// What an operation has no meaning for is left out, unless it is set: then it is what stands in the way.
std::vector<KindChoice> choices_of(const AttentionKind& kind) {
    const bool scores = has_pair_scores(kind);
    std::vector<KindChoice> choices;
    choices.push_back(choice_of("operation", operation_names(),
                                static_cast<std::size_t>(kind.operation), "Operation",
                                "What stands in the place of softmax. Its implied weights are what "
                                "each value is multiplied by."));
    if (scores || kind.score != Score::dot)
        choices.push_back(choice_of("score", score_names(), static_cast<std::size_t>(kind.score),
                                    "Score", std::string(info(kind.score).words)));
    if (scores || kind.position != KindPosition::none)
        choices.push_back(choice_of("position", position_names(),
                                    static_cast<std::size_t>(kind.position), "Position",
                                    "RoPE turns queries and keys before the score; ALiBi lowers it "
                                    "by the distance."));
    choices.push_back(choice_of("mask", mask_names(), static_cast<std::size_t>(kind.mask), "Mask",
                                "Which keys a query may attend to. A mask chosen here stands in "
                                "place of the document's."));
    return choices;
}

void show_settings(KindSideView& side) {
    const AttentionKind& kind = side.kind;
    const bool scores = has_pair_scores(kind);
    const bool scales = scores || kind.operation == KindOperation::latents;
    side.choices = choices_of(kind);
    side.shows_scaling = scales || !kind.scaled;
    side.shows_temperature = scales || kind.temperature != 1.0;
    side.shows_cap = scores || kind.softcap != 0.0;
    side.shows_sink = scores || kind.sink.has_value();
}

/// A matrix of query by key under one title, with the shared pair selected.
GridView pair_grid(const AppState& state, const Tensor& values, const GridStyle& style,
                   std::string title) {
    const Document& document = state.document();
    Sheet sheet;
    sheet.id = Stage::weights;
    sheet.values = values.matrix(0, 0);
    sheet.row_labels = axis_labels(document, Axis::query, sheet.values.rows);
    sheet.column_labels = axis_labels(document, Axis::key, sheet.values.columns);
    sheet.role = Role::weight;
    GridView grid = make_grid(state, sheet, style);
    grid.title = std::move(title);
    grid.editable = false;
    const large::Cell cell = shown_pair(state);
    grid.selected = {cell.row, cell.column};
    grid.focus_row = cell.row;
    grid.focus_column = cell.column;
    return grid;
}

IsMasked masked_of(const KindComputed& side) {
    IsMasked masked = side.allowed;
    for (std::uint8_t& one : masked) one = one == 0 ? 1 : 0;
    return masked;
}

SideVector entropy_column(const KindComputed& side) {
    SideVector column{"H",
                      "H = −Σ a ln a of each row, in nats; the bar is H / ln n of its n "
                      "allowed keys",
                      {},
                      Role::weight,
                      {},
                      {}};
    for (std::size_t i = 0; i < side.entropy.size(); ++i) {
        column.cells.push_back(cell_number(side.entropy[i], 2));
        column.bars.push_back(std::isfinite(side.evenness[i]) ? side.evenness[i] : 0.0);
        column.cell_tips.push_back(fmt::format("H = {} nats of {} keys, H / ln n = {}",
                                               number(side.entropy[i]), side.allowed_of_row[i],
                                               percent(side.evenness[i])));
    }
    return column;
}

KindSideView side_view(const AppState& state, KindsSide which) {
    const KindsResult& result = *kinds_look(state).result;
    const KindComputed& computed = result.side(which);
    KindSideView side;
    side.side = which;
    side.letter = which == KindsSide::a ? 'A' : 'B';
    side.kind = kinds_controls(state).side(which);
    side.words = kind_words(side.kind);
    show_settings(side);
    side.fault = computed.fault;
    if (!side.fault.empty() || !result.fault.empty()) return side;
    side.tex = kind_tex(side.kind, computed);
    const ColorScale colors = computed.has_shares ? ColorScale::unit : ColorScale::diverging;
    side.weights =
        pair_grid(state, computed.shown, {colors, false, masked_of(computed)}, side.letter);
    side.weights.tooltip = side.words;
    if (computed.has_shares) side.weights.sides = {entropy_column(computed)};
    return side;
}

/// Hatched where both sides forbid the pair.
GridView difference_grid(const AppState& state, const KindsResult& result) {
    IsMasked masked = masked_of(result.a);
    for (std::size_t n = 0; n < masked.size(); ++n)
        masked[n] = masked[n] != 0 && result.b.allowed[n] == 0 ? 1 : 0;
    GridView grid = pair_grid(state, result.difference_shown,
                              {ColorScale::diverging, false, std::move(masked)}, "B − A");
    grid.role = Role::score;
    grid.tooltip = "weight in B less weight in A";
    return grid;
}

/// The selected query's row of A V on both sides, and B − A.
GridView output_grid(const AppState& state, const KindsResult& result) {
    const Index row = shown_pair(state).row;
    const auto of = [&](KindsSide side) {
        const auto values = result.side(side).output().row(row);
        return std::vector<double>(values.begin(), values.end());
    };
    const std::vector<double> a = of(KindsSide::a);
    const std::vector<double> b = of(KindsSide::b);
    std::vector<double> change;
    for (std::size_t c = 0; c < a.size(); ++c) change.push_back(b[c] - a[c]);
    const std::string name = axis_label(state.document(), Axis::query, row);
    GridView grid = vector_grid(state, {{"A", a}, {"B", b}, {"B − A", change}},
                                fmt::format("output of {}", name));
    grid.tooltip = "O = A V: the weights of this row times the values";
    return grid;
}

void set_pairs(KindsView& view, const KindsControls& controls) {
    for (const KindsPreset& preset : kinds_presets()) view.pairs.emplace_back(preset.title);
    const std::size_t pair = present_pair(controls);
    view.pair = pair < view.pairs.size() ? static_cast<int>(pair) : -1;
    view.same = controls.a == controls.b;
    view.seed = controls.seed;
    const auto needs = [](const AttentionKind& kind) { return !info(kind.score).params.empty(); };
    view.seeded = needs(controls.a) || needs(controls.b);
}

}  // namespace

KindsView build_kinds_view(const AppState& state) {
    KindsView view;
    view.lacks = kinds_lacks(state);
    if (!view.lacks.empty() || !kinds_look(state).result) return view;
    const KindsResult& result = *kinds_look(state).result;
    set_pairs(view, kinds_controls(state));
    view.sentence = kinds_sentence(state);
    view.note = kinds_note(result);
    view.a = side_view(state, KindsSide::a);
    view.b = side_view(state, KindsSide::b);
    if (!result.whole()) return view;
    view.difference = difference_grid(state, result);
    if (result.difference.value != 0.0)
        view.largest = {result.difference.row, result.difference.column};
    view.rows = kinds_rows(state);
    view.outputs = output_grid(state, result);
    return view;
}

}  // namespace attn::view
