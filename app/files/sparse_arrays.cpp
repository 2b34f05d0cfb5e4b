#include "app/files/sparse_arrays.h"

#include <cmath>

#include <fmt/format.h>

#include "app/files/inputs.h"
#include "core/key_sets.h"
#include "core/masks.h"
#include "core/memory.h"

namespace attn::files {
namespace {

/// Whole numbers with their axes.
struct Integers {
    std::vector<Index> axes;
    std::vector<Index> values;
};
/// Of any type of numbers; each must be whole.
Integers integers_of(const ArrayReader& reader, const std::string& name) {
    constexpr double kMostWhole = 9007199254740992.0;  // 2^53
    const NpyArray array = reader.array(name);
    Integers read{array.extents, {}};
    bool whole = array.dtype != "bool";
    std::visit(
        [&](const auto& values) {
            if constexpr (requires { std::isfinite(values[0]); })
                for (const auto value : values) {
                    const auto number = static_cast<double>(value);
                    whole = whole && std::abs(number) < kMostWhole && std::trunc(number) == number;
                    read.values.push_back(whole ? static_cast<Index>(number) : 0);
                }
            else
                whole = false;
        },
        array.values);
    if (whole) return read;
    throw bad_input(fmt::format("{}: {} is {} {}; expected integers", reader.path(), name,
                                array.dtype, to_string(array.extents)));
}

template <class T>
T or_throw_within(const ArrayReader& reader, Result<T> result) {
    if (!result) throw Failure(within(reader.path(), result.error()));
    return *std::move(result);
}

void read_selected(const ArrayReader& reader, const std::string& name, const Dimensions& size,
                   MaskSpec& mask, SparseArrays& sparse, std::vector<Note>& notes) {
    Integers read = integers_of(reader, name);
    const Shape shape = or_throw_within(reader, four_axes("selected", read.axes, size));
    or_throw(check_fits_in_memory(
        static_cast<double>(shape.b * shape.h) * static_cast<double>(size.tq * size.tk),
        fmt::format("{}: the pairs that {} allows", reader.path(), name),
        "attend over fewer tokens", size));
    SelectedMask made =
        or_throw_within(reader, mask_of_selected({shape, std::move(read.values)}, size));
    const RepeatedKey& twice = made.repeated;
    if (twice.count > 0)
        notes.push_back(fmt::format(
            "{}: {} names {} key{} twice for one query, first key {} of query {} in sequence {}, "
            "head {}; each counts once",
            reader.path(), name, twice.count, twice.count == 1 ? "" : "s", twice.key, twice.query,
            twice.batch, twice.head));
    sparse.selected = std::make_shared<const Mask>(std::move(made.mask));
    sparse.other_mask = mask.custom;
    mask.custom = mask.custom
                      ? std::make_shared<const Mask>(both_allow(*mask.custom, *sparse.selected))
                      : sparse.selected;
    notes.push_back(
        fmt::format("{}: {} is read as a mask: a query attends only to the keys that "
                    "it names, of those that the other rules allow",
                    reader.path(), name));
}

/// `name` with its counts: kv_indices and kv_num_blocks.
TileList read_tiles(const ArrayReader& reader, const std::string& prefix) {
    const std::string counts_name = prefix + "kv_num_blocks", name = prefix + "kv_indices";
    for (const auto& [there, missing] :
         {std::pair{counts_name, name}, std::pair{name, counts_name}})
        if (reader.has(there) && !reader.has(missing))
            throw bad_input(fmt::format("{}: {} is given without {}; save both", reader.path(),
                                        there, missing));
    if (!reader.has(name)) return {};
    Integers counts = integers_of(reader, counts_name), indices = integers_of(reader, name);
    const std::vector<Index>& axes = indices.axes;
    if (axes.size() != 4 || counts.axes != std::vector<Index>(axes.begin(), axes.end() - 1))
        throw bad_input(
            fmt::format("{}: {} is {} and {} {}; expected [B, H, rows of tiles, columns] and the "
                        "same shape without columns, as in FlexAttention's BlockMask",
                        reader.path(), name, to_string(axes), counts_name, to_string(counts.axes)));
    return {Shape{axes[0], axes[1], axes[2], axes[3]}, std::move(counts.values),
            std::move(indices.values)};
}

/// One whole number; `otherwise` where the file has none.
Index read_scalar(const ArrayReader& reader, const std::string& name, Index otherwise) {
    if (!reader.has(name)) return otherwise;
    const Integers read = integers_of(reader, name);
    if (read.values.size() == 1) return read.values.front();
    throw bad_input(fmt::format("{}: {} is {}; expected one integer", reader.path(), name,
                                to_string(read.axes)));
}

std::optional<BlockMask> read_blocks(const ArrayReader& reader, const Dimensions& size) {
    const TileList partial = read_tiles(reader, ""), full = read_tiles(reader, "full_");
    if (partial.shape.count() == 0 && full.shape.count() > 0)
        throw bad_input(
            fmt::format("{}: full_kv_indices is given without kv_indices; save kv_num_blocks and "
                        "kv_indices too",
                        reader.path()));
    if (partial.shape.count() == 0) return std::nullopt;
    return or_throw_within(
        reader, read_block_mask(partial, full, read_scalar(reader, "Q_BLOCK_SIZE", kFlexBlock),
                                read_scalar(reader, "KV_BLOCK_SIZE", kFlexBlock), size));
}

}  // namespace

SparseArrays read_sparse(ArrayReader& reader, const std::string& selected, const Dimensions& size,
                         MaskSpec& mask, std::vector<Note>& notes) {
    SparseArrays sparse;
    if (reader.has(selected)) read_selected(reader, selected, size, mask, sparse, notes);
    sparse.block_mask = read_blocks(reader, size);
    if (sparse.block_mask)
        notes.push_back(fmt::format(
            "{}: kv_num_blocks and kv_indices are read as a BlockMask, which changes no number; "
            "attnscope sparse compares it with the mask",
            reader.path()));
    if (reader.has("indexer_scores"))
        sparse.indexer = pairs_of(reader, "indexer_scores", "indexer_scores", size);
    return sparse;
}

}  // namespace attn::files
