#include "core/block_mask.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/dimensions.h"
#include "core/entries.h"
#include "core/masks.h"
#include "core/spec.h"

namespace attn {
namespace {

Index tiles_over(Index length, Index block) { return (length + block - 1) / block; }

/// Writes `kind` at each tile that the list names.
Result<void> mark_tiles(const TileList& list, Tile kind, std::string_view prefix, Mask& tiles) {
    const Shape shape = list.shape, all = tiles.shape();
    std::size_t row = 0;
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h)
            for (Index r = 0; r < shape.t; ++r, ++row) {
                const Index count = list.counts[row];
                if (count < 0 || count > shape.d)
                    return unexpected_value(
                        fmt::format("{}kv_num_blocks[{}, {}, {}]", prefix, b, h, r),
                        std::to_string(count),
                        fmt::format("0 to {}, the columns of {}kv_indices", shape.d, prefix));
                for (Index n = 0; n < count; ++n) {
                    const Index c = list.indices[row * static_cast<std::size_t>(shape.d) +
                                                 static_cast<std::size_t>(n)];
                    const std::string entry =
                        fmt::format("{}kv_indices[{}, {}, {}, {}]", prefix, b, h, r, n);
                    if (c < 0 || c >= all.d)
                        return unexpected_value(entry, std::to_string(c),
                                                fmt::format("a key tile from 0 to {}", all.d - 1));
                    for (Index to_b = b; to_b < all.b; to_b += shape.b)
                        for (Index to_h = h; to_h < all.h; to_h += shape.h) {
                            std::uint8_t& tile = tiles(to_b, to_h, r, c);
                            if (tile != 0)
                                return unexpected_value(
                                    entry, std::to_string(c),
                                    fmt::format("each tile once: a kernel counts the keys of tile "
                                                "({}, {}) twice",
                                                r, c));
                            tile = static_cast<std::uint8_t>(kind);
                        }
                }
            }
    return {};
}

Result<void> check_axes(const TileList& list, std::string_view prefix, Index rows,
                        const Dimensions& size) {
    const auto fits = [](Index axis, Index wanted) { return axis == 1 || axis == wanted; };
    const Shape shape = list.shape;
    if (fits(shape.b, size.batch) && fits(shape.h, size.heads) && shape.t == rows) return {};
    return bad_input(fmt::format(
        "{0}kv_indices is {1}; expected [{2}, {3}, {4}, columns], or 1 in place of B or H: {5} "
        "queries are {4} tiles",
        prefix, to_string(shape), size.batch, size.heads, rows, size.tq));
}

/// The queries or keys of one tile.
KeyRange tile_range(Index tile, Index block, Index length) {
    return {tile * block, std::min((tile + 1) * block, length)};
}

void count_tile(Tile tile, TileCounts& counts) {
    ++(tile == Tile::full ? counts.full : tile == Tile::partial ? counts.partial : counts.empty);
}

/// Pairs that the mask allows in each key tile of one row of tiles, and their weight.
struct TileRow {
    std::vector<Index> allowed;
    std::vector<double> weight;
};
TileRow measure_tiles(const BlockMask& blocks, const MaskSpec& mask, const Dimensions& size,
                      const Tensor& weights, Index b, Index h, KeyRange queries) {
    const auto tiles = static_cast<std::size_t>(blocks.tiles.shape().d);
    TileRow row{std::vector<Index>(tiles, 0), std::vector<double>(tiles, 0.0)};
    std::vector<std::uint8_t> allowed(static_cast<std::size_t>(size.tk));
    for (Index i = queries.begin; i < queries.end; ++i) {
        end_if_stopped();
        fill_allowed(mask, size, b, h, i, allowed);
        for (Index j = 0; j < size.tk; ++j) {
            if (allowed[static_cast<std::size_t>(j)] == 0) continue;
            const auto tile = static_cast<std::size_t>(j / blocks.key_block);
            ++row.allowed[tile];
            if (!weights.empty()) row.weight[tile] += weights(b, h, i, j);
        }
    }
    for (double& weight : row.weight)
        weight = weights.empty() ? std::numeric_limits<double>::quiet_NaN()
                                 : weight / static_cast<double>(queries.end - queries.begin);
    return row;
}

}  // namespace

std::string_view key_of(TileFault fault) {
    return fault == TileFault::left_out ? "left_out" : "partly_forbidden";
}

Result<BlockMask> read_block_mask(const TileList& partial, const TileList& full, Index query_block,
                                  Index key_block, const Dimensions& size) {
    for (const auto& [name, block] :
         {std::pair{"Q_BLOCK_SIZE", query_block}, {"KV_BLOCK_SIZE", key_block}})
        if (block < 1) return unexpected_value(name, std::to_string(block), "1 or more");
    const Index rows = tiles_over(size.tq, query_block);
    if (auto fits = check_axes(partial, "", rows, size); !fits) return tl::unexpected(fits.error());
    const bool has_full = full.shape.count() > 0;
    if (has_full)
        if (auto fits = check_axes(full, "full_", rows, size); !fits)
            return tl::unexpected(fits.error());
    const Shape shape{std::max(partial.shape.b, full.shape.b),
                      std::max(partial.shape.h, full.shape.h), rows,
                      tiles_over(size.tk, key_block)};
    BlockMask blocks{query_block, key_block, Mask(shape)};
    if (auto done = mark_tiles(partial, Tile::partial, "", blocks.tiles); !done)
        return tl::unexpected(done.error());
    if (has_full)
        if (auto done = mark_tiles(full, Tile::full, "full_", blocks.tiles); !done)
            return tl::unexpected(done.error());
    return blocks;
}

BlockMaskReport check_block_mask(const BlockMask& blocks, const MaskSpec& mask,
                                 const Dimensions& size, const Tensor& weights) {
    BlockMaskReport report;
    const Shape shape = blocks.tiles.shape();
    for_each_row({size.batch, size.heads, shape.t, 1}, [&](Index b, Index h, Index r) {
        const KeyRange queries = tile_range(r, blocks.query_block, size.tq);
        const TileRow row = measure_tiles(blocks, mask, size, weights, b, h, queries);
        const auto listed = broadcast_row(blocks.tiles, b, h, r);
        for (Index c = 0; c < shape.d; ++c) {
            const KeyRange keys = tile_range(c, blocks.key_block, size.tk);
            const Index pairs = (queries.end - queries.begin) * (keys.end - keys.begin);
            const auto n = static_cast<std::size_t>(c);
            const Index allowed = row.allowed[n];
            const Tile tile{listed[n]};
            count_tile(tile, report.listed);
            count_tile(allowed == 0       ? Tile::empty
                       : allowed == pairs ? Tile::full
                                          : Tile::partial,
                       report.exact);
            if (tile == Tile::empty && allowed > 0)
                report.findings.push_back(
                    {TileFault::left_out, b, h, r, c, allowed, row.weight[n]});
            if (tile == Tile::full && allowed < pairs)
                report.findings.push_back({TileFault::partly_forbidden, b, h, r, c, pairs - allowed,
                                           std::numeric_limits<double>::quiet_NaN()});
            if (tile != Tile::empty && allowed == 0) ++report.needless;
        }
    });
    return report;
}

}  // namespace attn
