#include "core/masks.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attn {
namespace {

// b batch entry, h head, i query row, j key column.

Result<Shape> four_axes(std::span<const Index> extents) {
    if (extents.size() == 2) return Shape{1, 1, extents[0], extents[1]};
    if (extents.size() == 4) return Shape{extents[0], extents[1], extents[2], extents[3]};
    if (extents.size() == 3)
        return bad_input(fmt::format(
            "mask [{0}, {1}, {2}] has 3 axes, which is ambiguous: write [{0}, 1, {1}, {2}] for one "
            "mask per batch entry or [1, {0}, {1}, {2}] for one per head",
            extents[0], extents[1], extents[2]));
    return bad_input(fmt::format("mask [{}] has {} axis(es): write [Tq, Tk] or [B, H, Tq, Tk]",
                                 fmt::join(extents, ", "), extents.size()));
}

}  // namespace

KeyRange key_range(const MaskSpec& mask, const Dimensions& size, Index b, Index i) {
    const Index longest = std::max(size.tq, size.tk);  // a longer window or block changes nothing
    KeyRange keys{0, size.tk};
    const auto narrow = [&keys](Index begin, Index end) {
        keys = {std::max(keys.begin, begin), std::min(keys.end, end)};
    };
    if (mask.causal == CausalAlign::top_left) narrow(0, i + 1);
    if (mask.causal == CausalAlign::bottom_right) narrow(0, i + 1 + size.tk - size.tq);
    if (mask.window) {
        const Index reach = std::min(*mask.window, longest);
        narrow(i - reach, i + reach + 1);
    }
    if (mask.block) {
        const Index length = std::min(*mask.block, longest);
        narrow(i / length * length, i / length * length + length);
    }
    if (!mask.padding.empty()) narrow(0, mask.padding[static_cast<std::size_t>(b)]);
    if (keys.begin >= keys.end) return {0, 0};
    return keys;
}

std::span<const std::uint8_t> broadcast_row(const Mask& mask, Index b, Index h, Index i) {
    const Shape& shape = mask.shape();
    return mask.matrix(shape.b == 1 ? 0 : b, shape.h == 1 ? 0 : h).row(shape.t == 1 ? 0 : i);
}

bool may_attend(const MaskSpec& mask, const Dimensions& size, Index b, Index h, Index i, Index j) {
    const KeyRange keys = key_range(mask, size, b, i);
    if (j < keys.begin || j >= keys.end) return false;
    if (!mask.custom) return true;
    const std::span<const std::uint8_t> row = broadcast_row(*mask.custom, b, h, i);
    return row[row.size() == 1 ? 0 : static_cast<std::size_t>(j)] != 0;
}

Index fill_allowed(const MaskSpec& mask, const Dimensions& size, Index b, Index h, Index i,
                   std::span<std::uint8_t> allowed) {
    const KeyRange keys = key_range(mask, size, b, i);
    std::fill(allowed.begin(), allowed.end(), std::uint8_t{0});
    std::fill(allowed.begin() + keys.begin, allowed.begin() + keys.end, std::uint8_t{1});
    if (!mask.custom) return keys.end - keys.begin;
    const std::span<const std::uint8_t> row = broadcast_row(*mask.custom, b, h, i);
    for (std::size_t j = 0; j < allowed.size(); ++j)
        if (row[row.size() == 1 ? 0 : j] == 0) allowed[j] = 0;
    return std::count(allowed.begin(), allowed.end(), std::uint8_t{1});
}

Index fill_contributing(const AttentionSpec& spec, const Dimensions& size, Index b, Index h,
                        Index i, std::span<std::uint8_t> contributes) {
    const Index allowed = fill_allowed(spec.mask, size, b, h, i, contributes);
    if (allowed == 0 && spec.empty_rows == EmptyRows::nan)
        std::fill(contributes.begin(), contributes.end(), std::uint8_t{1});
    return allowed;
}

Mask materialise(const MaskSpec& mask, const Dimensions& size) {
    Mask all(Shape{size.batch, size.heads, size.tq, size.tk});
    for (Index b = 0; b < size.batch; ++b)
        for (Index h = 0; h < size.heads; ++h)
            for (Index i = 0; i < size.tq; ++i)
                fill_allowed(mask, size, b, h, i, all.matrix(b, h).row(i));
    return all;
}

Result<void> check_broadcast(const Shape& mask, const Dimensions& size) {
    const auto fits = [](Index axis, Index wanted) { return axis == 1 || axis == wanted; };
    const Shape wanted{size.batch, size.heads, size.tq, size.tk};
    if (fits(mask.b, wanted.b) && fits(mask.h, wanted.h) && fits(mask.t, wanted.t) &&
        fits(mask.d, wanted.d))
        return {};
    return bad_input(
        fmt::format("mask {} does not broadcast to [B, H, Tq, Tk] = {}: each axis "
                    "must be 1 or equal",
                    to_string(mask), to_string(wanted)));
}

Result<Mask> mask_from_file(std::span<const Index> extents, std::vector<std::uint8_t> values,
                            const Dimensions& size) {
    const Result<Shape> shape = four_axes(extents);
    if (!shape) return tl::unexpected(shape.error());
    // Checked before the product of the axes is taken: after it no axis is larger than the call's.
    if (auto fits = check_broadcast(*shape, size); !fits) return tl::unexpected(fits.error());
    if (static_cast<Index>(values.size()) != shape->count())
        return bad_input(fmt::format("mask {} needs {} values but has {}", to_string(*shape),
                                     shape->count(), values.size()));
    return Mask(*shape, std::move(values));
}

}  // namespace attn
