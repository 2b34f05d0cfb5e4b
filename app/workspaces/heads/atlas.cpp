#include <bit>

#include "app/common/state.h"
#include "app/workspaces/heads/shown.h"
#include "app/workspaces/heads/view.h"
#include "core/heads/all.h"
#include "core/rng.h"

namespace attn::view {
namespace {

constexpr Index kMostTile = 48;
constexpr Index kMostPixels = 8192;  // along a side

Color color_of_block(const HeadBlock& block, const ColorRange& range, ThemeName name) {
    if (block.nan) return theme(name).nan;
    if (!block.any) return theme(name).masked;
    if (block.clipped) return clipped_color(name);
    return color_of(range, block.largest, name);
}

void put(Image& image, Index x, Index y, Color color) {
    const std::uint8_t rgba[] = {color.r, color.g, color.b, color.a};
    std::ranges::copy(rgba, image.rgba.begin() + 4 * (y * image.width + x));
}

void paint_head(Image& image, const HeadsResult& result, const HeadsAtlas& atlas,
                const HeadFacts& facts, const HeadColors& colors, HeadShow show, ThemeName name) {
    const HeadsLayer& layer = result.layers[facts.place.layer];
    const HeadMatrix matrix = head_matrix(result, show, facts.place);
    const Index rows = std::min(layer.tq, atlas.tile);
    const Index columns = std::min(layer.tk, atlas.tile);
    const Index left = facts.place.head * atlas.tile;
    const Index top = facts.place.layer * atlas.tile;
    for (const auto [y, x] : each_cell(rows, columns)) {
        const BlockRange range{y * layer.tq / rows, x * layer.tk / columns,
                               (y + 1) * layer.tq / rows, (x + 1) * layer.tk / columns};
        put(image, left + x, top + y,
            !matrix.missing_data.empty()
                ? theme(name).raised
                : color_of_block(block_of(matrix, colors.clipped, range), colors.range, name));
    }
}

Image paint(const HeadsResult& result, const HeadsAtlas& atlas,
            const std::vector<HeadColors>& colors, HeadShow show, ThemeName name) {
    Image image{static_cast<int>(atlas.columns * atlas.tile),
                static_cast<int>(atlas.layers * atlas.tile),
                {}};
    image.rgba.resize(static_cast<std::size_t>(image.width) *
                      static_cast<std::size_t>(image.height) * 4);
    for (std::size_t n = 0; n < result.heads.size(); ++n)
        paint_head(image, result, atlas, result.heads[n], colors[n], show, name);
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
    const Index space = kMostPixels / std::max(atlas.layers, atlas.columns);
    atlas.tile = std::clamp<Index>(std::min(largest, kMostTile), 1, std::max<Index>(space, 1));
    return atlas;
}

Picture heads_picture(const AppState& state, const HeadsAtlas& atlas) {
    const HeadsLook& look = heads_look(state);
    std::uint64_t key = mix(look.result->content, hash_text("all heads"));
    for (const int each :
         {static_cast<int>(state.theme), look.own_range ? 1 : 0, static_cast<int>(look.show),
          static_cast<int>(look.curve), static_cast<int>(look.clip)})
        key = mix(key, static_cast<std::uint64_t>(each));
    const ColorLook look_of_colors = color_look(state);
    key = mix(key, static_cast<std::uint64_t>(look_of_colors.map) * 2 +
                       (look_of_colors.to_one ? 1U : 0U));
    if (look.clip == SinkClip::limit) key = mix(key, std::bit_cast<std::uint64_t>(look.clip_limit));
    // The colours are found when it is painted: once for each key.
    return {key, [look, atlas, look_of_colors, name = state.theme] {
                std::vector<HeadColors> colors;
                for (const HeadFacts& facts : look.result->heads)
                    colors.push_back(head_colors(look, facts.place, look_of_colors));
                return paint(*look.result, atlas, colors, look.show, name);
            }};
}

Part heads_part(const HeadsResult& result, const HeadsAtlas& atlas, HeadPlace place) {
    const HeadsLayer& layer = result.layers[place.layer];
    const auto share = [&](Index n, Index tiles) {
        return static_cast<float>(n) / static_cast<float>(tiles * atlas.tile);
    };
    const Index x = place.head * atlas.tile;
    const Index y = place.layer * atlas.tile;
    return {{share(x, atlas.columns), share(y, atlas.layers)},
            {share(x + std::min(layer.tk, atlas.tile), atlas.columns),
             share(y + std::min(layer.tq, atlas.tile), atlas.layers)}};
}

}  // namespace attn::view
