#pragma once

#include <functional>
#include <span>

#include "app/common/map/view.h"
#include "core/sizes.h"

namespace attn::view {

/// What stands along one axis of a map.
struct AxisText {
    Index cells = 0;
    std::function<std::string(Index)> word;  // of a token; "" where it is unknown
    bool own = false;                        // the document brings the words; else they are made up
    std::span<const Index> starts = {};      // of documents
    std::optional<Index> selected = {};
    bool labelled = false;  // every token has its word, at any zoom
};
/// Tokens of a sentence whose words all stand on the axes.
inline constexpr Index kMostLabelled = 64;
/// Whether the whole matrix, at a width in design units, has columns too narrow for the words of its keys.
bool has_upright_tokens(const MapLook& look, double width);
/// Of the one map.
AxisText axis_text(const MapLook& look, bool keys);

/// Where the tokens are, along the canvas: round numbers while cells are small, each token's word (or
/// number) once it fits; the starts of documents are strong marks. What is selected has its number and word at any size.
std::vector<RulerMark> ruler(const MapLook& look, bool keys, const AxisText& text);
std::vector<RulerMark> row_ruler(const MapLook& look);
std::vector<RulerMark> column_ruler(const MapLook& look);

/// The smallest of 1, 2, 5 · 10^n that is at least `least`; never below 1.
Index round_step(double least);

/// Sums along the edges; nullopt while there are none.
std::optional<MapProfile> row_profile(const MapLook& look);
std::optional<MapProfile> column_profile(const MapLook& look);

}  // namespace attn::view
