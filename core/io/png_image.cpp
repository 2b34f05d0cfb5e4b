#include "core/io/png_image.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/check.h"
#include "core/io/array_memory.h"
#include "core/io/file.h"

namespace attn {
namespace {

constexpr std::string_view kPngSignature("\x89PNG\r\n\x1a\n", 8);
constexpr std::size_t kPngHeaderBytes = 33;  // the signature and the chunk IHDR
constexpr int kPngFastLevel = 3;             // libpng's own choice for fast files
constexpr Index kMostDeflateRatio = 1032;    // bytes that one byte of deflate's can stand for

/// What libpng holds, until it is freed.
struct PngMemory {
    png_image image{};
    PngMemory() { image.version = PNG_IMAGE_VERSION; }
    ~PngMemory() { png_image_free(&image); }
    PngMemory(const PngMemory&) = delete;
    PngMemory& operator=(const PngMemory&) = delete;
};

/// A PNG file that libpng writes.
struct PngFile {
    png_structp png;
    png_infop info;
    std::string bytes;
    bool no_memory = false;

    PngFile()
        : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, stop, ignore)),
          info(png ? png_create_info_struct(png) : nullptr) {
        if (!info) {
            png_destroy_write_struct(&png, nullptr);
            throw std::bad_alloc();
        }
        png_set_write_fn(png, this, append, nullptr);
    }
    ~PngFile() { png_destroy_write_struct(&png, &info); }
    PngFile(const PngFile&) = delete;
    PngFile& operator=(const PngFile&) = delete;

  private:
    [[noreturn]] static void stop(png_structp, png_const_charp why) {
        check_failed("libpng wrote the picture", why, __FILE__, __LINE__);
    }
    static void ignore(png_structp, png_const_charp) {}
    /// An exception must not pass libpng.
    static void append(png_structp png, png_bytep more, png_size_t count) noexcept {
        auto& file = *static_cast<PngFile*>(png_get_io_ptr(png));
        try {
            file.bytes.append(reinterpret_cast<const char*>(more), count);
        } catch (const std::bad_alloc&) {
            file.no_memory = true;
        }
    }
};

Index number_at(std::string_view bytes, std::size_t at) {
    Index value = 0;
    for (std::size_t n = 0; n < 4; ++n)
        value = value * 256 + static_cast<unsigned char>(bytes[at + n]);
    return value;
}

/// Of a pixel as it is stored, by colour type: grey, -, RGB, palette, grey and alpha, -, RGBA.
Index bits_of_pixel(std::string_view bytes) {
    constexpr Index kChannels[] = {1, 1, 3, 1, 2, 1, 4};
    const std::size_t depth = static_cast<unsigned char>(bytes[24]);
    const std::size_t type = static_cast<unsigned char>(bytes[25]);
    return static_cast<Index>(depth) * kChannels[std::min(type, std::size(kChannels) - 1)];
}

/// From the bytes alone, before libpng allocates rows: a small file can say that it is huge.
Result<void> check_png_header(std::string_view bytes, std::string_view where) {
    if (!bytes.starts_with(kPngSignature))
        return bad_input(fmt::format(
            "{} is not a PNG image: it does not begin with a PNG's eight bytes", where));
    if (bytes.size() < kPngHeaderBytes)
        return bad_input(fmt::format("{} is cut short: {} bytes are less than a PNG's header",
                                     where, bytes.size()));
    const Index width = number_at(bytes, 16);
    const Index height = number_at(bytes, 20);
    if (width == 0 || height == 0)
        return bad_input(
            fmt::format("{} is {} × {} pixels; expected at least 1 × 1", where, width, height));
    if (std::max(width, height) > kMostImageSide || width > kMostImagePixels / height)
        return bad_input(
            fmt::format("{} is {} × {} pixels; expected at most {} along a side and {} in all",
                        where, width, height, kMostImageSide, kMostImagePixels));
    const Index least = width * height * bits_of_pixel(bytes) / 8;
    if (least / kMostDeflateRatio > static_cast<Index>(bytes.size()))
        return bad_input(
            fmt::format("{} is {} × {} pixels by its header, which its {} bytes cannot hold", where,
                        width, height, bytes.size()));
    return {};
}

/// RGBA in, RGB out, in the same memory: pixel n is read at 4 n and written at 3 n.
void lay_over_white(std::vector<std::uint8_t>& pixels, RgbImage& image) {
    const std::size_t count = pixels.size() / 4;
    for (std::size_t n = 0; n < count; ++n) {
        const unsigned alpha = pixels[4 * n + 3];
        image.over_white |= alpha < 255;
        for (std::size_t c = 0; c < 3; ++c) {
            const unsigned sum = pixels[4 * n + c] * alpha + 255 * (255 - alpha);
            pixels[3 * n + c] = static_cast<std::uint8_t>((sum + 127) / 255);
        }
    }
    pixels.resize(3 * count);
    image.rgb = std::move(pixels);
}

Result<RgbImage> decoded_png(std::string_view bytes, std::string_view where) {
    PngMemory reader;
    const auto damaged = [&] {
        return bad_input(fmt::format("{} cannot be read as PNG: {}", where,
                                     static_cast<const char*>(reader.image.message)));
    };
    if (png_image_begin_read_from_memory(&reader.image, bytes.data(), bytes.size()) == 0)
        return damaged();
    RgbImage image;
    image.width = static_cast<Index>(reader.image.width);
    image.height = static_cast<Index>(reader.image.height);
    reader.image.format = PNG_FORMAT_RGBA;
    reader.image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // else 16 bits without gAMA count as linear
    std::vector<std::uint8_t> pixels(4 * image.width * image.height);
    if (png_image_finish_read(&reader.image, nullptr, pixels.data(), 0, nullptr) == 0)
        return damaged();
    lay_over_white(pixels, image);
    return image;
}

// The arithmetic of Pillow's libImaging/Resample.c (9.4), so that a model is given the pixels it was trained on.

constexpr int kResampleBits = 22;  // of a weight's fraction: 32 − 8 of the pixel − 2 of headroom

/// Which pixels of a line one pixel of the result is made of, and how much of each in units of 2⁻²².
struct ResampleTaps {
    Index first = 0;
    std::vector<std::int32_t> weights;
};

double resample_share(double t, Resampling how) {
    if (how == Resampling::bilinear) return t < 1.0 ? 1.0 - t : 0.0;
    constexpr double a = -0.5;
    if (t < 1.0) return ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0;
    return t < 2.0 ? (((t - 5.0) * t + 8.0) * t - 4.0) * a : 0.0;
}

std::vector<ResampleTaps> resample_taps(Index from, Index to, Resampling how) {
    const double scale = static_cast<double>(from) / static_cast<double>(to);
    const double inverse = 1.0 / std::max(scale, 1.0);
    const double support = (how == Resampling::bicubic ? 2.0 : 1.0) * std::max(scale, 1.0);
    std::vector<ResampleTaps> line(to);
    std::vector<double> shares;
    for (std::size_t n = 0; n < line.size(); ++n) {
        const double centre = (static_cast<double>(n) + 0.5) * scale;
        const Index first = std::max<Index>(0, static_cast<Index>(centre - support + 0.5));
        const Index end = std::min(from, static_cast<Index>(centre + support + 0.5));
        shares.clear();
        double sum = 0.0;
        for (Index x = first; x < end; ++x) {
            const double distance = std::abs((static_cast<double>(x) - centre + 0.5) * inverse);
            shares.push_back(resample_share(distance, how));
            sum += shares.back();
        }
        line[n].first = first;
        for (const double share : shares)
            line[n].weights.push_back(static_cast<std::int32_t>(
                (share < 0.0 ? -0.5 : 0.5) + share / sum * (1 << kResampleBits)));
    }
    return line;
}

/// Σ weight · pixel of `taps`; pixels lie `step` bytes apart.
std::uint8_t resampled(const std::uint8_t* pixels, std::size_t step, const ResampleTaps& taps) {
    std::int64_t sum = std::int64_t{1} << (kResampleBits - 1);
    pixels += static_cast<std::size_t>(taps.first) * step;
    for (const std::int32_t weight : taps.weights) {
        sum += std::int64_t{weight} * *pixels;
        pixels += step;
    }
    return static_cast<std::uint8_t>(std::clamp<std::int64_t>(sum >> kResampleBits, 0, 255));
}

RgbImage resampled_rows(const RgbImage& image, Index width, Resampling how) {
    RgbImage out{width, image.height, {}, image.over_white};
    out.rgb.reserve(3 * width * image.height);
    const auto taps = resample_taps(image.width, width, how);
    for (Index y = 0; y < image.height; ++y) {
        const std::uint8_t* const row = image.rgb.data() + 3 * y * image.width;
        for (const ResampleTaps& each : taps)
            for (std::size_t c = 0; c < 3; ++c) out.rgb.push_back(resampled(row + c, 3, each));
    }
    return out;
}

RgbImage resampled_columns(const RgbImage& image, Index height, Resampling how) {
    RgbImage out{image.width, height, {}, image.over_white};
    const auto stride = static_cast<std::size_t>(3 * image.width);
    out.rgb.reserve(stride * static_cast<std::size_t>(height));
    for (const ResampleTaps& each : resample_taps(image.height, height, how))
        for (std::size_t n = 0; n < stride; ++n)
            out.rgb.push_back(resampled(image.rgb.data() + n, stride, each));
    return out;
}

}  // namespace

Result<RgbImage> parse_png(std::string_view bytes, std::string_view where) {
    if (auto valid = check_png_header(bytes, where); !valid) return tl::unexpected(valid.error());
    return within_memory([&] { return std::string(where); },
                         [&] { return decoded_png(bytes, where); });
}

Result<RgbImage> read_png(const std::filesystem::path& file) {
    const auto bytes = read_text_file(file);
    if (!bytes) return tl::unexpected(bytes.error());
    return parse_png(*bytes, file.string());
}

std::string encode_png(Index width, Index height,
                       const std::function<void(Index, std::uint8_t*)>& fill) {
    PngFile file;
    png_set_IHDR(file.png, file.info, static_cast<png_uint_32>(width),
                 static_cast<png_uint_32>(height), 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(file.png, file.info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_filter(file.png, PNG_FILTER_TYPE_BASE, PNG_NO_FILTERS);
    png_set_compression_level(file.png, kPngFastLevel);
    png_write_info(file.png, file.info);
    std::vector<std::uint8_t> row(static_cast<std::size_t>(3 * width));
    for (Index y = 0; y < height; ++y) {
        fill(y, row.data());
        png_write_row(file.png, row.data());
    }
    png_write_end(file.png, file.info);
    if (file.no_memory) throw std::bad_alloc();
    return std::move(file.bytes);
}

std::string encode_png(const RgbImage& image) {
    return encode_png(image.width, image.height, [&](Index y, std::uint8_t* row) {
        std::copy_n(image.rgb.begin() + 3 * y * image.width, 3 * image.width, row);
    });
}

RgbImage resized_image(const RgbImage& image, Index width, Index height, Resampling how) {
    ATTN_CHECK(width > 0 && height > 0, "an image has pixels");
    if (image.width == width && image.height == height) return image;
    return resampled_columns(resampled_rows(image, width, how), height, how);
}

RgbImage middle_of(const RgbImage& image, Index width, Index height) {
    ATTN_CHECK(width <= image.width && height <= image.height, "a part is cut out");
    RgbImage part{width, height, {}, image.over_white};
    const Index top = (image.height - height) / 2, left = (image.width - width) / 2;
    for (Index row = 0; row < height; ++row) {
        const auto from = image.rgb.begin() + 3 * ((top + row) * image.width + left);
        part.rgb.insert(part.rgb.end(), from, from + 3 * width);
    }
    return part;
}

}  // namespace attn
