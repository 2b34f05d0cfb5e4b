#pragma once

#include <optional>
#include <stop_token>

#include "core/large/pyramid.h"
#include "core/large/tile_grid.h"
#include "core/large/view_stats.h"

namespace attn::large {

/// What a search for cells reads.
struct ExactParts {
    const WeightSource& source;
    Head head;
    const Pyramid& pyramid;
};

/// The `count` strongest cells of `tiles` that lie in `view`, strongest first: the texels with the
/// largest maxima are cut open, down to single cells, until those beat every maximum that is left.
/// Tiles are exact, all of one level. NaN is no candidate. Empty when stopped.
std::vector<WeightedCell> top_cells(const ExactParts& exact, const Tiles& tiles,
                                    const MapView& view, const TopChoice& choice, std::size_t count,
                                    const std::stop_token& stop);

/// The strongest `count` cells of one key's column over the rows that are known, or of one query's row.
/// `known`: runs of rows whose logsumexp is there. Empty when stopped.
std::optional<SearchResult> search_cells(const ExactParts& exact, const Search& search,
                                         std::span<const KeyRange> known, std::size_t count,
                                         const std::stop_token& stop);

}  // namespace attn::large
