#pragma once

#include <array>
#include <optional>

#include "app/common/painter.h"

namespace attn::ui {

// Painters between the panels and the one that makes a figure.

/// Hands everything on.
class PassingPainter : public view::Painter {
  public:
    explicit PassingPainter(view::Painter& to) : to_(to) {}

    view::Point text_size(const view::Font& font, std::string_view text) override {
        return to_.text_size(font, text);
    }
    void text(const view::Font& font, view::Point at, view::Color color,
              std::string_view text) override {
        const view::Point size = text_size(font, text);
        if (admits(at, {at.x + size.x, at.y + size.y})) to_.text(font, at, color, text);
    }
    void rect(view::Point low, view::Point high, view::Color fill, float radius) override {
        if (admits(low, high)) to_.rect(low, high, fill, radius);
    }
    void outline(view::Point low, view::Point high, view::Color color, float thickness,
                 float radius) override {
        if (admits(low, high)) to_.outline(low, high, color, thickness, radius);
    }
    void gradient(view::Point low, view::Point high, std::span<const view::Color> colors) override {
        if (admits(low, high)) to_.gradient(low, high, colors);
    }
    void line(view::Point from, view::Point to, view::Color color, float thickness) override {
        const std::array<view::Point, 2> ends{from, to};
        if (admits(ends, thickness)) to_.line(from, to, color, thickness);
    }
    void polyline(std::span<const view::Point> points, view::Color color,
                  float thickness) override {
        if (admits(points, thickness)) to_.polyline(points, color, thickness);
    }
    void polygon(std::span<const view::Point> corners, view::Color fill) override {
        if (admits(corners)) to_.polygon(corners, fill);
    }
    void band(std::span<const view::Point> upper, std::span<const view::Point> lower,
              view::Color fill) override {
        if (admits(upper) || admits(lower)) to_.band(upper, lower, fill);
    }
    void circle(view::Point middle, float radius, view::Color fill) override {
        if (admits({&middle, 1}, radius)) to_.circle(middle, radius, fill);
    }
    void ring(view::Point middle, float radius, view::Color color, float thickness) override {
        if (admits({&middle, 1}, radius + thickness)) to_.ring(middle, radius, color, thickness);
    }
    void image(const view::Picture& picture, view::Point low, view::Point high,
               const view::Part& part) override {
        if (admits(low, high)) to_.image(picture, low, high, part);
    }
    void push_clip(view::Point low, view::Point high) override { to_.push_clip(low, high); }
    void pop_clip() override { to_.pop_clip(); }
    void push_rotation(view::Point about, float degrees) override {
        to_.push_rotation(about, degrees);
    }
    void pop_rotation() override { to_.pop_rotation(); }
    void push_title(std::string_view text) override { to_.push_title(text); }
    void pop_title() override { to_.pop_title(); }
    bool has_titles() const override { return to_.has_titles(); }
    Index most_cells() const override { return to_.most_cells(); }

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
    bool has_titles() const override { return false; }

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
    void push_title(std::string_view text) override;

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
