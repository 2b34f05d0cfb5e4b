#include "tests/large/exact_map.h"

#include <cmath>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/call.h"
#include "core/large/planted.h"
#include "core/large/planted_spec.h"
#include "core/large/tiles.h"
#include "core/masks.h"
#include "tests/support/random.h"
#include "tests/support/results.h"

namespace attn::test {
namespace {

using namespace attn::large;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRoundoff = 0x1.0p-24;

struct Score {
    double value = 0.0;
    double magnitude = 0.0;  // Σ |q_c k_c|
};

Score score(std::span<const float> q, std::span<const float> k) {
    Score score;
    for (std::size_t c = 0; c < q.size(); ++c) {
        const double product = static_cast<double>(q[c]) * static_cast<double>(k[c]);
        score.value += product;
        score.magnitude += std::abs(product);
    }
    return score;
}

double logsumexp_of(std::span<const double> row) {
    const double most = *std::max_element(row.begin(), row.end());
    if (most == -kInfinity) return most;
    double sum = 0.0;
    for (const double s : row) sum += std::exp(s - most);
    return most + std::log(sum);
}

/// A sum of n floats may be wrong by so much, relative to the sum of magnitudes.
double sum_error(double n) { return kRoundoff * (2.0 + 2.0 * std::sqrt(n)); }

struct Pooled {
    double mean = 0.0;
    double max = -kInfinity;
    double log_mean = 0.0;
    double log_magnitude = 0.0;
    Index cells = 0;
    Index allowed = 0;
};

Pooled pool(const ExactMap& exact, Index row, Index rows, Index column, Index columns) {
    Pooled pooled;
    for (Index i = row; i < std::min(row + rows, exact.rows); ++i)
        for (Index j = column; j < std::min(column + columns, exact.columns); ++j) {
            ++pooled.cells;
            const auto at = static_cast<std::size_t>(i * exact.columns + j);
            if (exact.allowed[at] == 0) continue;
            ++pooled.allowed;
            const double log_weight = exact.log_weights[at];
            const double weight = exact.weights[at];
            pooled.mean += weight;
            pooled.max = std::max(pooled.max, weight);
            pooled.log_mean += log_weight;
            pooled.log_magnitude += std::abs(log_weight);
        }
    pooled.mean /= static_cast<double>(pooled.cells);
    pooled.log_mean =
        pooled.allowed == 0 ? -kInfinity : pooled.log_mean / static_cast<double>(pooled.allowed);
    return pooled;
}

bool close(float actual, double expected, double tolerance) {
    const auto value = static_cast<double>(actual);
    if (std::isinf(expected)) return value == expected;
    return std::abs(value - expected) <= tolerance;
}

}  // namespace

ExactMap exact_map(const WeightSource& source, Head head) {
    const Dimensions& size = source.size;
    ExactMap exact{source, size.tq, size.tk, {}, {}, {}, {}, 0.0};
    const auto q = source.q->matrix(head.b, head.h);
    const auto k = source.k->matrix(head.b, head.h / (size.heads / size.kv_heads));
    const double factor = score_factor(source.spec, size.d_k);
    exact.log_weights.resize(size.tq * size.tk);
    exact.allowed.resize(exact.log_weights.size());
    double most = 0.0;
    for (Index i = 0; i < size.tq; ++i) {
        const std::span<double> row(exact.log_weights.data() + i * size.tk,
                                    static_cast<std::size_t>(size.tk));
        for (Index j = 0; j < size.tk; ++j) {
            const bool allowed = may_attend(source.spec.mask, size, head.b, head.h, i, j);
            exact.allowed[i * size.tk + j] = allowed ? 1 : 0;
            const Score s = score(q.row(i), k.row(j));
            most = std::max(most, s.magnitude * std::abs(factor));
            row[j] = allowed ? s.value * factor : -kInfinity;
        }
        exact.logsumexp.push_back(logsumexp_of(row));
        for (double& entry : row)
            entry = entry == -kInfinity ? entry : entry - exact.logsumexp.back();
    }
    for (const double log_weight : exact.log_weights) exact.weights.push_back(std::exp(log_weight));
    // of the score, of the logsumexp's scores, and of the stored logsumexp and exp
    const double score_error = sum_error(static_cast<double>(size.d_k)) * most;
    exact.relative = 2.0 * score_error + kRoundoff * (2.0 * most + 8.0);
    return exact;
}

std::string tile_mismatch(const Tile& tile, const ExactMap& exact) {
    const Index side = tile.id.side();
    for (Index r = 0; r < tile.texels.rows; ++r)
        for (Index c = 0; c < tile.texels.columns; ++c) {
            const Pooled wanted = pool(exact, tile.id.first_row() + r * side, side,
                                       tile.id.first_column() + c * side, side);
            const std::size_t at = tile.texels.at(r, c);
            const double relative = exact.relative + sum_error(static_cast<double>(wanted.cells));
            const double log_error =
                exact.relative + sum_error(static_cast<double>(wanted.cells)) *
                                     (wanted.log_magnitude /
                                      std::max<double>(1.0, static_cast<double>(wanted.allowed)));
            const Index allowed =
                tile.texels.allowed.empty() ? wanted.cells : tile.texels.allowed[at];
            if (allowed == wanted.allowed && tile.texels.masked(r, c) == (wanted.allowed == 0) &&
                close(tile.texels.mean[at], wanted.mean, relative * wanted.mean + 1e-37) &&
                close(tile.texels.max[at], wanted.max, exact.relative * wanted.max + 1e-37) &&
                close(tile.texels.log_mean[at], wanted.log_mean, log_error))
                continue;
            return fmt::format(
                "tile {} {} {} texel {} {}: mean {} wanted {}, max {} wanted {}, log-mean {} "
                "wanted {} (relative {}, log {}), allowed {} wanted {}",
                tile.id.level, tile.id.row, tile.id.column, r, c, tile.texels.mean[at], wanted.mean,
                tile.texels.max[at], wanted.max, tile.texels.log_mean[at], wanted.log_mean,
                relative, log_error, allowed, wanted.allowed);
        }
    return {};
}

Texels pool_exact(const ExactMap& exact, Index first_row, Index rows, Index pool_rows,
                  Index pool_keys) {
    Texels texels;
    texels.rows = (rows + pool_rows - 1) / pool_rows;
    texels.columns = (exact.columns + pool_keys - 1) / pool_keys;
    for (Index r = 0; r < texels.rows; ++r)
        for (Index c = 0; c < texels.columns; ++c) {
            const Index row = first_row + r * pool_rows;
            const Pooled pooled = pool(exact, row, std::min(pool_rows, first_row + rows - row),
                                       c * pool_keys, pool_keys);
            texels.mean.push_back(static_cast<float>(pooled.mean));
            texels.max.push_back(static_cast<float>(pooled.max));
            texels.log_mean.push_back(static_cast<float>(pooled.log_mean));
        }
    return texels;
}

std::shared_ptr<const MapSnapshot> finished_snapshot(WeightMap& map, const ViewRequest& request) {
    map.want(request);
    REQUIRE(map.wait_until_idle());
    const auto snapshot = map.snapshot();
    REQUIRE(snapshot != nullptr);
    CHECK(snapshot->request == request);
    CHECK_FALSE(snapshot->working);
    return snapshot;
}

ViewRequest exactly(double top, double left, double rows, double columns, int level) {
    ViewRequest request;
    request.view = {top, left, rows, columns, level};
    request.full_pass = true;
    return request;
}

WeightSource normal_source(Index tq, Index tk, Index d_k, AttentionSpec spec) {
    return {std::make_shared<const Tensor>(normal_tensor<float>({1, 1, tq, d_k}, 5, 2.0)),
            std::make_shared<const Tensor>(normal_tensor<float>({1, 1, tk, d_k}, 6, 2.0)),
            std::move(spec),
            {.batch = 1, .heads = 1, .kv_heads = 1, .tq = tq, .tk = tk, .d_k = d_k}};
}

std::shared_ptr<const MapInput> planted(const PlantedSpec& spec) {
    auto input = must(plant(spec));
    return std::make_shared<const MapInput>(std::move(input));
}

}  // namespace attn::test
