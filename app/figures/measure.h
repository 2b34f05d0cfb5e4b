#pragma once

#include <optional>
#include <vector>

#include "app/figures/type.h"

namespace attn::figures {

/// Draws nothing: measures text as the figures do, and where there would be something to see.
class Measure : public TypePainter {
  public:
    struct Area {
        view::Point low, high;
    };
    /// What was drawn since forget(), as far as no clip cuts it.
    const std::optional<Area>& drawn() const { return drawn_; }
    void clear() { drawn_.reset(); }

    void text(const view::Font& font, view::Point at, view::Color color,
              std::string_view text) override;
    void rect(view::Point low, view::Point high, view::Color, float) override { add(low, high); }
    void outline(view::Point low, view::Point high, view::Color, float thickness, float) override {
        add(low, high, thickness / 2);
    }
    void gradient(view::Point low, view::Point high, std::span<const view::Color>) override {
        add(low, high);
    }
    void line(view::Point from, view::Point to, view::Color, float thickness) override {
        for (const view::Point point : {from, to}) add(point, point, thickness / 2);
    }
    void polyline(std::span<const view::Point> points, view::Color, float thickness) override {
        for (const view::Point point : points) add(point, point, thickness / 2);
    }
    void polygon(std::span<const view::Point> corners, view::Color) override {
        for (const view::Point point : corners) add(point);
    }
    void band(std::span<const view::Point> upper, std::span<const view::Point> lower,
              view::Color fill) override {
        polygon(upper, fill);
        polygon(lower, fill);
    }
    void circle(view::Point middle, float radius, view::Color) override {
        add(middle, middle, radius);
    }
    void ring(view::Point middle, float radius, view::Color, float thickness) override {
        add(middle, middle, radius + thickness / 2);
    }
    void image(const view::Picture&, view::Point low, view::Point high,
               const view::Part&) override {
        add(low, high);
    }
    void push_clip(view::Point low, view::Point high) override;
    void pop_clip() override { clips_.pop_back(); }
    void push_rotation(view::Point about, float degrees) override;
    void pop_rotation() override { turn_.reset(); }

  private:
    struct Turn {
        view::Point about;
        float cosine = 1.0F, sine = 0.0F;
    };
    void add(view::Point point);
    void add(view::Point low, view::Point high, float around = 0.0F);
    view::Point turned(view::Point point) const;

    std::optional<Area> drawn_;
    std::vector<Area> clips_;
    std::optional<Turn> turn_;
};

}  // namespace attn::figures
