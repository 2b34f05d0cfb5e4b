// PNG of every kind (goldens/png by make_png.py), files that only say they are one, and resizing.
#include "core/io/png_image.h"

#include <doctest/doctest.h>

#include "attn_tree.h"
#include "core/io/file.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

using Bytes = std::vector<std::uint8_t>;

std::filesystem::path png_path(const std::string& name) {
    return std::filesystem::path(ATTN_TEST_DATA) / "png" / (name + ".png");
}

RgbImage png_named(const std::string& name) {
    CAPTURE(name);
    return must(read_png(png_path(name)));
}

std::string png_bytes(const std::string& name) { return read_text_file(png_path(name)).value(); }

std::string png_fault(const std::string& bytes) { return sentence_in(parse_png(bytes, "f.png")); }

/// The header says another size; its checksum is then wrong, which is looked at later.
std::string with_size(std::string bytes, const std::string& width, const std::string& height) {
    return bytes.replace(16, 4, width).replace(20, 4, height);
}

}  // namespace

TEST_CASE("every kind of PNG is 8-bit colours") {
    for (const auto& [name, rgb] :
         {std::pair{"grey1", Bytes{0, 0, 0, 255, 255, 255}},
          std::pair{"grey8", Bytes{7, 7, 7, 200, 200, 200}},
          std::pair{"grey16", Bytes{128, 128, 128, 18, 18, 18}},  // 33023 / 257, 4660 / 257
          std::pair{"rgb8", Bytes{1, 2, 3, 255, 128, 0}},
          std::pair{"rgb16", Bytes{1, 2, 3, 255, 128, 0}}}) {
        const RgbImage image = png_named(name);
        CHECK(image.width == 2);
        CHECK(image.height == 1);
        CHECK(image.rgb == rgb);
        CHECK_FALSE(image.over_white);
    }
}

TEST_CASE("what is not opaque lies over white") {
    for (const auto& [name, rgb] :
         {std::pair{"grey_alpha", Bytes{100, 100, 100, 224, 224, 224}},  // 100 · 0.2 + 255 · 0.8
          std::pair{"palette", Bytes{250, 128, 0, 255, 255, 255}},
          std::pair{"rgba", Bytes{10, 20, 30, 132, 137, 142}}}) {
        const RgbImage image = png_named(name);
        CHECK(image.rgb == rgb);
        CHECK(image.over_white);
    }
}

TEST_CASE("an interlaced PNG has its pixels in their places") {
    const RgbImage image = png_named("interlaced");
    REQUIRE(image.width == 5);
    REQUIRE(image.height == 6);
    for (std::size_t y = 0; y < 6; ++y)
        for (std::size_t x = 0; x < 5; ++x) {
            const auto* const pixel = image.rgb.data() + 3 * (y * 5 + x);
            CHECK(pixel[0] == 10 * x);
            CHECK(pixel[1] == 20 * y);
            CHECK(pixel[2] == 7 * (x + y));
        }
}

TEST_CASE("what is written is read again, pixel by pixel") {
    RgbImage image{37, 11, {}};
    for (int n = 0; n < 3 * 37 * 11; ++n)
        image.rgb.push_back(static_cast<std::uint8_t>(n * n % 251));
    const std::string bytes = encode_png(image);
    const RgbImage again = must(parse_png(bytes, "again"));
    CHECK(again.width == 37);
    CHECK(again.height == 11);
    CHECK(again.rgb == image.rgb);
    CHECK_FALSE(again.over_white);
    CHECK(encode_png(image) == bytes);
}

TEST_CASE("what is no PNG, or not a whole one, is refused by its name") {
    const std::string whole = png_bytes("rgb8");
    CHECK(png_fault("") == "f.png is not a PNG image: it does not begin with a PNG's eight bytes");
    CHECK(png_fault("GIF89a") ==
          "f.png is not a PNG image: it does not begin with a PNG's eight bytes");
    CHECK(png_fault(whole.substr(0, 20)) ==
          "f.png is cut short: 20 bytes are less than a PNG's header");
    for (std::size_t length = 33; length + 16 < whole.size(); ++length)  // not all of IDAT
        CHECK(png_fault(whole.substr(0, length)).starts_with("f.png cannot be read as PNG: "));
    std::string damaged = whole;
    damaged[45] = static_cast<char>(damaged[45] ^ 0x55);  // in IDAT
    CHECK(png_fault(damaged).starts_with("f.png cannot be read as PNG: "));
    CHECK(contains(must_fail(read_png("/nowhere/a.png")).text(), "/nowhere/a.png"));
}

TEST_CASE("a PNG that says it is huge is refused before memory is taken for it") {
    using namespace std::string_literals;
    const std::string small = png_bytes("rgb8");
    const std::string most = "; expected at most 32768 along a side and 67108864 in all";
    CHECK(png_fault(with_size(small, "\xff\xff\xff\xff"s, "\xff\xff\xff\xff"s)) ==
          "f.png is 4294967295 × 4294967295 pixels" + most);
    CHECK(png_fault(with_size(small, "\0\0\x40\0"s, "\0\0\x40\0"s)) ==
          "f.png is 16384 × 16384 pixels" + most);
    CHECK(png_fault(with_size(small, "\0\0\0\1"s, "\0\0\x80\1"s)) ==
          "f.png is 1 × 32769 pixels" + most);
    CHECK(png_fault(with_size(small, "\0\0\x20\0"s, "\0\0\x20\0"s)) ==
          "f.png is 8192 × 8192 pixels by its header, which its 72 bytes cannot hold");
    CHECK(png_fault(with_size(small, "\0\0\0\0"s, "\0\0\0\1"s)) ==
          "f.png is 0 × 1 pixels; expected at least 1 × 1");
}

TEST_CASE("a smaller image averages with a triangle of two steps, a larger one goes by pixels") {
    const auto grey = [](const Bytes& row) {
        RgbImage image{std::ssize(row), 1, {}, false};
        for (const std::uint8_t value : row) image.rgb.insert(image.rgb.end(), 3, value);
        return image;
    };
    const auto red = [](const RgbImage& image) {
        Bytes values;
        for (std::size_t n = 0; n < image.rgb.size(); n += 3) {
            CHECK(image.rgb[n] == image.rgb[n + 1]);
            CHECK(image.rgb[n] == image.rgb[n + 2]);
            values.push_back(image.rgb[n]);
        }
        return values;
    };
    // from 4 to 2: centre 1, weights ¾ ¾ ¼ of pixels 0 1 2 by their distances ½ ½ 1½ over 2, divided by their sum 7/4
    CHECK(red(resized_image(grey({0, 70, 140, 210}), 2, 1)) == Bytes{50, 160});
    // from 2 to 4: ¾ and ¼ of the two neighbours, the ends as they are
    CHECK(red(resized_image(grey({0, 100}), 4, 1)) == Bytes{0, 25, 75, 100});
    // bicubic, as Pillow gives them: from 4 to 2, from 2 to 4, and from 5 to 3 where weights are below 0
    CHECK(red(resized_image(grey({0, 70, 140, 210}), 2, 1, Resampling::bicubic)) == Bytes{41, 169});
    CHECK(red(resized_image(grey({0, 100}), 4, 1, Resampling::bicubic)) == Bytes{0, 21, 79, 109});
    CHECK(red(resized_image(grey({255, 0, 0, 255, 9}), 3, 1, Resampling::bicubic)) ==
          Bytes{141, 53, 119});
    CHECK(red(middle_of(grey({1, 2, 3, 4}), 1, 1)) == Bytes{2});
    const RgbImage one = resized_image(grey({9}), 3, 2);
    CHECK(one.width == 3);
    CHECK(one.height == 2);
    CHECK(red(one) == Bytes(6, 9));
    const RgbImage same = grey({1, 2, 3});
    CHECK(resized_image(same, 3, 1).rgb == same.rgb);
    RgbImage column = grey({0, 70, 140, 210});
    std::swap(column.width, column.height);
    CHECK(red(resized_image(column, 1, 2)) == Bytes{50, 160});
}
