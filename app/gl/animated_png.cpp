// Chunks: "PNG (Portable Network Graphics) Specification", W3C, third edition, §11.3.6: acTL, fcTL, fdAT.

#include "app/gl/animated_png.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "core/check.h"

namespace attn::gl {
namespace {

constexpr std::size_t kSignature = 8;

std::string big_endian(std::uint32_t value, int bytes = 4) {
    std::string text;
    for (int n = bytes - 1; n >= 0; --n) text += static_cast<char>(value >> (8 * n) & 0xFFU);
    return text;
}

std::string chunk(const std::string& name, const std::string& data) {
    const std::string summed = name + data;
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size()));
    return big_endian(static_cast<std::uint32_t>(data.size())) + summed +
           big_endian(static_cast<std::uint32_t>(sum));
}

/// The data of the chunks of that name, joined.
std::string data_of(std::string_view png, std::string_view name) {
    std::string data;
    for (std::size_t at = kSignature; at + 12 <= png.size();) {
        std::size_t length = 0;
        for (std::size_t n = 0; n < 4; ++n)
            length = length << 8U | static_cast<unsigned char>(png[at + n]);
        if (png.substr(at + 4, 4) == name) data += png.substr(at + 8, length);
        at += length + 12;
    }
    return data;
}

/// Left, top, width and height of the part that differs.
std::array<Index, 4> changed_box(const RgbImage& from, const RgbImage& to) {
    Index left = to.width, top = to.height, right = 0, bottom = 0;
    for (Index y = 0; y < to.height; ++y)
        for (Index x = 0; x < to.width; ++x) {
            const auto at = static_cast<std::size_t>(3 * (y * to.width + x));
            if (std::equal(&to.rgb[at], &to.rgb[at] + 3, &from.rgb[at])) continue;
            left = std::min(left, x);
            right = std::max(right, x + 1);
            top = std::min(top, y);
            bottom = y + 1;
        }
    return {left, top, right - left, bottom - top};
}

}  // namespace

void AnimatedPng::add(const RgbImage& picture, int ms) {
    ATTN_CHECK(!last_ || (last_->width == picture.width && last_->height == picture.height),
               "pictures of one size");
    if (last_ && last_->rgb == picture.rgb) {
        ms_ += ms;
        return;
    }
    Box box{0, 0, picture.width, picture.height};
    if (last_) {
        const auto [x, y, width, height] = changed_box(*last_, picture);
        box = {x, y, width, height};
    }
    RgbImage part{box.width, box.height, {}};
    for (Index y = box.y; y < box.y + box.height; ++y) {
        const auto row = picture.rgb.begin() + 3 * (y * picture.width + box.x);
        part.rgb.insert(part.rgb.end(), row, row + 3 * box.width);
    }
    const std::string png = encode_png(part);
    close_frame();
    if (!last_) header_ = data_of(png, "IHDR");
    pending_ = data_of(png, "IDAT");
    box_ = box;
    ms_ = ms;
    last_ = picture;
}

void AnimatedPng::close_frame() {
    if (!last_) return;
    std::string control = big_endian(sequence_++);
    for (const Index number : {box_.width, box_.height, box_.x, box_.y})
        control += big_endian(static_cast<std::uint32_t>(number));
    control += big_endian(static_cast<std::uint32_t>(std::min(ms_, 65535)), 2);
    control += big_endian(1000, 2) + std::string(2, '\0');  // stays, and hides what was there
    frames_ += chunk("fcTL", control);
    frames_ +=
        count_ == 0 ? chunk("IDAT", pending_) : chunk("fdAT", big_endian(sequence_++) + pending_);
    ++count_;
}

std::string AnimatedPng::finish() {
    close_frame();
    const std::string signature = "\x89PNG\r\n\x1a\n";
    return signature + chunk("IHDR", header_) + chunk("acTL", big_endian(count_) + big_endian(0)) +
           frames_ + chunk("IEND", "");
}

}  // namespace attn::gl
