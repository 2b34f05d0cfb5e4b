#include "app/fonts/layout.h"

#include <windows.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "app/fonts/fonts.h"
#include "app/fonts/script.h"

/// A line as GDI sets it: it shapes and orders every script, in the fonts of this machine.
struct _PangoLayout {
    HFONT font;
    std::wstring text;
};

namespace attn::fonts {
namespace {

constexpr std::size_t kMaxCached = 2048;
constexpr int kMostPixels = 8192;  // every OpenGL takes a texture of that size
constexpr int kMargin = 2;         // of ink beside a line's box

/// In UTF-16; bytes that are not UTF-8 become U+FFFD.
std::wstring wide(std::string_view text) {
    const auto bytes = static_cast<int>(text.size());
    const int count = ::MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, nullptr, 0);
    std::wstring letters(static_cast<std::size_t>(count), L'\0');
    ::MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, letters.data(), count);
    return letters;
}

/// Windows' own font, whose links lead to those of other scripts.
HFONT make_font(const view::Font& font) {
    const auto all = families(font.face);
    LOGFONTW wanted{};
    wanted.lfHeight = -static_cast<LONG>(std::lround(font.em()));
    wanted.lfWeight = all.front().cut == Cut::bold ? FW_BOLD : FW_NORMAL;
    wanted.lfItalic = all.front().cut == Cut::italic ? TRUE : FALSE;
    wanted.lfQuality = ANTIALIASED_QUALITY;
    wanted.lfCharSet = DEFAULT_CHARSET;
    ::lstrcpyW(wanted.lfFaceName, L"Segoe UI");
    return ::CreateFontIndirectW(&wanted);
}

/// A place to measure and to draw, with a font.
class Canvas {
  public:
    explicit Canvas(HFONT font)
        : context_(::CreateCompatibleDC(nullptr)), before_(::SelectObject(context_, font)) {}
    ~Canvas() {
        ::SelectObject(context_, before_);
        ::DeleteDC(context_);
    }
    Canvas(const Canvas&) = delete;
    Canvas& operator=(const Canvas&) = delete;

    HDC get() const { return context_; }
    SIZE size(const std::wstring& text) const {
        SIZE size{};
        ::GetTextExtentPoint32W(context_, text.data(), static_cast<int>(text.size()), &size);
        return size;
    }
    int ascent() const {
        TEXTMETRICW metrics{};
        ::GetTextMetricsW(context_, &metrics);
        return metrics.tmAscent;
    }

  private:
    HDC context_;
    HGDIOBJ before_;
};

std::uint64_t key_of(const view::Font& font, std::string_view text) {
    std::uint64_t key = 14695981039346656037U;  // FNV-1a
    const auto add = [&key](std::uint64_t value) { key = (key ^ value) * 1099511628211U; };
    add(static_cast<std::uint64_t>(font.face));
    add(static_cast<std::uint64_t>(std::lround(font.px * 1024.0F)));
    for (const char byte : text) add(static_cast<unsigned char>(byte));
    return key;
}

}  // namespace

void Layout::Unref::operator()(PangoLayout* layout) const {
    ::DeleteObject(layout->font);
    delete layout;
}

Layout::Layout(const view::Font& font, std::string_view text)
    : text_(directed(text)), key_(key_of(font, text)) {
    layout_.reset(new _PangoLayout{make_font(font), wide(text_)});
    const Canvas canvas(layout_->font);
    const SIZE size = canvas.size(layout_->text);
    width_ = static_cast<float>(size.cx);
    ink_ = {-kMargin, -canvas.ascent(), std::min<int>(size.cx + kMargin, kMostPixels - kMargin),
            std::min<int>(size.cy - canvas.ascent(), kMostPixels / 2)};
}

std::vector<std::string> Layout::families() const { return {}; }
std::vector<std::uint32_t> Layout::glyphs() const { return {}; }

/// GDI does not say where letters stand: as wide as what comes before.
float Layout::caret(std::string_view text, std::size_t byte) const {
    return static_cast<float>(Canvas(layout_->font).size(wide(text.substr(0, byte))).cx);
}

void Layout::draw(cairo_t*) const {}

view::Image Layout::image(view::Color color) const {
    view::Image image{ink_.right - ink_.left, ink_.bottom - ink_.top, {}};
    const auto pixels =
        static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
    image.rgba.resize(4 * pixels);
    BITMAPINFO format{};
    format.bmiHeader.biSize = sizeof(format.bmiHeader);
    format.bmiHeader.biWidth = image.width;
    format.bmiHeader.biHeight = -image.height;  // the top row first
    format.bmiHeader.biPlanes = 1;
    format.bmiHeader.biBitCount = 32;
    const Canvas canvas(layout_->font);
    void* bits = nullptr;
    const HBITMAP bitmap =
        ::CreateDIBSection(canvas.get(), &format, DIB_RGB_COLORS, &bits, nullptr, 0);
    if (bitmap == nullptr) return image;
    const HGDIOBJ before = ::SelectObject(canvas.get(), bitmap);
    ::SetTextColor(canvas.get(), RGB(255, 255, 255));
    ::SetBkMode(canvas.get(), TRANSPARENT);
    ::SetTextAlign(canvas.get(), TA_LEFT | TA_BASELINE);
    ::TextOutW(canvas.get(), -ink_.left, -ink_.top, layout_->text.data(),
               static_cast<int>(layout_->text.size()));
    ::GdiFlush();
    const auto* const coverage = static_cast<const std::uint32_t*>(bits);  // white on black
    for (std::size_t n = 0; n < pixels; ++n) {
        std::uint8_t* const rgba = image.rgba.data() + 4 * n;
        rgba[0] = color.r, rgba[1] = color.g, rgba[2] = color.b;
        rgba[3] = static_cast<std::uint8_t>(coverage[n] >> 8U & 0xFFU);
    }
    ::SelectObject(canvas.get(), before);
    ::DeleteObject(bitmap);
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
