#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/sizes.h"

namespace attn {

/// 8-bit sRGB colours [height, width, 3], row by row from the top.
struct RgbImage {
    Index width = 0;
    Index height = 0;
    std::vector<std::uint8_t> rgb;
    bool over_white = false;  // it had pixels that are not opaque
};

/// Larger images are refused before anything is allocated for them.
inline constexpr Index kMostImagePixels = Index{1} << 26;
inline constexpr Index kMostImageSide = Index{1} << 15;

/// Every kind of PNG (1 to 16 bits, grey, palette, colours, alpha, interlaced), by libpng.
///   grey: red = green = blue;   16 bits: round(v / 257);   a pixel of alpha a of 255: (v a + 255 (255 − a)) / 255, rounded
/// A gAMA chunk of another curve than sRGB's is followed; colour profiles are not. An error names `where`: what is no PNG, is
/// cut short or damaged, or has more than kMostImagePixels, or than kMostImageSide along a side.
Result<RgbImage> parse_png(std::string_view bytes, std::string_view where);
Result<RgbImage> read_png(const std::filesystem::path& file);

/// The bytes of a PNG file, 8 bits, opaque, by libpng's fast setting: pictures of flat colours. Same pixels, same bytes.
std::string encode_png(const RgbImage& image);
/// The same, of rows that are made one at a time: `fill(y, rgb)` writes the 3 · width bytes of row y. `fill` must not throw.
std::string encode_png(Index width, Index height,
                       const std::function<void(Index, std::uint8_t*)>& fill);

/// How much a pixel at a distance t of a result's counts, t in steps of the coarser of the two images.
enum class Resampling : std::uint8_t {
    bilinear,  // max(0, 1 − t)
    bicubic    // 1.5 t³ − 2.5 t² + 1 below 1, −0.5 t³ + 2.5 t² − 4 t + 2 below 2
};
/// With antialiasing, as Pillow's Image.resize(…, BILINEAR or BICUBIC) computes it, bit for bit: along each row, then along
/// each column, a pixel of the result is the average of those of the image around its centre c = (n + ½) s, s = from / to,
/// with the weights at t = |x + ½ − c| / max(s, 1), in units of 2⁻²², rounded to 8 bits after each pass.
/// Width and height are at least 1.
RgbImage resized_image(const RgbImage& image, Index width, Index height,
                       Resampling how = Resampling::bilinear);
/// The width × height in the middle, where what is left over is odd one pixel nearer the top left. It is no larger than the image.
RgbImage middle_of(const RgbImage& image, Index width, Index height);

}  // namespace attn
