#ifdef __EMSCRIPTEN__
#include <emscripten.h>
#endif
#include <png.h>

#include "app/common/exercise/exercise.h"
#include "app/figures/figure.h"
#include "app/figures/sheet_pdf.h"
#include "core/tensor.h"

// Without cairo, which draws PDF and PNG elsewhere, figures are SVG. Pictures of the window are PNG as elsewhere. A browser makes PNG and
// PDF of the SVG when they are downloaded (Module.attnDownload in page.js).

namespace attn::figures {

#ifdef __EMSCRIPTEN__
EM_JS(int, attn_has_canvas, (), { return globalThis.document ? 1 : 0; });
#else
static int attn_has_canvas() { return 0; }
#endif
namespace {

constexpr const char* kWhy =
    "this build has no cairo and writes figures as .svg only; expected a name that ends in .svg";

class NoFigure : public Figure {
  public:
    void text(const view::Font&, view::Point, view::Color, std::string_view) override {}
    void rect(view::Point, view::Point, view::Color, float) override {}
    void outline(view::Point, view::Point, view::Color, float, float) override {}
    void gradient(view::Point, view::Point, std::span<const view::Color>) override {}
    void line(view::Point, view::Point, view::Color, float) override {}
    void polyline(std::span<const view::Point>, view::Color, float) override {}
    void polygon(std::span<const view::Point>, view::Color) override {}
    void band(std::span<const view::Point>, std::span<const view::Point>, view::Color) override {}
    void circle(view::Point, float, view::Color) override {}
    void ring(view::Point, float, view::Color, float) override {}
    void image(const view::Picture&, view::Point, view::Point, const view::Part&) override {}
    void push_clip(view::Point, view::Point) override {}
    void pop_clip() override {}
    void push_rotation(view::Point, float) override {}
    void pop_rotation() override {}
    Result<std::string> finish() override { return failed(kWhy); }
};

std::unique_ptr<Figure> make_for_canvas(const Page& page) {
    if (attn_has_canvas() == 0) return std::make_unique<NoFigure>();
    return make_svg(page, false);
}

}  // namespace

std::unique_ptr<Figure> make_pdf(const Page& page) { return make_for_canvas(page); }
std::unique_ptr<Figure> make_png(const Page& page) { return make_for_canvas(page); }

Result<std::string> sheet_pdf(const view::Exercise&, Paper, bool) {
    return failed("this build has no cairo and prints no sheets; the program for Linux has the command `attnscope sheet`");
}

Result<std::string> encode_png(const view::Image& image) {
    png_image header{};
    header.version = PNG_IMAGE_VERSION;
    header.width = static_cast<png_uint_32>(image.width);
    header.height = static_cast<png_uint_32>(image.height);
    header.format = PNG_FORMAT_RGBA;
    png_alloc_size_t size = 0;
    std::string bytes;
    if (png_image_write_to_memory(&header, nullptr, &size, 0, image.rgba.data(), 0, nullptr) != 0) {
        bytes.resize(size);
        if (png_image_write_to_memory(&header, bytes.data(), &size, 0, image.rgba.data(), 0,
                                      nullptr) != 0)
            return bytes;
    }
    return failed(std::string("the picture cannot be written as PNG: ") + header.message);
}

}  // namespace attn::figures
