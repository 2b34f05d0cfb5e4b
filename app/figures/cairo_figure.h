#pragma once

#include "app/figures/figure.h"

namespace attn::figures {

/// Vectors, text with its characters; a pixel of the window is 1/96 inch.
std::unique_ptr<Figure> make_pdf(const Page& page);
std::unique_ptr<Figure> make_png(const Page& page);

/// The bytes of a PNG file of these pixels.
Result<std::string> encode_png(const view::Image& image);

}  // namespace attn::figures
