#pragma once

#include <string>
#include <vector>

#include "core/io/png_image.h"
#include "core/models/tokenizer.h"
#include "core/result.h"
#include "core/tensor.h"

namespace attn {

struct ImageInput;

// What a model of images reads. N patches: side × side, side = size / patch rounded down; what is left over at the right and
// at the bottom is in none of them, as in torch.nn.Conv2d.

/// Resized as the model asks, and of that the middle, size × size. An error of one that would have more than
/// kMostImagePixels before: where the shorter side is resized, a long thin one.
Result<RgbImage> fitted_image(const RgbImage& image, const ImageInput& input);

/// (v · factor − mean) / deviation of every channel, [1, channels, size, size], of such an image. One channel is
/// the luminance (19595 R + 38470 G + 7471 B) / 65536, rounded, of Pillow's convert("L").
Tensor pixels_of(const RgbImage& fitted, const ImageInput& input);

/// The patches of such pixels row by row, [1, 1, N, channels · patch · patch]: channel by channel, each row by row.
Tensor patches_of(const Tensor& pixels, const ImageInput& input);

/// What the patches cover of such an image, as it is before it becomes numbers: [side · patch, side · patch, 3]; grey where the
/// model reads one channel.
RgbImage patched_part(const RgbImage& fitted, const ImageInput& input);

/// The class token "CLS", then each patch by its row and column, "0,3". An id is the token's place.
std::vector<ModelToken> patch_tokens(const ImageInput& input);

/// Its name in config.json's id2label, or "#7".
std::string class_text(const ImageInput& input, Index id);

/// "resized to 224 × 224, bilinear with antialiasing; (v · 0.00392157 − 0.5 0.5 0.5) / 0.5 0.5 0.5".
std::string preparation_text(const ImageInput& input);

}  // namespace attn
