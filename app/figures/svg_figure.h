#pragma once

#include "app/figures/figure.h"

namespace attn::figures {

/// Written by hand: cairo's own SVG turns every letter into an outline, and nobody could select, search
/// or edit a word. Each text says how wide it is, so that another font changes no layout.
std::unique_ptr<Figure> make_svg(const Page& page);

}  // namespace attn::figures
