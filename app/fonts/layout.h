#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/painter.h"

using cairo_t = struct _cairo;
using PangoLayout = struct _PangoLayout;

namespace attn::fonts {

/// A line in a script that is not simple, as Pango sets it: shaped by HarfBuzz, ordered by FriBidi, each
/// character in the face's families or in whatever font of this machine has it. Lengths are pixels.
class Layout {
  public:
    /// `text` is UTF-8 without control characters.
    Layout(const view::Font& font, std::string_view text);

    float width() const { return width_; }
    /// What is set, with its marks of direction; U+FFFD stands for what no font has.
    const std::string& text() const { return text_; }
    /// Whether the fonts of this machine have every character.
    bool is_complete() const { return complete_; }
    /// The families that set it, from left to right.
    std::vector<std::string> families() const;
    /// Numbers of glyphs from left to right.
    std::vector<std::uint32_t> glyphs() const;

    /// Where something typed before that byte of `text`, which is laid out here, would stand.
    float caret(std::string_view text, std::size_t byte) const;

    /// On the base line that begins at the current point.
    void draw(cairo_t* cairo) const;

    /// What is seen: whole pixels from the beginning of the base line.
    struct Box {
        int left = 0, top = 0, right = 0, bottom = 0;
    };
    const Box& ink() const { return ink_; }
    /// The pixels of ink(), in white where no font has colours of its own.
    view::Image image(view::Color color) const;
    bool is_colored() const { return colored_; }
    /// Names it: face, size and text.
    std::uint64_t key() const { return key_; }

  private:
    struct Unref {
        void operator()(PangoLayout* layout) const;
    };
    std::unique_ptr<PangoLayout, Unref> layout_;
    std::string text_;
    float width_ = 0.0F;
    Box ink_;
    bool complete_ = true, colored_ = false;
    std::uint64_t key_ = 0;
};

/// The same line is laid out once, as long as it is asked for; until the next call on this thread.
/// nullptr on a machine without fonts.
const Layout* lay_out(const view::Font& font, std::string_view text);

}  // namespace attn::fonts
