#include "app/fonts/layout.h"

#include <emscripten.h>

#include <map>
#include <tuple>
#include <utility>

#include "app/fonts/fonts.h"
#include "app/fonts/script.h"
#include "core/matrix_view.h"
#include "core/shape.h"
#include "core/stages.h"

/// A line as the browser's canvas sets it: it shapes and orders every script, in the fonts that its machine has.
struct _PangoLayout {
    std::string css;  // its font
};

namespace attn::fonts {
namespace {

constexpr std::size_t kMaxCached = 2048;

// What is asked for: 0 width, 1–4 left, top, right and bottom of the ink.
EM_JS(double, attn_measure, (const char* css, const char* text, int what),
      { return Module.attnMeasure(UTF8ToString(css), UTF8ToString(text))[what]; });
EM_JS(void, attn_paint,
      (const char* css, const char* text, const char* color, int left, int top, int width,
       int height, std::uint8_t* rgba),
      {
          const pixels = Module.attnPaint(UTF8ToString(css), UTF8ToString(text),
                                          UTF8ToString(color), left, top, width, height);
          HEAPU8.set(pixels, rgba);
      });

std::string css_of(const view::Font& font) {
    const auto all = families(font.face);
    std::string css = all.front().cut == Cut::bold     ? "bold "
                      : all.front().cut == Cut::italic ? "italic "
                                                       : "";
    css += std::to_string(font.em()) + "px ";
    for (const Family& family : all) css += "\"" + std::string(family.name) + "\",";
    return css + "sans-serif";
}

std::uint64_t key_of(std::string_view css, std::string_view text) {
    std::uint64_t key = 14695981039346656037U;  // FNV-1a
    for (const std::string_view part : {css, text})
        for (const char byte : part)
            key = (key ^ static_cast<unsigned char>(byte)) * 1099511628211U;
    return key;
}

}  // namespace

void Layout::Unref::operator()(PangoLayout* layout) const { delete layout; }

Layout::Layout(const view::Font& font, std::string_view text)
    : layout_(new _PangoLayout{css_of(font)}), text_(directed(text)) {
    const char* const css = layout_->css.c_str();
    const auto measured = [&](int what) { return attn_measure(css, text_.c_str(), what); };
    key_ = key_of(layout_->css, text_);
    width_ = static_cast<float>(measured(0));
    ink_ = {static_cast<int>(measured(1)), static_cast<int>(measured(2)),
            static_cast<int>(measured(3)), static_cast<int>(measured(4))};
}

std::vector<std::string> Layout::families() const { return {}; }
std::vector<std::uint32_t> Layout::glyphs() const { return {}; }

/// The canvas does not say where letters stand: as wide as what comes before.
float Layout::caret(std::string_view text, std::size_t byte) const {
    const std::string before(text.substr(0, byte));
    return static_cast<float>(attn_measure(layout_->css.c_str(), before.c_str(), 0));
}

void Layout::draw(cairo_t*) const {}

view::Image Layout::image(view::Color color) const {
    view::Image image{ink_.right - ink_.left, ink_.bottom - ink_.top, {}};
    image.rgba.resize(4 * static_cast<std::size_t>(image.width) *
                      static_cast<std::size_t>(image.height));
    const std::string css_color = "rgb(" + std::to_string(color.r) + "," + std::to_string(color.g) +
                                  "," + std::to_string(color.b) + ")";
    attn_paint(layout_->css.c_str(), text_.c_str(), css_color.c_str(), ink_.left, ink_.top,
               image.width, image.height, image.rgba.data());
    return image;
}

const Layout* lay_out(const view::Font& font, std::string_view text) {
    using Key = std::tuple<view::Face, float, std::string>;
    static thread_local std::map<Key, Layout> known;
    Key key{font.face, font.px, text};
    const auto place = known.find(key);
    if (place != known.end()) return &place->second;
    if (known.size() >= kMaxCached) known.clear();
    return &known.try_emplace(std::move(key), font, text).first->second;
}

}  // namespace attn::fonts
