#include "app/common/pair.h"

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/map/camera.h"
#include "app/common/map/state.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "core/stages.h"

namespace attn::view {
namespace {

// The place of scores, scaled, masked and weights: rows are queries, columns are keys.
constexpr auto kPairs = static_cast<std::size_t>(Axis::key);

/// Of the selected cell, where it stands for a pair.
std::optional<Stage> selected_stage(const AppState& state) {
    const Stage* const stage =
        state.selected ? std::get_if<Stage>(&state.selected->tensor) : nullptr;
    if (stage == nullptr || !pair_stages()[index_of(*stage)]) return std::nullopt;
    return *stage;
}

}  // namespace

bool has_pair(const AppState& state, Pair pair) {
    const Dimensions& size = state.document().size;
    return pair.query >= 0 && pair.query < size.tq && pair.key >= 0 && pair.key < size.tk;
}

Pair nearest_pair(const AppState& state, Pair pair) {
    const Dimensions& size = state.document().size;
    return {std::clamp<Index>(pair.query, 0, std::max<Index>(size.tq, 1) - 1),
            std::clamp<Index>(pair.key, 0, std::max<Index>(size.tk, 1) - 1)};
}

std::string no_pair_text(const AppState& state, Pair pair, std::string_view matrix) {
    const Dimensions& size = state.document().size;
    return fmt::format("There is no pair {} → {}: {} {} × {}, counted from 0.", pair.query,
                       pair.key, matrix, size.tq, size.tk);
}

std::string pair_name(const AppState& state, Pair pair) {
    return fmt::format("{} → {}", axis_label(state, Axis::query, pair.query),
                       axis_label(state, Axis::key, pair.key));
}

std::optional<Pair> selected_pair(const AppState& state) {
    if (!selected_stage(state)) return std::nullopt;
    return Pair{state.selected->row, state.selected->column};
}

std::optional<Pair> shared_pair(const AppState& state) {
    if (const auto pair = selected_pair(state)) return pair;
    if (const auto& place = state.places[kPairs]) return Pair{place->row, place->column};
    if (const auto& cell = map_look(state).selected) return Pair{cell->row, cell->column};
    return std::nullopt;
}

void share_pair(AppState& state, Pair pair) {
    if (const auto stage = selected_stage(state)) {
        const CellRef cell{*stage, pair.query, pair.key};
        if (has_cell(state, cell)) state.chosen = state.selected = cell;
    }
    state.places[kPairs] = large::Cell{pair.query, pair.key};
    const large::Cell cell{pair.query, pair.key};
    if (has_map_cell(map_look(state), cell)) map_look(state).selected = cell;
}

}  // namespace attn::view
