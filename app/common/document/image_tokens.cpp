#include "app/common/document/image_tokens.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/common/document/key_tokens.h"
#include "app/common/state.h"

namespace attn::view {

std::string patch_name(Index row, Index column) { return fmt::format("{},{}", row, column); }

namespace {

/// A document with a picture may have one patch.
Index least_patches(const AppState& state) { return state.document().image ? 1 : 2; }

}  // namespace

std::optional<ImageTokens> image_tokens(std::span<const std::string> tokens, Index least) {
    const auto begin = std::ranges::find(tokens, "0,0");
    const Index first = begin - tokens.begin(), end = std::ssize(tokens);
    const auto is_patch = [&](Index token, Index row, Index column) {
        return token < end && tokens[token] == patch_name(row, column);
    };
    ImageTokens image{first, 0, 0};
    while (is_patch(first + image.columns, 0, image.columns)) ++image.columns;
    if (image.columns == 0) return std::nullopt;
    const auto has_row = [&](Index row) {
        for (Index column = 0; column < image.columns; ++column)
            if (!is_patch(first + row * image.columns + column, row, column)) return false;
        return true;
    };
    while (has_row(image.rows)) ++image.rows;
    if (image.count() < least && !(first == 1 && end == 2)) return std::nullopt;
    return image;
}

std::optional<ImageTokens> image_queries(const AppState& state) {
    return image_tokens(tokens_of(state.document(), state.batch), least_patches(state));
}

std::optional<ImageTokens> image_keys(const AppState& state) {
    return image_tokens(key_tokens(state.document(), state.batch), least_patches(state));
}

bool has_image_tokens(const AppState& state) {
    return image_keys(state).has_value() || image_queries(state).has_value();
}

}  // namespace attn::view
