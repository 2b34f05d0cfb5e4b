#include "app/files/image_arrays.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "app/common/document/image_tokens.h"
#include "app/common/or_throw.h"
#include "app/files/arrays.h"
#include "app/files/tensors.h"
#include "core/io/png_image.h"

namespace attn::files {
namespace {

constexpr std::string_view kImage = "image", kKeys = "image_tokens", kQueries = "image_queries",
                           kGrid = "image_grid";

std::vector<double> numbers_in(const NpyArray& array) {
    return std::visit(
        [](const auto& values) -> std::vector<double> {
            if constexpr (requires { values.front() + 1.0; }) return {values.begin(), values.end()};
            return {};
        },
        array.values);
}

/// Two whole numbers; nullopt: the array is absent. `expected`: "[first, count] of the patches".
std::optional<std::pair<Index, Index>> pair_in(const ArrayReader& reader, std::string_view name,
                                               std::string_view expected, Index least) {
    if (!reader.has(name)) return std::nullopt;
    const NpyArray array = reader.array(name);
    const std::vector<double> numbers = numbers_in(array);
    constexpr double kMost = 1e9;  // far more tokens than any file has, and a product fits 64 bits
    const auto is_whole = [&](double number, Index from) {
        return number >= static_cast<double>(from) && number <= kMost &&
               number == std::floor(number);
    };
    if (numbers.size() != 2)
        throw bad_input(fmt::format("{}: {} is {} {}; expected two whole numbers, {}",
                                    reader.path(), name, array.dtype, to_string(array.extents),
                                    expected));
    if (!is_whole(numbers[0], least) || !is_whole(numbers[1], 1))
        throw bad_input(
            fmt::format("{}: {} is [{}, {}]; expected whole numbers, {}, the first at "
                        "least {} and the second at least 1",
                        reader.path(), name, numbers[0], numbers[1], expected, least));
    return std::pair{static_cast<Index>(numbers[0]), static_cast<Index>(numbers[1])};
}

struct Range {
    Index first = 0, count = 0;
    bool operator==(const Range&) const = default;
};

std::optional<Range> range_in(const ArrayReader& reader, std::string_view name, Index tokens,
                              std::string_view whose) {
    const auto pair = pair_in(reader, name, "[first, count] of the patches", 0);
    if (!pair) return std::nullopt;
    const auto [first, count] = *pair;
    if (first + count > tokens)
        throw bad_input(
            fmt::format("{}: {} is [{}, {}], which ends at token {}, and there are {} "
                        "{}; expected first + count of at most {}",
                        reader.path(), name, first, count, first + count, tokens, whose, tokens));
    return Range{first, count};
}

/// Of the patches: the given grid, or the square of their count.
std::pair<Index, Index> grid_of(const ArrayReader& reader,
                                std::optional<std::pair<Index, Index>> grid, std::string_view name,
                                Index count) {
    const auto side =
        static_cast<Index>(std::lround(std::sqrt(static_cast<double>(std::max<Index>(count, 0)))));
    if (!grid && side * side != count)
        throw bad_input(fmt::format(
            "{}: {} has {} patches, which is not a square; expected image_grid. Add image_grid = "
            "[rows, columns]",
            reader.path(), name, count));
    if (!grid) return {side, side};
    if (grid->first * grid->second != count)
        throw bad_input(fmt::format(
            "{}: {} has {} patches, and image_grid is [{}, {}], {} patches; expected rows · "
            "columns = {}",
            reader.path(), name, count, grid->first, grid->second, grid->first * grid->second,
            count));
    return *grid;
}

/// The tokens of the range get the names of patches; the others keep theirs, or have their number.
void name_patches(Range range, std::pair<Index, Index> grid, Index count,
                  std::vector<std::string>& tokens) {
    for (Index n = std::ssize(tokens); n < count; ++n) tokens.push_back(std::to_string(n));
    for (Index n = 0; n < range.count; ++n)
        tokens[range.first + n] = view::patch_name(n / grid.second, n % grid.second);
}

/// Names the patches among queries and keys. False: the file names no patches.
bool name_all(const ArrayReader& reader, TensorFile& file) {
    const Dimensions& size = file.size;
    const auto grid = pair_in(reader, kGrid, "[rows, columns] of the patches", 1);
    auto keys = range_in(reader, kKeys, size.tk, "keys (Tk)");
    auto queries = range_in(reader, kQueries, size.tq, "queries (Tq)");
    const bool same = size.tq == size.tk && file.tokens_kv.empty() &&
                      file.layers.front().x_kv.empty() && !(queries && !keys);
    if (grid && !keys && !queries) {
        const Index count = grid->first * grid->second;
        if (count == size.tk) keys = Range{0, count};
        if (count == size.tq) queries = Range{0, count};
        if (!keys && !queries)
            throw bad_input(fmt::format(
                "{}: image_grid is [{}, {}], {} patches, and there are {} queries and {} keys; "
                "expected image_tokens too. Add image_tokens = [first, count] of the keys, or "
                "image_queries",
                reader.path(), grid->first, grid->second, count, size.tq, size.tk));
    }
    if (!keys && !queries) return false;
    if (same && !queries) queries = keys;
    const auto shape =
        grid_of(reader, grid, keys ? kKeys : kQueries, (keys ? keys : queries)->count);
    if (queries) static_cast<void>(grid_of(reader, shape, kQueries, queries->count));
    if (!(same && queries == keys)) {  // the keys have other names
        if (size.tq == size.tk && file.tokens_kv.empty()) file.tokens_kv = file.tokens;
        name_patches(keys.value_or(Range{}), shape, size.tk, file.tokens_kv);
    }
    if (queries) name_patches(*queries, shape, size.tq, file.tokens);
    return true;
}

/// The values of pixels, 0 … 255.
std::vector<std::uint8_t> levels_of(const ArrayReader& reader, NpyArray array) {
    if (array.dtype == "uint8") return std::get<std::vector<std::uint8_t>>(std::move(array.values));
    const bool whole = array.dtype.find("int") != array.dtype.npos;
    if (!whole && array.dtype.find("float") == array.dtype.npos)
        throw bad_input(fmt::format("{}: image is {}; expected uint8, or floats from 0 to 1",
                                    reader.path(), array.dtype));
    const double most = whole ? 255.0 : 1.0;
    std::vector<std::uint8_t> levels;
    const std::vector<double> numbers = numbers_in(array);
    levels.reserve(numbers.size());
    for (const double number : numbers) {
        if (!(number >= 0.0 && number <= most))
            throw bad_input(fmt::format(
                "{}: image has the value {:.6g} at place {}, and is {}; expected {}. Undo the "
                "model's normalisation: value · image_std + image_mean",
                reader.path(), number, levels.size(), array.dtype,
                whole ? "0 to 255" : "0 to 1, or uint8 from 0 to 255"));
        levels.push_back(static_cast<std::uint8_t>(std::lround(number * 255.0 / most)));
    }
    return levels;
}

RgbImage image_of(Index height, Index width, Index channels,
                  const std::vector<std::uint8_t>& levels) {
    RgbImage image{width, height, {}, false};
    image.rgb.reserve(static_cast<std::size_t>(3 * width * height));
    for (Index n = 0; n < width * height; ++n) {
        const std::uint8_t* const pixel = levels.data() + channels * n;
        for (Index c = 0; c < 3; ++c) {
            const int level = pixel[channels < 3 ? 0 : c];
            const int alpha = channels == 4 ? pixel[3] : 255;
            image.rgb.push_back(
                static_cast<std::uint8_t>((level * alpha + 255 * (255 - alpha) + 127) / 255));
        }
    }
    return image;
}

RgbImage fitted(RgbImage image) {
    const Index longest = std::max(image.width, image.height);
    if (longest <= kMostShownSide) return image;
    const auto scaled = [&](Index side) {
        return std::max<Index>((side * kMostShownSide + longest / 2) / longest, 1);
    };
    return resized_image(image, scaled(image.width), scaled(image.height));
}

std::shared_ptr<const RgbImage> pixels_in(const ArrayReader& reader) {
    NpyArray array = reader.array(kImage);
    const std::vector<Index> axes = array.extents;
    const Index channels = axes.size() == 3 ? axes[2] : 1;
    const bool fits = (axes.size() == 2 || axes.size() == 3) &&
                      (channels == 1 || channels == 3 || channels == 4) && axes[0] >= 1 &&
                      axes[1] >= 1;
    if (!fits) {
        const bool channels_first = axes.size() == 3 && (axes[0] == 1 || axes[0] == 3);
        throw bad_input(fmt::format(
            "{}: image is {}; expected [height, width, 3], or [height, width] for grey.{}",
            reader.path(), to_string(axes),
            channels_first ? " Save image.transpose(1, 2, 0)" : " Save one image alone"));
    }
    if (axes[0] > kMostImageSide || axes[1] > kMostImageSide ||
        axes[0] * axes[1] > kMostImagePixels)
        throw bad_input(fmt::format(
            "{}: image is {}; expected at most {} pixels along a side and {} in all. Save a "
            "smaller "
            "one: {} pixels along a side are shown",
            reader.path(), to_string(axes), kMostImageSide, kMostImagePixels, kMostShownSide));
    return std::make_shared<const RgbImage>(
        fitted(image_of(axes[0], axes[1], channels, levels_of(reader, std::move(array)))));
}

}  // namespace

std::shared_ptr<const RgbImage> read_image(const ArrayReader& reader, TensorFile& file) {
    const bool named = name_all(reader, file) || view::image_tokens(file.tokens, 1) ||
                       view::image_tokens(file.tokens_kv, 1);
    if (!reader.has(kImage)) return nullptr;
    if (named) return pixels_in(reader);
    file.notes.emplace_back(fmt::format(
        "{}: image is not shown, because no token is known as a patch of it; add image_tokens = "
        "[first, count] of the keys, and image_grid = [rows, columns]",
        reader.path()));
    return nullptr;
}

}  // namespace attn::files
