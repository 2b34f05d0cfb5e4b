#include "app/figures/figure.h"

#include <fmt/format.h>

#include <iterator>
#include <ranges>

#include "app/figures/pieces.h"
#include "app/figures/type.h"
#include "app/fonts/fonts.h"
#include "core/io/base64.h"

namespace attn::figures {
namespace {

using view::Color, view::Point;

/// A length to a hundredth of a pixel, as short as it can be said.
std::string num(double value) {
    const auto hundredths = std::llround(value * 100.0);
    std::string text = fmt::format("{:.2f}", static_cast<double>(hundredths) / 100.0);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text;
}

std::string escape(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        const std::string_view entity = c == '&'   ? "&amp;"
                                        : c == '<' ? "&lt;"
                                        : c == '>' ? "&gt;"
                                                   : "";
        out += entity.empty() ? std::string_view(&c, 1) : entity;
    }
    return out;
}

/// ` fill="#6fb1ff"`, and how much of it is seen.
std::string paint(std::string_view name, Color color) {
    std::string out = fmt::format(" {}=\"#{:02x}{:02x}{:02x}\"", name, color.r, color.g, color.b);
    if (color.a < 255) out += fmt::format(" {}-opacity=\"{:.3f}\"", name, color.a / 255.0);
    return out;
}

std::string box(Point low, Point high) {
    return fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", num(low.x), num(low.y),
                       num(std::fmax(high.x - low.x, 0.0F)), num(std::fmax(high.y - low.y, 0.0F)));
}

std::string_view class_of(view::Face face) {
    constexpr std::string_view kNames[] = {"sans", "bold", "mono", "italic", "roman"};
    return kNames[static_cast<std::size_t>(face)];  // in order of the enum
}

/// ".sans{font-family:\"Inter\",\"DejaVu Sans\",sans-serif}": the families of a face, then any of its kind.
std::string style_of(view::Face face, std::string_view generic, std::string_view more = "") {
    std::string names;
    for (const fonts::Family& family : fonts::families(face))
        if (const std::string name = fmt::format("\"{}\",", family.name);
            names.find(name) == names.npos)
            names += name;
    return fmt::format(".attn .{}{{font-family:{}{}{}}}", class_of(face), names, generic, more);
}

/// Of a line that is laid out: in its fonts, and its letters join.
std::string style_of(const Line& line) {
    if (!line.layout) return "";
    std::string names;
    for (const std::string& family : line.layout->families())
        names += fmt::format("'{}',", escape(family));
    return fmt::format(
        " style=\"font-family:{}sans-serif;font-kerning:auto;font-variant-ligatures:normal\"",
        names);
}

/// For this figure alone, also where it stands inside a page with others.
std::string style() {
    return "<style>.attn "
           "text{white-space:pre;font-kerning:none;font-variant-ligatures:none;text-rendering:"
           "geometricPrecision}" +
           style_of(view::Face::sans, "Verdana,sans-serif") +
           style_of(view::Face::bold, "Verdana,sans-serif", ";font-weight:bold") +
           style_of(view::Face::mono, "Menlo,Consolas,monospace") +
           style_of(view::Face::italic, "serif", ";font-style:italic") +
           style_of(view::Face::roman, "serif") +
           ".attn rect{shape-rendering:crispEdges}.attn .r{shape-rendering:auto}.attn "
           "image{image-rendering:optimizeSpeed;image-rendering:crisp-edges;image-rendering:"
           "pixelated}</style>\n";
}

/// What is named in a figure ends in \1 until here, then in a number of its own: two figures in one page name nothing alike.
std::string with_own_names(std::string_view figure) {
    std::uint32_t key = 2166136261U;  // FNV-1a
    for (const char byte : figure) key = (key ^ static_cast<unsigned char>(byte)) * 16777619U;
    std::string out;
    out.reserve(figure.size());
    for (const char byte : figure) byte == '\1' ? out += fmt::format("-{:x}", key) : out += byte;
    return out;
}

class SvgFigure : public Figure {
  public:
    SvgFigure(const Page& page, bool titles) : titles_(titles) {
        const double width = page.high.x - page.low.x;
        const double height = page.high.y - page.low.y;
        put("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"attn\" width=\"{0}\" height=\"{1}\" "
            "viewBox=\"{2} {3} {0} {1}\">\n",
            num(width), num(height), num(page.low.x), num(page.low.y));
        out_ += style();
        if (page.background.a > 0) rect(page.low, page.high, page.background, 0.0F);
    }

    void text(const view::Font& font, Point at, Color color, std::string_view text) override {
        const std::string clean = fonts::clean_text(text);
        const Line line = type_.line(font, clean);
        if (line.width <= 0.0) return;
        // Of a character that no font has, nobody knows the width: it is set in another one.
        const std::string length =
            line.complete ? fmt::format(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"",
                                        num(line.width))
                          : "";
        put("<text class=\"{}\" x=\"{}\" y=\"{}\" font-size=\"{}\"{}{}{}>{}</text>\n",
            class_of(font.face), num(at.x), num(at.y + font.ascent()), num(font.em()), length,
            paint("fill", color), style_of(line),
            escape(line.layout ? fonts::directed(clean) : clean));
    }

    void rect(Point low, Point high, Color fill, float radius) override {
        const std::string edges =
            radius > 0.0F ? fmt::format(" rx=\"{}\" class=\"r\"", num(radius)) : "";
        put("<rect {}{}{}/>\n", box(low, high), edges, paint("fill", fill));
    }

    void outline(Point low, Point high, Color color, float thickness, float radius) override {
        const std::string round = radius > 0.0F ? fmt::format(" rx=\"{}\"", num(radius)) : "";
        put("<rect {}{} class=\"r\" fill=\"none\"{}/>\n",
            box({low.x + 0.5F, low.y + 0.5F}, {high.x - 0.5F, high.y - 0.5F}), round,
            pen(color, thickness));
    }

    void gradient(Point low, Point high, std::span<const Color> colors) override {
        put("<linearGradient id=\"g{}\1\">", ++gradients_);
        const auto last = static_cast<double>(colors.size() - 1);
        for (std::size_t n = 0; n < colors.size(); ++n)
            put("<stop offset=\"{}%\"{}/>", num(100.0 * static_cast<double>(n) / last),
                paint("stop-color", colors[n]));
        put("</linearGradient>\n<rect {} class=\"r\" fill=\"url(#g{}\1)\"/>\n", box(low, high),
            gradients_);
    }

    void line(Point from, Point to, Color color, float thickness) override {
        put("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}/>\n", num(from.x + 0.5),
            num(from.y + 0.5), num(to.x + 0.5), num(to.y + 0.5), pen(color, thickness));
    }

    void polyline(std::span<const Point> points, Color color, float thickness) override {
        if (points.empty()) return;
        put("<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\"{}/>\n", list(points),
            pen(color, thickness));
    }

    void polygon(std::span<const Point> corners, Color fill) override {
        if (corners.empty()) return;
        put("<polygon points=\"{}\"{}/>\n", list(corners), paint("fill", fill));
    }

    void band(std::span<const Point> upper, std::span<const Point> lower, Color fill) override {
        std::vector<Point> around(upper.begin(), upper.end());
        around.insert(around.end(), lower.rbegin(), lower.rend());
        polygon(around, fill);
    }

    void circle(Point middle, float radius, Color fill) override {
        put("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>\n", num(middle.x), num(middle.y), num(radius),
            paint("fill", fill));
    }

    void ring(Point middle, float radius, Color color, float thickness) override {
        put("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"none\"{}/>\n", num(middle.x),
            num(middle.y), num(std::fmax(radius - 0.5F, 0.0F)), pen(color, thickness));
    }

    /// In a frame of its own, which shows `part` of it.
    void image(const view::Picture& picture, Point low, Point high, const view::Part& of) override {
        const auto [image, part] = pieces_.take(picture, of);
        const auto png = encode_png(image);
        if (!png) {
            fault_ = png.error();
            return;
        }
        put("<svg {} viewBox=\"{:.4f} {:.4f} {:.4f} {:.4f}\" preserveAspectRatio=\"none\">",
            box(low, high), part.low.x * static_cast<float>(image.width),
            part.low.y * static_cast<float>(image.height),
            (part.high.x - part.low.x) * static_cast<float>(image.width),
            (part.high.y - part.low.y) * static_cast<float>(image.height));
        put("<image width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
            "href=\"data:image/png;base64,{}\"/></svg>\n",
            image.width, image.height, base64(*png));
    }

    void push_clip(Point low, Point high) override {
        put("<clipPath id=\"c{0}\1\"><rect {1}/></clipPath><g clip-path=\"url(#c{0}\1)\">\n",
            ++clips_, box(low, high));
    }
    void pop_clip() override { out_ += "</g>\n"; }

    void push_rotation(Point about, float degrees) override {
        put("<g transform=\"rotate({} {} {})\">", num(degrees), num(about.x), num(about.y));
    }
    void pop_rotation() override { out_ += "</g>\n"; }

    /// Where nothing is drawn under a title there is none in the file either.
    bool has_titles() const override { return titles_; }
    void push_title(std::string_view text) override {
        before_title_ = out_.size();
        std::string title;  // line by line: a line break is no character of a text
        for (const auto line : std::views::split(text, '\n'))
            title += (title.empty() ? "" : "\n") +
                     escape(fonts::clean_text(std::string_view(line.begin(), line.end())));
        put("<g><title>{}</title>\n", title);
        after_title_ = out_.size();
    }
    void pop_title() override {
        if (out_.size() == after_title_)
            out_.resize(before_title_);
        else
            out_ += "</g>\n";
    }

    Result<std::string> finish() override {
        if (fault_) return tl::unexpected(*fault_);
        out_ += "</svg>\n";
        return with_own_names(out_);
    }

  private:
    template <class... Args>
    void put(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    }

    static std::string pen(Color color, float thickness) {
        return paint("stroke", color) + fmt::format(" stroke-width=\"{}\"", num(thickness));
    }

    static std::string list(std::span<const Point> points) {
        std::string out;
        for (const Point& point : points) {
            if (!out.empty()) out += ' ';
            out += num(point.x) + ',' + num(point.y);
        }
        return out;
    }

    bool titles_;
    std::string out_;
    std::size_t before_title_ = 0, after_title_ = 0;
    std::optional<Error> fault_;
    Pieces pieces_;
    int clips_ = 0;
    int gradients_ = 0;
};

}  // namespace

std::unique_ptr<Figure> make_svg(const Page& page, bool titles) {
    return std::make_unique<SvgFigure>(page, titles);
}

}  // namespace attn::figures
