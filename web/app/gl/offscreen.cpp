#include "app/gl/offscreen.h"

namespace attn::gl {

Result<std::unique_ptr<Offscreen>> Offscreen::open(Size, Renderer) {
    return failed("there is no drawing without a window in a browser; render a figure as SVG");
}

Offscreen::~Offscreen() = default;
Pixels Offscreen::read() const { return {size_, {}}; }
void finish() {}

}  // namespace attn::gl
