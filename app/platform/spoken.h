#pragma once

#include "app/common/painter.h"

namespace attn {

/// What a frame says, for who cannot see it. A window has nobody to tell; the one of a page does (web/app/platform/spoken.h).
struct Spoken {
    explicit Spoken(view::Painter& to) : painter(to) {}
    view::Painter& painter;
};

}  // namespace attn
