#include "app/workspaces/step/sentence.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/colormap.h"
#include "app/common/document/model_text.h"
#include "app/common/format.h"
#include "app/common/row_range.h"
#include "app/common/sheet.h"
#include "app/common/words.h"
#include "app/workspaces/step/attention_words.h"
#include "app/workspaces/step/grids.h"
#include "app/workspaces/step/workspace.h"

namespace attn::view {
namespace {

constexpr Index kMostChips = 64;
constexpr std::string_view kInvitation =
    "Point at a word or a cell. From softmax on, this line says what the word looks at.";

/// What the cell that is looked at says about the sentence.
struct LookedAt {
    std::optional<Index> query, key;
};

bool has_rows_of(const OperandId& id, Axis axis) {
    const Stage* const stage = std::get_if<Stage>(&id);
    return stage != nullptr && info(*stage).rows == axis;
}

LookedAt pair_of(const std::optional<CellRef>& cell) {
    if (!cell) return {};
    if (is_pair(cell->tensor)) return {cell->row, cell->column};
    if (has_rows_of(cell->tensor, Axis::query)) return {cell->row, std::nullopt};
    if (has_rows_of(cell->tensor, Axis::key)) return {std::nullopt, cell->row};
    return {};
}

/// Of the hovered cell, and what that leaves open, of the selected one.
LookedAt looked_at(const AppState& state) {
    const LookedAt hovered = pair_of(state.hovered);
    if (hovered.query || hovered.key) return hovered;
    return pair_of(state.selected);
}

/// Weights are known in the story from softmax on.
bool is_told(const AppState& state) {
    return state.stage >= Stage::weights && is_kept(state, told_weights(state));
}

/// Whether the keys are other words than the queries.
bool has_own_keys(const Document& document) {
    return !document.tokens_kv.empty() || document.size.tq != document.size.tk;
}

/// The matrix on the canvas, asked once for all words.
struct Shown {
    const AppState& state;
    Stage stage;
    MatrixView<const float> values;  // 0 × 0: not kept

    explicit Shown(const AppState& of)
        : state(of), stage(of.stage), values(sheet_of(of, stage).values) {}
};

/// What one row of words is made of.
struct Source {
    const Shown& shown;
    std::vector<std::string> labels;
    const std::vector<std::string>& tokens;  // may be fewer: files need not name them
    Axis axis;
};

Index largest_column(std::span<const float> values) {
    std::size_t best = 0;
    for (std::size_t j = 1; j < values.size(); ++j)
        if (values[j] > values[best] || std::isnan(values[best])) best = j;
    return static_cast<Index>(best);
}

/// In the column of the selected cell, where that is of the same matrix. nullopt where there is no such row.
std::optional<CellRef> row_cell(const Shown& shown, Index row) {
    if (row >= shown.values.rows || shown.values.columns == 0) return std::nullopt;
    const auto& selected = shown.state.selected;
    const bool same = selected && selected->tensor == OperandId(shown.stage);
    const Index column = same ? selected->column : 0;
    return CellRef{shown.stage, row, std::clamp(column, Index{0}, shown.values.columns - 1)};
}

std::optional<CellRef> query_cell(const Shown& shown, Index query) {
    if (info(shown.stage).rows != Axis::query || query >= shown.values.rows) return std::nullopt;
    if (!is_pair(shown.stage)) return row_cell(shown, query);
    return CellRef{shown.stage, query, largest_column(shown.values.row(query))};
}

std::optional<CellRef> key_cell(const Shown& shown, std::optional<Index> query, Index key) {
    if (info(shown.stage).rows == Axis::key) return row_cell(shown, key);
    if (!is_pair(shown.stage) || key >= shown.values.columns) return std::nullopt;
    return CellRef{shown.stage, query.value_or(0), key};
}

std::optional<CellRef> cell_of(const Source& source, const SentenceView& view, Index n) {
    const Shown& shown = source.shown;
    const bool alone = !has_own_keys(shown.state.document());
    if (source.axis == Axis::key || (alone && info(shown.stage).rows == Axis::key))
        return key_cell(shown, view.query, n);
    return query_cell(shown, n);
}

std::string token_words(const Source& source, Index n) {
    const auto at = static_cast<std::size_t>(n);
    if (at >= source.tokens.size()) return fmt::format("token {}", n);
    return fmt::format("token {}: “{}”", n, shown_token(source.tokens[at], kMostTip));
}

WordRow row_of(const Source& source, const SentenceView& view, Index middle) {
    WordRow row;
    const Index count = std::ssize(source.labels);
    row.first =
        std::clamp(middle - kMostChips / 2, Index{0}, std::max<Index>(count - kMostChips, 0));
    const Index end = std::min(row.first + kMostChips, count);
    for (Index n = row.first; n < end; ++n) {
        WordChip chip;
        chip.text = source.labels[static_cast<std::size_t>(n)];
        chip.tooltip = token_words(source, n);
        chip.cell = cell_of(source, view, n);
        chip.is_query = source.axis == Axis::query && view.query == n;
        row.chips.push_back(std::move(chip));
    }
    return row;
}

std::string weight_words(const WordChip& chip) {
    if (chip.look == ChipLook::masked) return "masked: the weight is 0";
    if (chip.look == ChipLook::not_a_number) return "NaN";
    return percent(chip.weight);
}

/// The told weights, and how the canvas colours the row of the query.
struct Weights {
    MatrixView<const float> values;  // 0 × 0: not told yet
    ColorRange range;

    Weights(const AppState& state, const SentenceView& view) {
        if (!view.weighed) return;
        values = sheet_of(state, told_weights(state)).values;
        for (Index i = 0; i < values.rows; ++i)
            range.high = std::max(range.high, range_of(ColorScale::unit, values.row(i)).high);
        range.scale = ColorScale::unit;
        if (step_look(state).rows_scaled) range = range_of_row(range, values.row(*view.query));
    }
};

void shade(WordChip& chip, const ColorRange& range, ThemeName name) {
    if (chip.look == ChipLook::masked) chip.fill = theme(name).masked;
    if (chip.look == ChipLook::not_a_number) chip.fill = theme(name).nan;
    if (chip.look == ChipLook::weighed) chip.fill = color_of(range, chip.weight, name);
    chip.ink = ink_on(chip.fill, name);
}

/// The weights of the query on the words that it attends to; before softmax only what the mask hides.
void weigh(SentenceView& view, const AppState& state, const std::string& query) {
    WordRow& row = view.keys.chips.empty() ? view.queries : view.keys;
    const std::vector<std::uint8_t> allowed = allowed_keys(state, *view.query);
    const Weights weights(state, view);
    Index key = row.first;
    for (WordChip& chip : row.chips) {
        const bool masked = allowed[static_cast<std::size_t>(key)] == 0;
        if (view.weighed) {
            chip.weight = weights.values(*view.query, key);
            chip.look = std::isnan(chip.weight) ? ChipLook::not_a_number : ChipLook::weighed;
        }
        if (masked) chip.look = ChipLook::masked;
        ++key;
        if (chip.look == ChipLook::plain) continue;
        shade(chip, weights.range, state.theme);
        chip.tooltip += fmt::format("\n{} → {}: {}", query, chip.text, weight_words(chip));
    }
}

std::string place_words(const AppState& state, const LookedAt& place) {
    const Document& document = state.document();
    const auto query = [&] { return axis_label(document, Axis::query, *place.query); };
    const auto key = [&] { return axis_label(document, Axis::key, *place.key); };
    if (place.query && place.key) return fmt::format("Query {}, key {}.", query(), key());
    if (place.query) return fmt::format("Query {}.", query());
    if (place.key) return fmt::format("Key {}.", key());
    return std::string(kInvitation);
}

WordChip left_out(Index words) {
    WordChip chip;
    chip.text = fmt::format("… {} more", words);
    chip.tooltip = "Words that are not shown: select one of them in the matrix.";
    chip.look = ChipLook::left_out;
    return chip;
}

/// Last of all, so that until here the n-th chip is the n-th word.
void say_left_out(WordRow& row, Index count) {
    const Index after = count - row.first - std::ssize(row.chips);
    if (after > 0) row.chips.push_back(left_out(after));
    if (row.first > 0) row.chips.insert(row.chips.begin(), left_out(row.first));
}

void mark_key(SentenceView& view, const LookedAt& place) {
    WordRow& row = view.keys.chips.empty() ? view.queries : view.keys;
    if (!place.key) return;
    const Index n = *place.key - row.first;
    if (n >= 0 && n < std::ssize(row.chips)) row.chips[static_cast<std::size_t>(n)].is_key = true;
}

}  // namespace

SentenceView build_sentence_view(const AppState& state) {
    SentenceView view;
    if (!step_lacks(state).empty()) return view;
    const Document& document = state.document();
    const Dimensions& size = document.size;
    const Shown shown(state);
    const LookedAt place = looked_at(state);
    view.weighed = is_told(state);
    view.query = place.query;
    if (view.weighed && !view.query) view.query = 0;
    const Index middle = view.query.value_or(place.key.value_or(0));
    view.queries =
        row_of({shown, axis_labels(document, Axis::query, size.tq), document.tokens, Axis::query},
               view, middle);
    if (has_own_keys(document)) {
        const Index key = place.key.value_or(0);
        view.keys = row_of(
            {shown, axis_labels(document, Axis::key, size.tk), document.tokens_kv, Axis::key}, view,
            key);
    }
    mark_key(view, place);
    view.words = view.weighed ? attention_words(state, *view.query) : place_words(state, place);
    if (const std::string said = read_out_words(document); !said.empty())
        view.read_out = sentence(said);
    if (view.query && (view.weighed || state.stage == Stage::masked))
        weigh(view, state, axis_label(document, Axis::query, *view.query));
    say_left_out(view.queries, size.tq);
    if (has_own_keys(document)) say_left_out(view.keys, size.tk);
    return view;
}

}  // namespace attn::view
