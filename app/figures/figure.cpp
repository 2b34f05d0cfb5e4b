#include "app/figures/figure.h"

#include <fmt/format.h>

#include "app/common/lower_case.h"

namespace attn::figures {
namespace {

constexpr std::array<FormatInfo, 3> kFormats{{
    {".svg", "vectors for the web and for editing"},
    {".pdf", "vectors for print and LaTeX"},
    {".png", "pixels"},
}};

}  // namespace

std::span<const FormatInfo> formats() { return kFormats; }

Result<Format> format_of(const std::filesystem::path& path) {
    const std::string extension = view::lower_case(path.extension().string());
    const auto found = std::ranges::find(kFormats, extension, &FormatInfo::extension);
    if (found != kFormats.end()) return static_cast<Format>(found - kFormats.begin());
    return bad_input(fmt::format("'{}' has {}: expected .svg, .pdf or .png", path.string(),
                                 extension.empty()
                                     ? "no extension"
                                     : fmt::format("the extension {}", path.extension().string())));
}

std::unique_ptr<Figure> make_figure(Format format, const Page& page, bool titles) {
    switch (format) {
        case Format::svg:
            return make_svg(page, titles);
        case Format::pdf:
            return make_pdf(page);
        case Format::png:
            return make_png(page);
    }
    return nullptr;
}

}  // namespace attn::figures
