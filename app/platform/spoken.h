#pragma once

#include "app/common/painter.h"

namespace attn {

/// The text of a frame for screen readers. A desktop window has none; the page has its own (web/app/platform/spoken.h).
struct Spoken {
    explicit Spoken(view::Painter& to) : painter(to) {}
    view::Painter& painter;
};

}  // namespace attn
