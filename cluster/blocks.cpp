#include "cluster/blocks.h"

#include <algorithm>
#include <memory>

#include "core/call.h"
#include "core/entries.h"

namespace attn::cluster {
namespace {

/// Row i of a head among `keys`: 1 where it may attend. Returns how many.
Index fill_row(const MaskSpec& mask, const Dimensions& size, Index b, Index h, Index i,
               KeyRange keys, std::span<std::uint8_t> row) {
    const KeyRuns runs = key_runs(mask, size, b, i);
    for (const KeyRange run : {runs.first, runs.second}) {
        const Index begin = std::max(run.begin, keys.begin);
        const Index end = std::min(run.end, keys.end);
        if (begin < end) std::fill_n(row.begin() + (begin - keys.begin), end - begin, 1);
    }
    if (mask.custom) {
        const auto custom = broadcast_row(*mask.custom, b, h, i);
        for (std::size_t j = 0; j < row.size(); ++j)
            if (custom[custom.size() == 1 ? 0 : static_cast<std::size_t>(keys.begin) + j] == 0)
                row[j] = 0;
    }
    return std::ranges::count(row, 1);
}

}  // namespace

std::optional<Block> block_of(const AttentionSpec& spec, const Dimensions& size, KeyRange rows,
                              KeyRange keys) {
    Block block;
    block.spec.scale = ScaleKind::value;
    block.spec.scale_value = score_factor(spec, size.d_k);
    block.spec.softcap = spec.softcap;
    block.spec.alibi = spec.alibi;
    if (spec.alibi) {
        const Index first = rows.begin + size.query_offset - keys.begin;
        block.pad = std::clamp<Index>(-first, 0, rows.end - rows.begin - 1);
        block.nearer = std::max<Index>(-first - block.pad, 0);
        block.spec.query_offset = std::max<Index>(first + block.pad, 0);
    }
    const MaskSpec& mask = spec.mask;
    if (!mask.any() && block.pad == 0) return block;
    const Shape custom = mask.custom ? mask.custom->shape() : Shape{1, 1, 1, 1};
    const Shape shape{mask.padding.empty() && custom.b == 1 ? 1 : size.batch, custom.h,
                      rows.end - rows.begin, block.pad + keys.end - keys.begin};
    Mask allowed(shape);
    Index count = 0;
    for_each_row(shape, [&](Index b, Index h, Index i) {
        count += fill_row(mask, size, b, h, rows.begin + i, keys,
                          allowed.matrix(b, h).row(i).subspan(static_cast<std::size_t>(block.pad)));
    });
    if (count == 0) return std::nullopt;
    if (count < shape.count())
        block.spec.mask.custom = std::make_shared<const Mask>(std::move(allowed));
    return block;
}

}  // namespace attn::cluster
