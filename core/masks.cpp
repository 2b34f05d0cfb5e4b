#include "core/masks.h"
#include "core/bias.h"
#include "core/dimensions.h"
#include "core/entries.h"
#include "core/spec.h"
#include "core/spec_arrays.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attn {
namespace {

// b batch entry, h head, i query row, j key column.

KeyRange common(KeyRange a, KeyRange b) {
    const KeyRange both{std::max(a.begin, b.begin), std::min(a.end, b.end)};
    return both.begin < both.end ? both : KeyRange{};
}

/// Keys that the windows leave a query at position p.
KeyRange window_keys(const MaskSpec& mask, const Dimensions& size, Index p) {
    // A longer reach than this changes nothing.
    const Index farthest = size.tk + size.query_offset + size.tq;
    const auto reach = [&](std::optional<Index> side) {
        return std::min({side.value_or(farthest), mask.window.value_or(farthest), farthest});
    };
    return {p - reach(mask.window_left), p + reach(mask.window_right) + 1};
}

/// Keys in the block of a query at position p. No key has a position below 0, so a query there has none.
KeyRange block_keys(const MaskSpec& mask, const Dimensions& size, Index p) {
    if (p < 0) return {};
    // A longer block than this changes nothing.
    const Index length = std::min(*mask.block, std::max(p + 1, size.tk));
    const Index first = p / length * length;
    return {first, first + length};
}

/// What holds whatever the windows say: causal, block, padding, and that there is such a key.
KeyRange keys_without_window(const MaskSpec& mask, const Dimensions& size, Index b, Index i) {
    const Index p = i + size.query_offset;
    KeyRange keys{0, size.tk};
    if (mask.causal == CausalAlign::top_left) keys.end = p + 1;
    if (mask.causal == CausalAlign::bottom_right) keys.end = i + size.tk - size.tq + 1;
    keys = common(keys, {0, size.tk});
    if (mask.block) keys = common(keys, block_keys(mask, size, p));
    if (!mask.padding.empty()) keys = common(keys, {0, mask.padding[b]});
    return keys;
}

}  // namespace

KeyRuns key_runs(const MaskSpec& mask, const Dimensions& size, Index b, Index i) {
    const KeyRange keys = keys_without_window(mask, size, b, i);
    const Index p = i + size.query_offset;
    if (!mask.windowed() || (p >= 0 && p < mask.global_tokens)) return {keys, {}};
    const KeyRange global{0, mask.global_tokens};
    const KeyRange window = common(window_keys(mask, size, p), {0, size.tk});
    if (global.end > 0 && window.begin <= global.end)
        return {common(keys, {0, std::max(window.end, global.end)}), {}};
    const KeyRuns runs{common(keys, global), common(keys, window)};
    return runs.first.begin == runs.first.end ? KeyRuns{runs.second, {}} : runs;
}

bool may_attend(const MaskSpec& mask, const Dimensions& size, Index b, Index h, Index i, Index j) {
    if (!key_runs(mask, size, b, i).contains(j)) return false;
    if (mask.bias_forbids() && bias_at(mask, b, h, i, j) == kForbidding) return false;
    if (!mask.custom) return true;
    const std::span<const std::uint8_t> row = broadcast_row(*mask.custom, b, h, i);
    return row[row.size() == 1 ? 0 : static_cast<std::size_t>(j)] != 0;
}

Index fill_allowed(const MaskSpec& mask, const Dimensions& size, Index b, Index h, Index i,
                   std::span<std::uint8_t> allowed) {
    const KeyRuns keys = key_runs(mask, size, b, i);
    std::fill(allowed.begin(), allowed.end(), std::uint8_t{0});
    for (const KeyRange run : {keys.first, keys.second})
        std::fill(allowed.begin() + run.begin, allowed.begin() + run.end, std::uint8_t{1});
    if (!mask.custom && !mask.bias_forbids()) return keys.count();
    if (mask.custom) {
        const std::span<const std::uint8_t> row = broadcast_row(*mask.custom, b, h, i);
        for (std::size_t j = 0; j < allowed.size(); ++j)
            if (row[row.size() == 1 ? 0 : j] == 0) allowed[j] = 0;
    }
    if (mask.bias_forbids()) {
        const std::span<const float> row = broadcast_row(mask.bias->values, b, h, i);
        for (std::size_t j = 0; j < allowed.size(); ++j)
            if (row[row.size() == 1 ? 0 : j] == kForbidding) allowed[j] = 0;
    }
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
    for_each_query(size, [&](Index b, Index h, Index i) {
        fill_allowed(mask, size, b, h, i, all.matrix(b, h).row(i));
    });
    return all;
}

Result<Shape> four_axes(std::string_view name, std::span<const Index> extents,
                        const Dimensions& size) {
    if (extents.size() == 2) return Shape{1, 1, extents[0], extents[1]};
    if (extents.size() == 4) return Shape{extents[0], extents[1], extents[2], extents[3]};
    if (extents.size() == 3) {
        const Index first = extents[0];
        if (first == 1 || (first == size.heads && first != size.batch))
            return Shape{1, first, extents[1], extents[2]};
        return bad_input(fmt::format(
            "{0} [{1}, {2}, {3}] has 3 axes, which is ambiguous: write [{1}, 1, {2}, {3}] for one "
            "{0} per batch entry or [1, {1}, {2}, {3}] for one per head",
            name, first, extents[1], extents[2]));
    }
    return bad_input(fmt::format("{} [{}] has {} axis(es): write [Tq, Tk] or [B, H, Tq, Tk]", name,
                                 fmt::join(extents, ", "), extents.size()));
}

Result<void> check_broadcast(const Shape& mask, const Dimensions& size, std::string_view name) {
    const auto fits = [](Index axis, Index wanted) { return axis == 1 || axis == wanted; };
    const Shape wanted{size.batch, size.heads, size.tq, size.tk};
    if (fits(mask.b, wanted.b) && fits(mask.h, wanted.h) && fits(mask.t, wanted.t) &&
        fits(mask.d, wanted.d))
        return {};
    return bad_input(
        fmt::format("{} {} does not broadcast to [B, H, Tq, Tk] = {}: each axis "
                    "must be 1 or equal",
                    name, to_string(mask), to_string(wanted)));
}

Result<Mask> mask_from_file(std::span<const Index> extents, std::vector<std::uint8_t> values,
                            const Dimensions& size) {
    const Result<Shape> shape = four_axes("mask", extents, size);
    if (!shape) return tl::unexpected(shape.error());
    // Checked before the product of the axes is taken: after it no axis is larger than the call's.
    if (auto fits = check_broadcast(*shape, size); !fits) return tl::unexpected(fits.error());
    if (static_cast<Index>(values.size()) != shape->count())
        return bad_input(fmt::format("mask {} needs {} values but has {}", to_string(*shape),
                                     shape->count(), values.size()));
    return Mask::shared(*shape, std::move(values));
}

}  // namespace attn
