#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/workspaces/masks/view.h"
#include "core/matrix_view.h"

namespace attn::view {

struct MasksLong;

// Parts of build_masks_view().

/// A matrix over all pairs.
struct PairValues {
    std::string title;
    std::string tooltip;
    Role role = Role::score;
    ColorScale colors = ColorScale::diverging;
    MatrixView<const float> values;
    std::vector<std::uint8_t> hidden;  // 1: looks masked; empty: none does
};
GridView pair_grid(const AppState& state, const PairValues& pairs);
/// Allowed 1, forbidden 0: the document's own mask.
/// `painted`: 1 where paint forbids; empty: nowhere.
GridView mask_grid_of(const AppState& state, std::span<const std::uint8_t> allowed,
                      std::span<const std::uint8_t> painted);
/// Sums of its rows, as numbers beside it.
SideVector sums_of(MatrixView<const float> values, Role role);
/// 1 where `allowed` is 0.
std::vector<std::uint8_t> forbidden_of(std::span<const std::uint8_t> allowed);

/// "5,000 × 5,000 scores are too many to be computed here"; "" where they are not.
std::string too_many_text(const AppState& state);
/// That, or what else the scores of every head wait for or failed by; "": the backend alone.
std::string scores_lack(const AppState& state);

/// switches.cpp
std::array<SwitchView, kMaskSwitches> mask_switches(const AppState& state);
MaskControls mask_controls(const AppState& state);

/// text.cpp: "The mask allows 10 of 16 pairs; …".
std::string compose_point(const AppState& state, std::span<const std::uint8_t> allowed);
/// Of rows without a key: "row 2 (sat) is left no key: …".
std::vector<std::string> empty_row_notes(const AppState& state,
                                         std::span<const std::uint8_t> allowed);
/// Rows that allow no key.
std::vector<bool> empty_rows(const AppState& state, std::span<const std::uint8_t> allowed);
/// "row 2 (sat)"; "row 2" without words.
std::string masks_row_name(const AppState& state, Index row);

/// compare.cpp: the second tab. `found`: where its matrices go when they are too long for cells.
void add_comparison(const AppState& state, MasksView& view, MasksLong* found);

}  // namespace attn::view
