#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/sizes.h"

namespace attn::view {

struct AppState;
struct Document;

// Tokens that are the patches of an image, or of a spectrogram. Their names are "row,column", from 0, so that every workspace
// names a patch by its place. A model names them so, and a file of arrays by image_tokens and image_grid.

/// The patches of one image, row by row, from token `first` on.
struct ImageTokens {
    Index first = 0;
    Index rows = 0, columns = 0;
    Index count() const { return rows * columns; }
    bool contains(Index token) const { return token >= first && token < first + count(); }
    bool operator==(const ImageTokens&) const = default;
};

/// "3,7"
std::string patch_name(Index row, Index column);
/// The first image in a text of tokens, of at least this many patches; nullopt: none. A text may contain "0,0", so that one patch
/// counts only where `least` is 1, or after one other token.
std::optional<ImageTokens> image_tokens(std::span<const std::string> tokens, Index least = 2);

/// Among the queries, and among the keys, of the document that is shown.
std::optional<ImageTokens> image_queries(const AppState& state);
std::optional<ImageTokens> image_keys(const AppState& state);
bool has_image_tokens(const AppState& state);

}  // namespace attn::view
