#include "app/figures/figure.h"

#include <cairo-pdf.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <numbers>

#include "app/figures/pieces.h"
#include "app/figures/type.h"
#include "core/io/png_image.h"
#include "core/storage.h"

namespace attn::figures {
namespace {

using view::Color, view::Point;

constexpr int kMostCairoSide = 32767;
constexpr double kPointsPerPixel = 72.0 / 96.0;
constexpr float kPdfOverlap =
    1.0F;  // who shows a PDF smooths every edge: tiles that touch have seams

cairo_status_t append(void* bytes, const unsigned char* more, unsigned int count) {
    static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(more), count);
    return CAIRO_STATUS_SUCCESS;
}

Failure cairo_failed(cairo_status_t status) {
    return failed(fmt::format("the figure cannot be drawn: {}", cairo_status_to_string(status)));
}

void set_color(cairo_t* cairo, Color color) {
    cairo_set_source_rgba(cairo, color.r / 255.0, color.g / 255.0, color.b / 255.0,
                          color.a / 255.0);
}

/// A surface of its own with the image's pixels.
CairoPtr<cairo_surface_t> surface_of(const view::Image& image) {
    CairoPtr<cairo_surface_t> surface(
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, image.width, image.height));
    if (cairo_surface_status(surface.get()) != CAIRO_STATUS_SUCCESS) return surface;
    cairo_surface_flush(surface.get());
    unsigned char* const rows = cairo_image_surface_get_data(surface.get());
    const int stride = cairo_image_surface_get_stride(surface.get());
    const auto premultiplied = [](unsigned value, unsigned alpha) {
        return (value * alpha + 127U) / 255U;
    };
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) {
            const std::uint8_t* const from =
                &image.rgba[4 *
                            (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                             static_cast<std::size_t>(x))];
            const unsigned alpha = from[3];
            auto* const to =
                reinterpret_cast<std::uint32_t*>(rows + std::ptrdiff_t{y} * stride) + x;
            *to = alpha << 24U | premultiplied(from[0], alpha) << 16U |
                  premultiplied(from[1], alpha) << 8U | premultiplied(from[2], alpha);
        }
    cairo_surface_mark_dirty(surface.get());
    return surface;
}

/// What PDF and PNG have in common: all of the drawing.
class CairoFigure : public Figure {
  public:
    /// `overlap`: by how much an image reaches under the one right of it and below it.
    CairoFigure(CairoPtr<cairo_surface_t> surface, const Page& page, double scale, float overlap)
        : overlap_(overlap),
          background_(page.background),
          surface_(std::move(surface)),
          cairo_(cairo_create(surface_.get())) {
        cairo_scale(cairo(), scale, scale);
        cairo_translate(cairo(), -page.low.x, -page.low.y);
        cairo_set_font_options(cairo(), type_.options());
        cairo_set_line_join(cairo(), CAIRO_LINE_JOIN_ROUND);
        paint_background();
    }

    void text(const view::Font& font, Point at, Color color, std::string_view text) override {
        set_color(cairo(), color);
        double x = at.x;
        const double base = at.y + font.ascent();
        const Line line = type_.line(font, fonts::clean_text(text));
        if (line.layout) {
            cairo_move_to(cairo(), x, base);
            line.layout->draw(cairo());
        }
        for (const Run& run : line.runs) {
            cairo_set_font_face(cairo(), run.face);
            cairo_set_font_size(cairo(), font.em());
            cairo_move_to(cairo(), x, base);
            cairo_show_text(cairo(), run.text.c_str());
            x += run.width;
        }
        cairo_new_path(cairo());
    }

    /// Cells touch: their edges are not smoothed, or the background would show through.
    void rect(Point low, Point high, Color fill, float radius) override {
        trace(low, high, radius);
        set_color(cairo(), fill);
        fill_path(radius > 0.0F ? CAIRO_ANTIALIAS_DEFAULT : CAIRO_ANTIALIAS_NONE);
    }

    void outline(Point low, Point high, Color color, float thickness, float radius) override {
        trace({low.x + 0.5F, low.y + 0.5F}, {high.x - 0.5F, high.y - 0.5F}, radius);
        stroke(color, thickness);
    }

    void gradient(Point low, Point high, std::span<const Color> colors) override {
        const CairoPtr<cairo_pattern_t> ramp(
            cairo_pattern_create_linear(low.x, low.y, high.x, low.y));
        const auto last = static_cast<double>(colors.size() - 1);
        for (std::size_t n = 0; n < colors.size(); ++n)
            cairo_pattern_add_color_stop_rgba(ramp.get(), static_cast<double>(n) / last,
                                              colors[n].r / 255.0, colors[n].g / 255.0,
                                              colors[n].b / 255.0, colors[n].a / 255.0);
        trace(low, high, 0.0F);
        cairo_set_source(cairo(), ramp.get());
        fill_path(CAIRO_ANTIALIAS_NONE);
    }

    void line(Point from, Point to, Color color, float thickness) override {
        cairo_move_to(cairo(), from.x + 0.5, from.y + 0.5);
        cairo_line_to(cairo(), to.x + 0.5, to.y + 0.5);
        stroke(color, thickness);
    }

    void polyline(std::span<const Point> points, Color color, float thickness) override {
        trace(points);
        stroke(color, thickness);
    }

    void polygon(std::span<const Point> corners, Color fill) override {
        trace(corners);
        set_color(cairo(), fill);
        fill_path(CAIRO_ANTIALIAS_DEFAULT);
    }

    void band(std::span<const Point> upper, std::span<const Point> lower, Color fill) override {
        trace(upper);
        for (std::size_t n = lower.size(); n-- > 0;) cairo_line_to(cairo(), lower[n].x, lower[n].y);
        set_color(cairo(), fill);
        fill_path(CAIRO_ANTIALIAS_DEFAULT);
    }

    void circle(Point middle, float radius, Color fill) override {
        trace_circle(middle, radius);
        set_color(cairo(), fill);
        fill_path(CAIRO_ANTIALIAS_DEFAULT);
    }

    void ring(Point middle, float radius, Color color, float thickness) override {
        trace_circle(middle, radius - 0.5F);
        stroke(color, thickness);
    }

    void image(const view::Picture& picture, Point low, Point high, const view::Part& of) override {
        const auto [image, part] = pieces_.take(picture, of);
        const CairoPtr<cairo_surface_t> pixels = surface_of(image);
        cairo_save(cairo());
        trace(low, {high.x + overlap_, high.y + overlap_}, 0.0F);
        cairo_set_antialias(cairo(), CAIRO_ANTIALIAS_NONE);
        cairo_clip(cairo());
        const double width = image.width;
        const double height = image.height;
        const double across = (high.x - low.x) / ((part.high.x - part.low.x) * width);
        const double down = (high.y - low.y) / ((part.high.y - part.low.y) * height);
        cairo_translate(cairo(), low.x - part.low.x * width * across,
                        low.y - part.low.y * height * down);
        cairo_scale(cairo(), across, down);
        cairo_set_source_surface(cairo(), pixels.get(), 0.0, 0.0);
        cairo_pattern_set_filter(cairo_get_source(cairo()), CAIRO_FILTER_NEAREST);
        cairo_pattern_set_extend(cairo_get_source(cairo()), CAIRO_EXTEND_PAD);
        cairo_paint(cairo());
        cairo_restore(cairo());
    }

    void push_clip(Point low, Point high) override {
        cairo_save(cairo());
        trace(low, high, 0.0F);
        cairo_clip(cairo());
    }
    void pop_clip() override { cairo_restore(cairo()); }

    void push_rotation(Point about, float degrees) override {
        cairo_save(cairo());
        cairo_translate(cairo(), about.x, about.y);
        cairo_rotate(cairo(), degrees * std::numbers::pi / 180.0);
        cairo_translate(cairo(), -about.x, -about.y);
    }
    void pop_rotation() override { cairo_restore(cairo()); }

  protected:
    cairo_t* cairo() const { return cairo_.get(); }
    cairo_surface_t* surface() const { return surface_.get(); }
    void paint_background() {
        set_color(cairo(), background_);
        cairo_paint(cairo());
    }

  private:
    void fill_path(cairo_antialias_t smoothing) {
        cairo_set_antialias(cairo(), smoothing);
        cairo_fill(cairo());
        cairo_set_antialias(cairo(), CAIRO_ANTIALIAS_DEFAULT);
    }

    void stroke(Color color, float thickness) {
        set_color(cairo(), color);
        cairo_set_line_width(cairo(), thickness);
        cairo_stroke(cairo());
    }

    void trace(std::span<const Point> points) {
        for (const Point& point : points) cairo_line_to(cairo(), point.x, point.y);
    }

    void trace_circle(Point middle, float radius) {
        cairo_new_sub_path(cairo());
        cairo_arc(cairo(), middle.x, middle.y, std::fmax(radius, 0.0F), 0.0,
                  2.0 * std::numbers::pi);
        cairo_close_path(cairo());
    }

    void trace(Point low, Point high, float radius) {
        const double width = high.x - low.x;
        const double height = high.y - low.y;
        const double r = std::fmin(radius, std::fmin(width, height) / 2.0);
        if (r <= 0.0) return cairo_rectangle(cairo(), low.x, low.y, width, height);
        constexpr double kQuarter = std::numbers::pi / 2.0;
        cairo_new_sub_path(cairo());
        cairo_arc(cairo(), high.x - r, low.y + r, r, -kQuarter, 0.0);
        cairo_arc(cairo(), high.x - r, high.y - r, r, 0.0, kQuarter);
        cairo_arc(cairo(), low.x + r, high.y - r, r, kQuarter, 2.0 * kQuarter);
        cairo_arc(cairo(), low.x + r, low.y + r, r, 2.0 * kQuarter, 3.0 * kQuarter);
        cairo_close_path(cairo());
    }

    float overlap_;
    Color background_;
    Pieces pieces_;
    CairoPtr<cairo_surface_t> surface_;
    CairoPtr<cairo_t> cairo_;
};

class PdfFigure : public CairoFigure {
  public:
    PdfFigure(const Page& page, std::unique_ptr<std::string> bytes)
        : CairoFigure(make_surface(page, *bytes), page, kPointsPerPixel, kPdfOverlap),
          bytes_(std::move(bytes)) {}
    /// cairo writes its last bytes while there is a place for them.
    ~PdfFigure() override { cairo_surface_finish(surface()); }

    void turn_page() override {
        cairo_show_page(cairo());
        paint_background();
    }

    Result<std::string> finish() override {
        cairo_show_page(cairo());
        cairo_surface_finish(surface());
        const cairo_status_t drawn = cairo_status(cairo());
        if (drawn != CAIRO_STATUS_SUCCESS) return cairo_failed(drawn);
        const cairo_status_t written = cairo_surface_status(surface());
        if (written != CAIRO_STATUS_SUCCESS) return cairo_failed(written);
        return std::move(*bytes_);
    }

  private:
    static CairoPtr<cairo_surface_t> make_surface(const Page& page, std::string& bytes) {
        CairoPtr<cairo_surface_t> surface(cairo_pdf_surface_create_for_stream(
            append, &bytes, (page.high.x - page.low.x) * kPointsPerPixel,
            (page.high.y - page.low.y) * kPointsPerPixel));
        // The first that says what letters a few glyphs are together; pdfTeX warns of what is above it.
        cairo_pdf_surface_restrict_to_version(surface.get(), CAIRO_PDF_VERSION_1_5);
        cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATOR, "attnscope");
        // One day for all: else it would be today.
        cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE,
                                       "2000-01-01T00:00:00Z");
        return surface;
    }

    std::unique_ptr<std::string> bytes_;  // cairo writes to where it lies
};

std::string opaque_png_of(cairo_surface_t* surface) {
    cairo_surface_flush(surface);
    const Index width = cairo_image_surface_get_width(surface);
    const unsigned char* const data = cairo_image_surface_get_data(surface);
    const int stride = cairo_image_surface_get_stride(surface);
    return attn::encode_png(
        width, cairo_image_surface_get_height(surface), [&](Index y, std::uint8_t* to) {
            const auto* const row = reinterpret_cast<const std::uint32_t*>(data + y * stride);
            for (Index x = 0; x < width; ++x)
                for (const unsigned shift : {16U, 8U, 0U})
                    *to++ = static_cast<std::uint8_t>(row[x] >> shift);
        });
}

Result<std::string> png_of(cairo_surface_t* surface) {
    std::string bytes;
    const cairo_status_t done = cairo_surface_write_to_png_stream(surface, append, &bytes);
    if (done != CAIRO_STATUS_SUCCESS) return cairo_failed(done);
    return bytes;
}

class PngFigure : public CairoFigure {
  public:
    explicit PngFigure(const Page& page)
        : CairoFigure(make_surface(page), page, page.png_scale, 0.0F),
          clear_(page.background.a == 0) {}

    Result<std::string> finish() override {
        const cairo_status_t drawn = cairo_status(cairo());
        if (drawn != CAIRO_STATUS_SUCCESS) return cairo_failed(drawn);
        return clear_ ? png_of(surface()) : opaque_png_of(surface());
    }

  private:
    using Pixels = Storage<std::uint32_t>;

    /// Its pixels are a tensor's memory: in small pages, most of a figure's time is page faults.
    static CairoPtr<cairo_surface_t> make_surface(const Page& page) {
        const auto pixels = [&](float length) {
            return static_cast<int>(std::ceil(length * page.png_scale));
        };
        const int width = pixels(page.high.x - page.low.x);
        const int height = pixels(page.high.y - page.low.y);
        const bool clear = page.background.a == 0;
        const cairo_format_t format = clear ? CAIRO_FORMAT_ARGB32 : CAIRO_FORMAT_RGB24;
        if (std::min(width, height) < 1 || std::max(width, height) > kMostCairoSide)
            return CairoPtr<cairo_surface_t>(cairo_image_surface_create(format, width, height));
        auto memory = std::make_unique<Pixels>(
            static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 0U);
        CairoPtr<cairo_surface_t> surface(cairo_image_surface_create_for_data(
            reinterpret_cast<unsigned char*>(memory->data()), format, width, height, 4 * width));
        static const cairo_user_data_key_t key{};
        if (cairo_surface_set_user_data(surface.get(), &key, memory.get(), [](void* gone) {
                delete static_cast<Pixels*>(gone);
            }) == CAIRO_STATUS_SUCCESS)
            memory.release();
        else
            throw std::bad_alloc();
        return surface;
    }

    bool clear_;
};

}  // namespace

std::unique_ptr<Figure> make_pdf(const Page& page) {
    return std::make_unique<PdfFigure>(page, std::make_unique<std::string>());
}

std::unique_ptr<Figure> make_png(const Page& page) { return std::make_unique<PngFigure>(page); }

Result<std::string> encode_png(const view::Image& image) { return png_of(surface_of(image).get()); }

}  // namespace attn::figures
