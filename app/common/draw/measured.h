#pragma once

#include <cstdint>

#include "app/common/painter.h"

namespace attn::ui {

/// A painter that measures the window is told what stands where; any other is not.
class Measuring {
  public:
    /// A table of numbers is as labels are: in no picture, and data. The heading is told before it is drawn.
    enum class Kind : std::uint8_t { cells, labels, chart, heading };
    virtual ~Measuring() = default;
    virtual void record_rect(Kind kind, view::Point low, view::Point high) = 0;
};

inline void record_rect_for_tests(view::Painter& painter, Measuring::Kind kind, view::Point low,
                                  view::Point high) {
    if (auto* const measuring = dynamic_cast<Measuring*>(&painter))
        measuring->record_rect(kind, low, high);
}

}  // namespace attn::ui
