#pragma once

#include <cstdint>
#include <functional>

#include "app/common/draw/fonts.h"
#include "app/common/painter.h"

namespace attn::fonts {
class Layout;
}

namespace attn::ui {

/// How a text is set that ImGui, one glyph a character from left to right, does not set right; nullptr: it does.
const fonts::Layout* laid_out(const Fonts& fonts, const view::Font& font, std::string_view text);

/// The id (as ImGui's ImTextureID) of a texture that holds a picture, drawn with nearest neighbours or `smooth`.
using Texture = std::function<std::uint64_t(const view::Picture& picture, bool smooth)>;

/// Draws into ImGui's current window.
class ImguiPainter : public view::Painter {
  public:
    /// Both live as long as the painter.
    ImguiPainter(const Fonts& fonts, const Texture& texture) : fonts_(fonts), texture_(texture) {}

    view::Point text_size(const view::Font& font, std::string_view text) override;
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
    void pop_clip() override;
    void push_rotation(view::Point about, float degrees) override;
    void pop_rotation() override;
    Index most_cells() const override;

  private:
    struct Turn {
        view::Point about;
        float degrees = 0.0F;
        int first_vertex = -1;  // of what is to be turned; -1: nothing is
    };
    const Fonts& fonts_;
    const Texture& texture_;
    Turn turn_;
};

}  // namespace attn::ui
