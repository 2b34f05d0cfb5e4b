#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/tensor.h"

namespace attn {

struct Dimensions;
struct MaskSpec;

// The BlockMask of PyTorch's FlexAttention: queries and keys in tiles, and a list of the tiles that a kernel computes.
// Tile (r, c) holds queries r · query_block … and keys c · key_block …; tiles at the end may be shorter. A tile is full, where the kernel
// computes every pair without its mask function, partial, where it applies the function, or not listed, where it computes nothing.
// Source: torch.nn.attention.flex_attention.BlockMask, PyTorch 2.5 and later; Dong et al. 2024, arXiv:2412.05496.

inline constexpr Index kFlexBlock = 128;  // _DEFAULT_SPARSE_BLOCK_SIZE of PyTorch

enum class Tile : std::uint8_t { empty, partial, full };

/// A list of tiles as its arrays hold it.
struct TileList {
    Shape shape;                 // [1 or B, 1 or H, query tiles, columns of `indices`]
    std::vector<Index> counts;   // [b, h, query tiles]: entries of a row of `indices` that count
    std::vector<Index> indices;  // [b, h, query tiles, columns]: key tiles
};
struct BlockMask {
    Index query_block = kFlexBlock, key_block = kFlexBlock;
    Mask tiles;  // [1 or B, 1 or H, query tiles, key tiles]: values of Tile
};
/// `partial` are kv_num_blocks and kv_indices; `full`, full_kv_num_blocks and full_kv_indices, may be of count 0. Errors name the entry: a
/// count above the columns, an index past the key tiles, a tile that a row lists twice, axes that do not fit.
Result<BlockMask> read_block_mask(const TileList& partial, const TileList& full, Index query_block,
                                  Index key_block, const Dimensions& size);

/// left_out: the mask allows pairs of a tile that is not listed, so the kernel loses their weight. partly_forbidden: the mask forbids
/// pairs of a tile that is listed as full, so the kernel computes them as allowed.
enum class TileFault : std::uint8_t { left_out, partly_forbidden };
std::string_view key_of(TileFault fault);
struct TileFinding {
    TileFault fault = TileFault::left_out;
    Index batch = 0, head = 0, query_block = 0, key_block = 0;
    Index pairs = 0;  // of the tile that are lost, or computed though forbidden
    double weight =
        0.0;  // left_out: exact weight of these pairs, mean over the tile's queries; NaN without weights
};

/// Tiles of all sequences and heads.
struct TileCounts {
    Index full = 0, partial = 0, empty = 0;

    Index all() const { return full + partial + empty; }
    Index computed() const { return full + partial; }
    bool operator==(const TileCounts&) const = default;
};
struct BlockMaskReport {
    TileCounts exact;                   // of the mask: tiles whose pairs it all allows, some, none
    TileCounts listed;                  // of the BlockMask
    Index needless = 0;                 // listed tiles in which the mask allows no pair
    std::vector<TileFinding> findings;  // by batch, head, query tile, key tile
};
/// Compares a BlockMask with the mask of the call, tile by tile. `weights` [B,H,Tq,Tk] are those of exact attention, or empty.
BlockMaskReport check_block_mask(const BlockMask& blocks, const MaskSpec& mask,
                                 const Dimensions& size, const Tensor& weights);

}  // namespace attn
