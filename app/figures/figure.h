#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "app/figures/type.h"
#include "core/result.h"

namespace attn::figures {

// Painters that are no screen: what is drawn becomes the bytes of a file. The same drawing gives the
// same bytes, always: no dates, no random names.

enum class Format : std::uint8_t { svg, pdf, png };

/// One row a format.
struct FormatInfo {
    std::string_view extension;  // ".svg"
    std::string_view text;
};
std::span<const FormatInfo> formats();  // in order of the enum
inline const FormatInfo& info(Format format) { return formats()[static_cast<std::size_t>(format)]; }

/// By the name's extension, in any case of letters. An error names the extension and the known ones.
Result<Format> format_of(const std::filesystem::path& path);

inline constexpr double kPngScale = 2.0;
inline constexpr double kPrintScale = 300.0 / 96.0;  // 300 pixels an inch

/// The part of what is drawn that the file shows, and what lies behind it.
struct Page {
    view::Point low, high;
    view::Color background;
    double png_scale = kPngScale;  // pixels a length, in a PNG
    bool operator==(const Page&) const = default;
};

class Figure : public TypePainter {
  public:
    /// PDF: what follows stands on another page of the same size. The other formats have one page, which goes on.
    virtual void turn_page() {}
    /// The whole file. The last call: nothing can be drawn afterwards.
    virtual Result<std::string> finish() = 0;
};

/// Text is text in SVG and PDF, set in the families of app/fonts; where this machine has none of them,
/// in what fontconfig has instead, else in cairo's own. PNG has page.png_scale pixels a length.
/// An SVG says the title of what the pointer rests on, unless `titles` is false.
std::unique_ptr<Figure> make_figure(Format format, const Page& page, bool titles = true);
/// Vectors, text with its characters; a pixel of the window is 1/96 inch.
std::unique_ptr<Figure> make_pdf(const Page& page);
std::unique_ptr<Figure> make_png(const Page& page);

/// The bytes of a PNG file of these pixels.
Result<std::string> encode_png(const view::Image& image);

/// Written by hand: cairo's own SVG turns every letter into an outline, and nobody could select, search
/// or edit a word. Each text says how wide it is, so that another font changes no layout.
std::unique_ptr<Figure> make_svg(const Page& page, bool titles);

}  // namespace attn::figures
