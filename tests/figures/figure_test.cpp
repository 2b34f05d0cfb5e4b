#include "app/figures/figure.h"
#include "app/figures/pieces.h"

#include <doctest/doctest.h>

#include <regex>

#include "app/figures/measure.h"
#include "app/figures/type.h"
#include "tests/figures/recorder.h"

using namespace attn;
using figures::Format, test::count, view::Face;

namespace {

constexpr figures::Page kPage{{10.0F, 20.0F}, {210.0F, 120.0F}, {14, 18, 23}};
constexpr view::Font kDescriptions{Face::sans, 14.0F};
constexpr view::Color kInk{230, 235, 240};

/// A figure with a little of everything.
std::string drawn(Format format) {
    const auto figure = figures::make_figure(format, kPage);
    figure->push_clip({0.0F, 0.0F}, {300.0F, 300.0F});
    figure->rect({20.0F, 30.0F}, {40.0F, 50.0F}, kInk);
    figure->text(kDescriptions, {30.0F, 40.0F}, kInk, "Σ exp(M − m) <cat> & \"sat\"");
    figure->push_rotation({50.0F, 60.0F}, -45.0F);
    figure->text({Face::mono, 12.0F}, {50.0F, 60.0F}, view::translucent(kInk, 0.5), "0.577");
    figure->pop_rotation();
    const std::array<view::Point, 3> curve{{{20.0F, 90.0F}, {60.0F, 70.0F}, {90.0F, 95.0F}}};
    figure->polyline(curve, kInk, 2.0F);
    const auto paint = [] { return view::Image{2, 1, {255, 0, 0, 255, 0, 0, 255, 255}}; };
    figure->image({1, paint}, {100.0F, 30.0F}, {140.0F, 50.0F});
    figure->pop_clip();
    return figure->finish().value();
}

std::string svg_of_text(std::string_view text) {
    const auto figure = figures::make_figure(Format::svg, kPage);
    figure->text(kDescriptions, {30.0F, 40.0F}, kInk, text);
    return figure->finish().value();
}

std::string big_endian(std::uint32_t value) {
    return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
            static_cast<char>(value >> 8), static_cast<char>(value)};
}

}  // namespace

TEST_CASE("the extension decides the format; an unknown one is named with the three") {
    CHECK(figures::format_of("a/b.svg").value() == Format::svg);
    CHECK(figures::format_of("B.PDF").value() == Format::pdf);
    CHECK(figures::format_of("c.d.png").value() == Format::png);
    for (const char* path : {"fig.bmp", "fig", "svg", "fig.svgz"}) {
        const auto format = figures::format_of(path);
        REQUIRE(!format);
        CHECK(format.error().kind == ErrorKind::input);
        CHECK(format.error().text().find(path) != std::string::npos);
        CHECK(format.error().text().find("expected .svg, .pdf or .png") != std::string::npos);
    }
    CHECK(figures::format_of("fig.bmp").error().text().find(" .bmp") != std::string::npos);
}

TEST_CASE("the same drawing gives the same bytes, undated; a PNG has two pixels for one") {
    for (const Format format : {Format::svg, Format::pdf, Format::png})
        CHECK(drawn(format) == drawn(format));
    const std::string pdf = drawn(Format::pdf);
    CHECK(pdf.starts_with("%PDF-1.5"));
    if (cairo_version() < CAIRO_VERSION_ENCODE(1, 17, 6))  // later ones pack the metadata away
        CHECK(count(pdf, "/CreationDate (20000101") == 1);
    CHECK(count(pdf, "/ModDate") == 0);
    const std::string png = drawn(Format::png);
    CHECK(png.starts_with("\x89PNG"));
    CHECK(png.substr(16, 8) == big_endian(400) + big_endian(200));
}

TEST_CASE("text is text in SVG, escaped, and placed on its base line") {
    const std::string svg = svg_of_text("a < b && \"c\"");
    CHECK(svg.find(">a &lt; b &amp;&amp; \"c\"</text>") != std::string::npos);
    std::smatch found;
    REQUIRE(std::regex_search(svg, found,
                              std::regex("<text class=\"sans\" x=\"([^\"]*)\" y=\"([^\"]*)\" "
                                         "font-size=\"([^\"]*)\" textLength=\"([^\"]*)\"")));
    figures::Type type;
    CHECK(std::stod(found[1]) == doctest::Approx(30.0));
    CHECK(std::stod(found[2]) == doctest::Approx(40.0 + kDescriptions.ascent()).epsilon(0.001));
    CHECK(std::stod(found[3]) == doctest::Approx(kDescriptions.em()).epsilon(0.001));
    CHECK(std::stod(found[4]) ==
          doctest::Approx(type.line(kDescriptions, "a < b && \"c\"").width).epsilon(0.001));
    CHECK(kDescriptions.ascent() > 0.6F * kDescriptions.px);
    CHECK(kDescriptions.ascent() < kDescriptions.px);
}

TEST_CASE("what is drawn under a title says it, line by line, unless titles are not wanted") {
    for (const bool titles : {true, false}) {
        const auto figure = figures::make_figure(Format::svg, kPage, titles);
        {
            const view::Titled titled(*figure, [] { return "a < b\nand \x01"; });
            figure->rect({20.0F, 30.0F}, {40.0F, 50.0F}, kInk);
        }
        {
            const view::Titled nothing(*figure, [] { return "nothing is drawn"; });
        }
        const std::string svg = figure->finish().value();
        CHECK(count(svg, "<g><title>a &lt; b\nand \xEF\xBF\xBD</title>\n<rect x=\"20\"") ==
              (titles ? 1 : 0));
        CHECK(count(svg, "<title>") == (titles ? 1 : 0));
        CHECK(count(svg, "</g>") == (titles ? 1 : 0));
    }
    const auto pdf = figures::make_figure(Format::pdf, kPage);
    const view::Titled unused(*pdf, []() -> std::string {
        FAIL("a PDF asks for no words");
        return {};
    });
}

TEST_CASE("two figures in one page name no clip and no gradient alike") {
    const auto names = [](view::Color color) {
        const auto figure = figures::make_figure(Format::svg, kPage);
        figure->push_clip({0.0F, 0.0F}, {300.0F, 300.0F});
        figure->gradient({20.0F, 30.0F}, {40.0F, 50.0F}, std::array{color, kInk});
        figure->pop_clip();
        const std::string svg = figure->finish().value();
        std::smatch found;
        REQUIRE(std::regex_search(svg, found, std::regex("id=\"c1(-[0-9a-f]+)\"")));
        CHECK(count(svg, "url(#c1" + found[1].str() + ")") == 1);
        CHECK(count(svg, "id=\"g1" + found[1].str() + "\"") == 1);
        CHECK(count(svg, "url(#g1" + found[1].str() + ")") == 1);
        CHECK(count(svg, "\1") == 0);
        return found[1].str();
    };
    CHECK(names({1, 2, 3}) != names({1, 2, 4}));
    CHECK(names({1, 2, 3}) == names({1, 2, 3}));
}

TEST_CASE("what is no character is a replacement character: the file stays well formed") {
    CHECK(fonts::clean_text("a\x01"
                            "z") ==
          "a\xEF\xBF\xBD"
          "z");
    CHECK(fonts::clean_text("\xFF") == "\xEF\xBF\xBD");
    CHECK(fonts::clean_text("\xC3") == "\xEF\xBF\xBD");                          // cut short
    CHECK(fonts::clean_text("\xC0\xAF") == "\xEF\xBF\xBD\xEF\xBF\xBD");          // overlong
    CHECK(fonts::clean_text("\xED\xA0\x80").find('\xED') == std::string::npos);  // surrogate
    CHECK(fonts::clean_text("Σ猫😀") == "Σ猫😀");
    for (const Format format : {Format::svg, Format::pdf, Format::png}) {
        const auto figure = figures::make_figure(format, kPage);
        figure->text(kDescriptions, {30.0F, 40.0F}, kInk,
                     "\xFF"
                     "ab\x02\xC3");
        CHECK(figure->finish().has_value());
    }
}

TEST_CASE("a picture is embedded once, with nearest neighbours, and only its part shows") {
    const auto figure = figures::make_figure(Format::svg, kPage);
    const auto paint = [] { return view::Image{4, 2, std::vector<std::uint8_t>(32, 255)}; };
    figure->image({1, paint}, {100.0F, 30.0F}, {140.0F, 50.0F}, {{0.5F, 0.0F}, {1.0F, 0.5F}});
    const std::string svg = figure->finish().value();
    CHECK(count(svg, "<image ") == 1);
    CHECK(count(svg, "viewBox=\"0.0000 0.0000 2.0000 1.0000\"") == 1);
    CHECK(count(svg, "data:image/png;base64,iVBORw0KGgo") == 1);
    CHECK(count(svg, "image-rendering:pixelated") == 1);
}

TEST_CASE("text is as wide as measured, if its face has it; clips and turns are closed") {
    CHECK(count(svg_of_text("naïve"), "textLength") == 1);
    CHECK(count(svg_of_text("a 猫"), ">a 猫</text>") == 1);
    const std::string svg = drawn(Format::svg);
    CHECK(count(svg, "<g ") == 2);
    CHECK(count(svg, "</g>") == 2);
    CHECK(count(svg, "rotate(-45 50 60)") == 1);
    CHECK(svg.ends_with("</svg>\n"));
}

TEST_CASE("all figures measure text alike, and mono letters are of one width") {
    figures::Measure measure;
    for (const Face face : {Face::sans, Face::bold, Face::mono})
        for (const Format format : {Format::svg, Format::pdf, Format::png}) {
            const view::Font font{face, 14.0F};
            const auto figure = figures::make_figure(format, kPage);
            CHECK(figure->text_size(font, "QKᵀ 0.25") == measure.text_size(font, "QKᵀ 0.25"));
        }
    const view::Font mono{Face::mono, 14.0F};
    CHECK(measure.text_size(mono, "iiii").x == doctest::Approx(measure.text_size(mono, "WWWW").x));
    CHECK(measure.text_size({Face::mono, 28.0F}, "0").x ==
          doctest::Approx(2.0 * measure.text_size(mono, "0").x));
}

TEST_CASE("Measure knows where something was drawn, within its clips, turned as it is") {
    figures::Measure measure;
    CHECK(!measure.drawn());
    measure.rect({10.0F, 10.0F}, {20.0F, 20.0F}, kInk, 0.0F);
    measure.push_clip({0.0F, 0.0F}, {50.0F, 50.0F});
    measure.rect({30.0F, 30.0F}, {900.0F, 40.0F}, kInk, 0.0F);
    measure.pop_clip();
    REQUIRE(measure.drawn());
    CHECK(measure.drawn()->low == view::Point{10.0F, 10.0F});
    CHECK(measure.drawn()->high == view::Point{50.0F, 40.0F});
    measure.clear();
    measure.push_rotation({0.0F, 0.0F}, 90.0F);
    measure.rect({0.0F, 0.0F}, {10.0F, 1.0F}, kInk, 0.0F);
    measure.pop_rotation();
    CHECK(measure.drawn()->high.y == doctest::Approx(10.0));
    CHECK(measure.drawn()->low.x == doctest::Approx(-1.0));
}

TEST_CASE("a file holds of a picture the pixels that it shows, and paints it once") {
    int painted = 0;
    const view::Picture picture{7, [&] {
                                    ++painted;
                                    view::Image image{4, 2, {}};
                                    for (int n = 0; n < 32; ++n)
                                        image.rgba.push_back(static_cast<std::uint8_t>(n));
                                    return image;
                                }};
    figures::Pieces pieces;
    const figures::Piece all = pieces.take(picture, {});
    CHECK(all.image.width == 4);
    CHECK(all.image.height == 2);
    CHECK(all.image.rgba.size() == 32);
    CHECK(all.part.low.x == 0.0F);
    CHECK(all.part.high.y == 1.0F);
    const figures::Piece pixel = pieces.take(picture, {{0.5F, 0.5F}, {0.75F, 1.0F}});
    CHECK(pixel.image.width == 1);
    CHECK(pixel.image.height == 1);
    CHECK(pixel.image.rgba == std::vector<std::uint8_t>{24, 25, 26, 27});
    CHECK(pixel.part.low.x == doctest::Approx(0.0));
    CHECK(pixel.part.high.x == doctest::Approx(1.0));
    const figures::Piece half = pieces.take(picture, {{0.125F, 0.0F}, {0.375F, 1.0F}});
    CHECK(half.image.width == 2);
    CHECK(half.part.low.x == doctest::Approx(0.25));
    CHECK(half.part.high.x == doctest::Approx(0.75));
    CHECK(painted == 1);
    pieces.take({8, picture.paint}, {});
    CHECK(painted == 2);
}
