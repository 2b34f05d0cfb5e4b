#pragma once

#include <optional>

#include "app/common/painter.h"

namespace attn::ui {

// Painters between the panels and the one that makes a figure.

/// Hands everything on.
class PassingPainter : public view::Painter {
  public:
    explicit PassingPainter(view::Painter& to) : to_(to) {}

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

  protected:
    /// Before anything is drawn within low … high: whether it is to be drawn at all.
    virtual bool admits(view::Point low, view::Point high) = 0;
    view::Painter& to_;

  private:
    bool admits(std::span<const view::Point> points, float around = 0.0F);
};

/// Draws nothing, and measures as the figure does: for what the figure leaves out.
class SilentPainter : public PassingPainter {
  public:
    using PassingPainter::PassingPainter;
    void push_clip(view::Point, view::Point) override {}
    void pop_clip() override {}
    void push_rotation(view::Point, float) override {}
    void pop_rotation() override {}

  protected:
    bool admits(view::Point, view::Point) override { return false; }
};

/// What ImGui's windows cut is cut in the figure too: within a frame, the clip rectangle of the current
/// window holds. What lies outside of it is left out.
class WindowClipPainter : public PassingPainter {
  public:
    using PassingPainter::PassingPainter;
    ~WindowClipPainter() override;
    WindowClipPainter(const WindowClipPainter&) = delete;
    WindowClipPainter& operator=(const WindowClipPainter&) = delete;

    void push_clip(view::Point low, view::Point high) override;
    void pop_clip() override;
    void push_rotation(view::Point about, float degrees) override;
    void pop_rotation() override;

  protected:
    bool admits(view::Point low, view::Point high) override;

  private:
    struct Clip {
        view::Point low, high;
        bool operator==(const Clip&) const = default;
    };
    void follow_window();

    std::optional<Clip> clip_;  // that `to_` has now
    bool turned_ = false;
};

}  // namespace attn::ui
