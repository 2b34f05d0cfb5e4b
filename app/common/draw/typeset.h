#pragma once

#include "app/common/draw/figure_painters.h"

namespace attn::ui {

// Design units. No text is smaller, and no script of its mathematics.
inline constexpr float kLeastText = 12.8F;  // 11 an em
inline constexpr float kLeastScript = 11.0F;

/// Sets the mathematics that stands in a line of words: the index of "W_Q", "d_k" or "max_j a_j", and the bar of "√d_k".
/// Names such as "mha_forward" stay as they are.
class TypesettingPainter : public PassingPainter {
  public:
    /// No index is smaller than `least_px`.
    TypesettingPainter(view::Painter& to, float least_px)
        : PassingPainter(to), least_px_(least_px) {}

    view::Point text_size(const view::Font& font, std::string_view text) override;
    void text(const view::Font& font, view::Point at, view::Color color,
              std::string_view text) override;

  protected:
    bool admits(view::Point, view::Point) override { return true; }

  private:
    struct Line;
    void add(std::string_view text, const view::Font& font, float y, Line& line) const;
    void add_root(const view::Font& font, std::string_view radicand, Line& line) const;
    void set(const view::Font& font, std::string_view text, Line& line) const;
    float least_px_;
};

}  // namespace attn::ui
