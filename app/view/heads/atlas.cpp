#include <algorithm>
#include <cmath>

#include "app/view/common/colormap.h"
#include "app/view/heads/compute.h"
#include "app/view/heads/view.h"
#include "core/rng.h"

namespace attn::view {
namespace {

constexpr Index kMostTile = 48;
constexpr Index kMostPixels = 8192;  // along a side

Index tile_rows(const HeadsLayer& layer, const HeadsAtlas& atlas) {
    return std::min(layer.tq, atlas.tile);
}
Index tile_columns(const HeadsLayer& layer, const HeadsAtlas& atlas) {
    return std::min(layer.tk, atlas.tile);
}

/// What one pixel stands for.
struct Block {
    float largest = 0.0F;
    bool any = false;  // an allowed pair
    bool nan = false;
};
Block block_of(MatrixView<const float> weights, const std::vector<std::uint8_t>& allowed,
               large::Cell low, large::Cell high) {
    Block block;
    for (Index i = low.row; i < high.row; ++i)
        for (Index j = low.column; j < high.column; ++j) {
            const float weight = weights(i, j);
            const bool may =
                allowed.empty() || allowed[static_cast<std::size_t>(i * weights.columns + j)] != 0;
            block.nan = block.nan || std::isnan(weight);
            block.any = block.any || may;
            if (weight > block.largest) block.largest = weight;
        }
    return block;
}

Color color_of_block(const Block& block, const ColorRange& range, ThemeName name) {
    if (block.nan) return theme(name).nan;
    if (!block.any) return theme(name).masked;
    return color_of(range, block.largest, name);
}

void paint_head(Image& image, const HeadsResult& result, const HeadsAtlas& atlas,
                const HeadFacts& facts, bool own, ThemeName name) {
    const HeadsLayer& layer = result.layers[static_cast<std::size_t>(facts.place.layer)];
    const MatrixView<const float> weights = result.weights(facts.place);
    const Index rows = tile_rows(layer, atlas);
    const Index columns = tile_columns(layer, atlas);
    const double high = own && facts.largest > 0.0F ? facts.largest : 1.0;
    const ColorRange range{ColorScale::unit, 0.0, high};
    for (Index y = 0; y < rows; ++y)
        for (Index x = 0; x < columns; ++x) {
            const Color color =
                color_of_block(block_of(weights, result.allowed(facts.place),
                                        {y * layer.tq / rows, x * layer.tk / columns},
                                        {(y + 1) * layer.tq / rows, (x + 1) * layer.tk / columns}),
                               range, name);
            const Index at = (facts.place.layer * atlas.tile + y) * image.width +
                             facts.place.head * atlas.tile + x;
            const std::uint8_t rgba[] = {color.r, color.g, color.b, color.a};
            std::ranges::copy(rgba, image.rgba.begin() + 4 * at);
        }
}

Image paint(const HeadsResult& result, const HeadsAtlas& atlas, bool own, ThemeName name) {
    Image image{static_cast<int>(atlas.columns * atlas.tile),
                static_cast<int>(atlas.layers * atlas.tile),
                {}};
    image.rgba.resize(static_cast<std::size_t>(image.width) *
                      static_cast<std::size_t>(image.height) * 4);
    for (const HeadFacts& facts : result.heads) paint_head(image, result, atlas, facts, own, name);
    return image;
}

}  // namespace

HeadsAtlas heads_atlas(const HeadsResult& result) {
    HeadsAtlas atlas;
    atlas.layers = std::max<Index>(std::ssize(result.layers), 1);
    atlas.columns = 1;
    Index largest = 1;
    for (const HeadsLayer& layer : result.layers) {
        atlas.columns = std::max(atlas.columns, layer.heads);
        largest = std::max({largest, layer.tq, layer.tk});
    }
    const Index room = kMostPixels / std::max(atlas.layers, atlas.columns);
    atlas.tile = std::clamp<Index>(std::min(largest, kMostTile), 1, std::max<Index>(room, 1));
    return atlas;
}

Picture heads_picture(const AppState& state, const HeadsAtlas& atlas) {
    const HeadsLook& look = state.heads;
    std::uint64_t key = mix(look.result->content, hash_text("all heads"));
    key = mix(key, static_cast<std::uint64_t>(state.theme));
    key = mix(key, look.own_range ? 1 : 0);
    return {key, [result = look.result, atlas, own = look.own_range, name = state.theme] {
                return paint(*result, atlas, own, name);
            }};
}

Part heads_part(const HeadsResult& result, const HeadsAtlas& atlas, HeadPlace place) {
    const HeadsLayer& layer = result.layers[static_cast<std::size_t>(place.layer)];
    const auto across = [&](Index n) {
        return static_cast<float>(n) / static_cast<float>(atlas.columns * atlas.tile);
    };
    const auto down = [&](Index n) {
        return static_cast<float>(n) / static_cast<float>(atlas.layers * atlas.tile);
    };
    const Index x = place.head * atlas.tile;
    const Index y = place.layer * atlas.tile;
    return {{across(x), down(y)},
            {across(x + tile_columns(layer, atlas)), down(y + tile_rows(layer, atlas))}};
}

}  // namespace attn::view
