#pragma once

#include <cmath>
#include <string>

#include "app/common/draw/figure_painters.h"

namespace attn {

/// The page has all that a frame says as text too, line by line, which screen readers and searches find.
class Spoken : public ui::PassingPainter {
  public:
    explicit Spoken(view::Painter& to) : PassingPainter(to) {}
    ~Spoken() override;
    Spoken(const Spoken&) = delete;
    Spoken& operator=(const Spoken&) = delete;

    void text(const view::Font& font, view::Point at, view::Color color,
              std::string_view text) override {
        description_ += std::fabs(at.y - y_) < 0.5F * font.px ? ' ' : '\n';
        description_ += text;
        y_ = at.y;
        PassingPainter::text(font, at, color, text);
    }

    view::Painter& painter = *this;

  protected:
    bool admits(view::Point, view::Point) override { return true; }

  private:
    std::string description_;
    float y_ = 0.0F;
};

}  // namespace attn
