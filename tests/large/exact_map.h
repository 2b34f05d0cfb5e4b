#pragma once

#include <string>
#include <vector>

#include "core/large/weight_map.h"
#include "core/large/weight_rows.h"
#include "core/large/weight_source.h"

namespace attn::large {
struct PlantedSpec;
}  // namespace attn::large

namespace attn::test {

/// Every weight of one head in double: the reference of a map.
struct ExactMap {
    large::WeightSource source;
    Index rows = 0;
    Index columns = 0;
    std::vector<double> log_weights;  // S − logsumexp; −inf where forbidden
    std::vector<double> weights;
    std::vector<char> allowed;
    std::vector<double> logsumexp;
    /// How wrong a weight may be in float, relative to itself: an error of e in a score is one of e in
    /// its exp, and a score is a sum of d_k products.
    double relative = 0.0;

    double weight(Index row, Index column) const { return weights[row * columns + column]; }
};
ExactMap exact_map(const large::WeightSource& source, large::Head head = {});

/// "" when every number of a tile is the pooled exact one; else a sentence with the worst.
std::string tile_mismatch(const large::Tile& tile, const ExactMap& exact);

/// Texels of exact rows, each pooled by `pool_rows` rows and `pool_keys` keys.
large::Texels pool_exact(const ExactMap& exact, Index first_row, Index rows, Index pool_rows,
                         Index pool_keys);

/// What a map shows of a request when nothing is left to do.
std::shared_ptr<const large::MapSnapshot> finished_snapshot(large::WeightMap& map,
                                                            const large::ViewRequest& request);

/// A view of which the whole pass is wanted: exact however slow the machine is.
large::ViewRequest exactly(double top, double left, double rows, double columns, int level);

/// One head of normal numbers of deviation 2.
large::WeightSource normal_source(Index tq, Index tk, Index d_k, AttentionSpec spec = {});

std::shared_ptr<const large::MapInput> planted(const large::PlantedSpec& spec);

}  // namespace attn::test
