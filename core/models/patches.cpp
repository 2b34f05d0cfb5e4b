#include "core/models/patches.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "core/models/config.h"
#include "core/text.h"

namespace attn {
namespace {

constexpr std::size_t kMostClassName = 100;  // code points

/// Of pixel n.
double channel_value(const RgbImage& image, std::size_t n, Index channel, Index channels) {
    const std::uint8_t* const rgb = image.rgb.data() + 3 * n;
    if (channels == 3) return rgb[channel];
    return (19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + 0x8000) >> 16;
}

}  // namespace

Result<RgbImage> fitted_image(const RgbImage& image, const ImageInput& input) {
    const Index side = input.resized > 0 ? input.resized : input.size;
    Index width = side, height = side;
    if (input.keeps_shape) {
        const Index shorter = std::min(image.width, image.height);
        const auto scaled = [&](Index length) {  // as int(size * long / short) of Python
            return std::max(side, static_cast<Index>(static_cast<double>(side * length) /
                                                     static_cast<double>(shorter)));
        };
        width = scaled(image.width);
        height = scaled(image.height);
    }
    if (width * height > kMostImagePixels)
        return bad_input(fmt::format(
            "an image of {} × {} pixels is resized to {} × {} before its middle is read; expected "
            "at most {} pixels",
            image.width, image.height, width, height, kMostImagePixels));
    return middle_of(resized_image(image, width, height, input.resampling), input.size, input.size);
}

Tensor pixels_of(const RgbImage& fitted, const ImageInput& input) {
    ATTN_CHECK(fitted.width == input.size && fitted.height == input.size, "the image is fitted");
    auto pixels = Tensor::uninitialised({1, input.channels, input.size, input.size});
    const auto count = static_cast<std::size_t>(input.size * input.size);
    for (Index c = 0; c < input.channels; ++c) {
        const double mean = input.mean[c];
        const double deviation = input.deviation[c];
        float* const to = pixels.matrix(0, c).data;
        for (std::size_t n = 0; n < count; ++n)
            to[n] = static_cast<float>(
                (channel_value(fitted, n, c, input.channels) * input.factor - mean) / deviation);
    }
    return pixels;
}

Tensor patches_of(const Tensor& pixels, const ImageInput& input) {
    ATTN_CHECK((pixels.shape() == Shape{1, input.channels, input.size, input.size}),
               "pixels are those of pixels_of");
    const Index side = input.side();
    const Index patch = input.patch;
    auto patches = Tensor::uninitialised({1, 1, side * side, input.channels * patch * patch});
    float* to = patches.data();
    for (Index row = 0; row < side; ++row)
        for (Index column = 0; column < side; ++column)
            for (Index c = 0; c < input.channels; ++c)
                for (Index y = 0; y < patch; ++y)
                    for (Index x = 0; x < patch; ++x)
                        *to++ = pixels(0, c, row * patch + y, column * patch + x);
    return patches;
}

RgbImage patched_part(const RgbImage& fitted, const ImageInput& input) {
    const Index edge = input.side() * input.patch;
    RgbImage part{edge, edge, {}, fitted.over_white};
    for (Index row = 0; row < edge; ++row) {
        const auto from = fitted.rgb.begin() + row * input.size * 3;
        part.rgb.insert(part.rgb.end(), from, from + edge * 3);
    }
    for (std::size_t n = 0; input.channels == 1 && n < part.rgb.size() / 3; ++n)
        std::fill_n(part.rgb.begin() + static_cast<std::ptrdiff_t>(3 * n), 3,
                    static_cast<std::uint8_t>(channel_value(part, n, 0, 1)));
    return part;
}

std::vector<ModelToken> patch_tokens(const ImageInput& input) {
    const Index side = input.side();
    std::vector<ModelToken> tokens;
    if (input.leading > 0) tokens.push_back({0, "CLS"});
    if (input.leading - input.registers == 2) tokens.push_back({1, "DIST"});
    for (Index n = 0; n < input.registers; ++n)
        tokens.push_back({std::ssize(tokens), fmt::format("REG{}", n)});
    for (Index n = 0; n < side * side; ++n)
        tokens.push_back({n + input.leading, fmt::format("{},{}", n / side, n % side)});
    return tokens;
}

std::string class_text(const ImageInput& input, Index id) {
    const auto named = input.classes.find(id);
    if (named == input.classes.end() || named->second.empty()) return fmt::format("#{}", id);
    return shortened(named->second, kMostClassName);
}

std::string preparation_text(const ImageInput& input) {
    const Index side = input.resized > 0 ? input.resized : input.size;
    const std::string cut = side == input.size && !input.keeps_shape
                                ? std::string()
                                : fmt::format(", then cropped to the middle {0} × {0}", input.size);
    return fmt::format("resized to {}, {} with antialiasing{}; (v · {:.6g} − {}) / {}",
                       input.keeps_shape ? fmt::format("a shorter side of {}", side)
                                         : fmt::format("{0} × {0}", side),
                       input.resampling == Resampling::bicubic ? "bicubic" : "bilinear", cut,
                       input.factor, fmt::join(input.mean, " "), fmt::join(input.deviation, " "));
}

}  // namespace attn
