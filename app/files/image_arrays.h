#pragma once

#include <memory>

#include "core/sizes.h"

namespace attn {
struct RgbImage;
}

namespace attn::files {

class ArrayReader;
struct TensorFile;

/// Longer images are resized when they are read: no screen shows more.
inline constexpr Index kMostShownSide = 768;

/// The image of a file, and which tokens are its patches, row by row:
///   image          [height, width, 3], [height, width] or with alpha, over white; floats 0 … 1, or integers 0 … 255
///   image_tokens   [first, count] of the keys; of the queries too where they are the same tokens
///   image_queries  [first, count] of the queries, as of cross-attention from an image to words
///   image_grid     [rows, columns] of the patches; without it the count is a square
/// With image_grid alone the keys, or the queries, are its patches where there are as many. Patches get the names "row,column" in
/// `file.tokens` and `file.tokens_kv`. A file whose tokens have such names already, as of a trace, needs `image` alone. Returns
/// the pixels; null: the file has none.
std::shared_ptr<const RgbImage> read_image(const ArrayReader& reader, TensorFile& file);

}  // namespace attn::files
