#include "core/large/top_cells.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <set>

#include "core/large/weight_source.h"

namespace attn::large {
namespace {

/// Some cells and the largest weight among them; of one cell its weight.
struct Candidate {
    float weight = 0.0F;
    int level = -1;  // −1: one cell, else texel (row, column) of that level
    Index row = 0;
    Index column = 0;
    /// Of equal weights single cells first: they are the end of a search.
    bool operator<(const Candidate& other) const {
        return weight != other.weight ? weight < other.weight : level > other.level;
    }
    bool operator>(const Candidate& other) const { return other < *this; }
};

class TopSearch {
  public:
    TopSearch(const ExactParts& exact, const MapView& view, const TopChoice& choice,
              const std::stop_token& stop)
        : exact_(exact),
          box_(cells_of(view, exact.source.size)),
          one_per_query_(choice.one_per_query),
          stop_(stop) {
        if (!choice.skip_first_key) return;
        box_.columns.begin = std::max<Index>(box_.columns.begin, 1);
        box_.columns.end = std::max(box_.columns.begin, box_.columns.end);
    }

    /// Of the texels that lie in the view with all their cells, the `count` largest maxima are enough:
    /// each is the weight of a cell. A texel that the view cuts may have its largest cell outside, and
    /// where each query counts once the largest maxima may all be of one query: those are kept all.
    void start(const Tiles& tiles, std::size_t count) {
        std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> largest;
        for (const auto& tile : tiles)
            for (Index r = 0; r < tile->texels.rows; ++r)
                for (Index c = 0; c < tile->texels.columns; ++c) {
                    const Candidate texel{tile->texels.max[tile->texels.at(r, c)], tile->id.level,
                                          tile->id.row * kTileTexels + r,
                                          tile->id.column * kTileTexels + c};
                    if (!(texel.weight > 0.0F)) continue;
                    if (!is_cut(texel) && !one_per_query_) {
                        if (largest.size() == count && !(largest.top() < texel)) continue;
                        if (largest.size() == count) largest.pop();
                        largest.push(texel);
                    } else {
                        push(texel);
                    }
                }
        for (; !largest.empty(); largest.pop()) push(largest.top());
    }

    std::vector<WeightedCell> run(std::size_t count) {
        std::vector<WeightedCell> found;
        while (found.size() < count && !queue_.empty() && !stop_.stop_requested()) {
            const Candidate best = queue_.top();
            queue_.pop();
            if (best.level == -1) {
                if (one_per_query_ && !queries_.insert(best.row).second) continue;
                found.push_back({{best.row, best.column}, best.weight});
            } else if (best.level > exact_.pyramid.base_level()) {
                push_quarters(best);
            } else {
                push_cells(best);
            }
        }
        return found;
    }

  private:
    bool in_view(int level, Index row, Index column) const {
        const Index side = Index{1} << level;
        return row * side < box_.rows.end && (row + 1) * side > box_.rows.begin &&
               column * side < box_.columns.end && (column + 1) * side > box_.columns.begin;
    }

    bool is_cut(const Candidate& texel) const {
        const Index side = Index{1} << texel.level;
        return texel.row * side < box_.rows.begin || (texel.row + 1) * side > box_.rows.end ||
               texel.column * side < box_.columns.begin ||
               (texel.column + 1) * side > box_.columns.end;
    }

    void push(const Candidate& texel) {
        if (texel.weight > 0.0F && in_view(texel.level, texel.row, texel.column))
            queue_.push(texel);
    }

    void push_quarters(const Candidate& parent) {
        const int level = parent.level - 1;
        const Index rows = exact_.pyramid.queries(level).texels();
        for (Index r = 2 * parent.row; r < std::min(2 * parent.row + 2, rows); ++r) {
            const TexelRow row = exact_.pyramid.row(level, r);
            for (Index c = 2 * parent.column; c < std::min(2 * parent.column + 2, row->columns);
                 ++c)
                push({row->max[c], level, r, c});
        }
    }

    void push_cells(const Candidate& texel) {
        const Index side = Index{1} << texel.level;
        const KeyRange rows{std::max(texel.row * side, box_.rows.begin),
                            std::min((texel.row + 1) * side, box_.rows.end)};
        const KeyRange columns{std::max(texel.column * side, box_.columns.begin),
                               std::min((texel.column + 1) * side, box_.columns.end)};
        if (!pool_cells(exact_.source, exact_.head, exact_.pyramid.logsumexp(rows), rows.begin,
                        columns.begin, rows.end - rows.begin, columns.end - columns.begin, 1, stop_,
                        cells_))
            return;
        for (Index r = 0; r < cells_.rows; ++r)
            for (Index c = 0; c < cells_.columns; ++c)
                if (const float weight = cells_.mean[cells_.at(r, c)]; weight > 0.0F)
                    push_cell({weight, -1, rows.begin + r, columns.begin + c});
    }

    void push_cell(const Candidate& cell) {
        if (!queries_.contains(cell.row)) queue_.push(cell);
    }

    const ExactParts& exact_;
    CellBox box_;
    bool one_per_query_;
    std::set<Index> queries_;  // that were found, where each counts once
    std::stop_token stop_;
    std::priority_queue<Candidate> queue_;
    Texels cells_;
};

void keep_strongest(std::vector<WeightedCell>& cells, std::size_t count) {
    const auto last = cells.begin() + static_cast<Index>(std::min(count, cells.size()));
    std::partial_sort(
        cells.begin(), last, cells.end(),
        [](const WeightedCell& a, const WeightedCell& b) { return a.weight > b.weight; });
    cells.erase(last, cells.end());
}

/// Notes a cell of the row or column that is searched; NaN weights make the total NaN.
void note(Cell cell, float weight, SearchResult& result) {
    result.total += static_cast<double>(weight);
    if (std::isnan(weight)) {
        ++result.nans;
        if (!result.first_nan) result.first_nan = cell;
    }
    if (weight > 0.0F) result.cells.push_back({cell, weight});
}

bool search_query(const ExactParts& exact, Index row, const std::stop_token& stop,
                  SearchResult& result) {
    PooledRows weights;
    if (!pool_rows(exact.source, exact.head, {&row, 1}, 1, 1, stop, weights)) return false;
    for (Index j = 0; j < weights.texels.columns; ++j)
        note({row, j}, weights.texels.mean[j], result);
    return true;
}

bool search_key(const ExactParts& exact, Index column, std::span<const KeyRange> known,
                const std::stop_token& stop, SearchResult& result) {
    result.rows_missing = exact.source.size.tq;
    Texels weights;
    for (const KeyRange rows : known) {
        if (!pool_cells(exact.source, exact.head, exact.pyramid.logsumexp(rows), rows.begin, column,
                        rows.end - rows.begin, 1, 1, stop, weights))
            return false;
        for (Index r = 0; r < weights.rows; ++r)
            note({rows.begin + r, column}, weights.mean[r], result);
        result.rows_missing -= rows.end - rows.begin;
    }
    return true;
}

}  // namespace

std::vector<WeightedCell> top_cells(const ExactParts& exact, const Tiles& tiles,
                                    const MapView& view, const TopChoice& choice, std::size_t count,
                                    const std::stop_token& stop) {
    if (count == 0) return {};
    TopSearch search(exact, view, choice, stop);
    search.start(tiles, count);
    return search.run(count);
}

std::optional<SearchResult> search_cells(const ExactParts& exact, const Search& search,
                                         std::span<const KeyRange> known, std::size_t count,
                                         const std::stop_token& stop) {
    SearchResult result;
    result.search = search;
    const bool finished = search.of == Search::Of::query
                              ? search_query(exact, search.index, stop, result)
                              : search_key(exact, search.index, known, stop, result);
    if (!finished) return std::nullopt;
    keep_strongest(result.cells, count);
    return result;
}

}  // namespace attn::large
