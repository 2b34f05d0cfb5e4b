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
    void forget() { drawn_.reset(); }

    void text(const view::Font& font, view::Point at, view::Color color,
              std::string_view text) override;
    void rect(view::Point low, view::Point high, view::Color fill, float radius) override;
    void outline(view::Point low, view::Point high, view::Color color, float thickness,
                 float radius) override;
    void gradient(view::Point low, view::Point high, std::span<const view::Color> colors) override;
    void line(view::Point from, view::Point to, view::Color color, float thickness) override;
    void polyline(std::span<const view::Point> points, view::Color color, float thickness) override;
    void polygon(std::span<const view::Point> corners, view::Color fill) override;
    void band(std::span<const view::Point> upper, std::span<const view::Point> lower,
              view::Color fill) override;
    void circle(view::Point middle, float radius, view::Color fill) override;
    void ring(view::Point middle, float radius, view::Color color, float thickness) override;
    void image(const view::Picture& picture, view::Point low, view::Point high,
               const view::Part& part) override;
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
