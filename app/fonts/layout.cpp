#include "app/fonts/layout.h"

#include <fontconfig/fontconfig.h>
#include <pango/pangocairo.h>
#include <pango/pangofc-font.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "app/fonts/fonts.h"
#include "app/fonts/script.h"
#include "core/text.h"

namespace attn::fonts {
namespace {

constexpr std::size_t kMaxCached = 2048;
constexpr int kMostPixels = 8192;  // every OpenGL takes a texture of that size

struct Free {
    void operator()(PangoContext* context) const { g_object_unref(context); }
    void operator()(PangoFontDescription* font) const { pango_font_description_free(font); }
    void operator()(cairo_t* cairo) const { cairo_destroy(cairo); }
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
    void operator()(cairo_font_options_t* options) const { cairo_font_options_destroy(options); }
};
template <class T>
using Ptr = std::unique_ptr<T, Free>;

/// Without hinting, as all figures are set: the same at every zoom.
Ptr<PangoContext> make_context() {
    PangoFontMap* const fonts = pango_cairo_font_map_new();
    Ptr<PangoContext> context(pango_font_map_create_context(fonts));
    g_object_unref(fonts);
    const Ptr<cairo_font_options_t> options(cairo_font_options_create());
    cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
    pango_cairo_context_set_font_options(context.get(), options.get());
    pango_context_set_round_glyph_positions(context.get(), FALSE);
    pango_context_set_base_dir(context.get(), PANGO_DIRECTION_LTR);
    pango_context_set_language(context.get(), pango_language_from_string("en"));
    return context;
}

PangoLayout* new_layout() {
    static thread_local const Ptr<PangoContext> context = make_context();
    return pango_layout_new(context.get());
}

void set_font(PangoLayout* layout, const view::Font& font) {
    const auto all = families(font.face);
    std::string names;
    for (const Family& family : all) names += std::string(names.empty() ? "" : ",") += family.name;
    const Ptr<PangoFontDescription> wanted(pango_font_description_new());
    pango_font_description_set_family(wanted.get(), names.c_str());
    pango_font_description_set_absolute_size(wanted.get(), double{font.em()} * PANGO_SCALE);
    if (all.front().cut == Cut::bold)
        pango_font_description_set_weight(wanted.get(), PANGO_WEIGHT_BOLD);
    if (all.front().cut == Cut::italic)
        pango_font_description_set_style(wanted.get(), PANGO_STYLE_ITALIC);
    pango_layout_set_font_description(layout, wanted.get());
}

PangoLayoutLine* line_of(PangoLayout* layout) { return pango_layout_get_line_readonly(layout, 0); }

/// Calls `see` with every run of glyphs, from left to right.
template <class See>
void each_run(PangoLayout* layout, See see) {
    for (const GSList* at = line_of(layout)->runs; at; at = at->next)
        see(*static_cast<const PangoGlyphItem*>(at->data));
}

/// Marks of direction have none.
std::vector<std::uint32_t> seen_glyphs(const PangoGlyphItem& run) {
    std::vector<std::uint32_t> seen;
    for (int n = 0; n < run.glyphs->num_glyphs; ++n)
        if (const PangoGlyph glyph = run.glyphs->glyphs[n].glyph; glyph != PANGO_GLYPH_EMPTY)
            seen.push_back(glyph);
    return seen;
}

/// Those that directed() sets.
bool is_mark(char32_t c) { return c == 0x200E || (c >= 0x2067 && c <= 0x2069); }

/// Where characters begin that no font has.
std::vector<std::size_t> missing(PangoLayout* layout) {
    std::vector<std::size_t> places;
    each_run(layout, [&](const PangoGlyphItem& run) {
        for (int n = 0; n < run.glyphs->num_glyphs; ++n)
            if ((run.glyphs->glyphs[n].glyph & PANGO_GLYPH_UNKNOWN_FLAG) != 0)
                places.push_back(
                    static_cast<std::size_t>(run.item->offset + run.glyphs->log_clusters[n]));
    });
    std::ranges::sort(places, std::ranges::greater());
    places.erase(std::ranges::unique(places).begin(), places.end());
    return places;
}

bool has_colors(PangoFont* font) {
    FcBool colors = FcFalse;
    return PANGO_IS_FC_FONT(font) &&
           FcPatternGetBool(pango_fc_font_get_pattern(PANGO_FC_FONT(font)), FC_COLOR, 0, &colors) ==
               FcResultMatch &&
           colors == FcTrue;
}

Layout::Box whole_pixels(const PangoRectangle& ink) {
    if (ink.width <= 0 || ink.height <= 0) return {};
    const auto low = [](int at) { return PANGO_PIXELS_FLOOR(at) - 1; };
    const auto high = [](int at) { return PANGO_PIXELS_CEIL(at) + 1; };
    Layout::Box box{low(ink.x), low(ink.y), high(ink.x + ink.width), high(ink.y + ink.height)};
    box.right = std::min(box.right, box.left + kMostPixels);
    box.bottom = std::min(box.bottom, box.top + kMostPixels);
    return box;
}

std::uint64_t key_of(const view::Font& font, std::string_view text) {
    std::uint64_t key = 14695981039346656037U;  // FNV-1a
    const auto add = [&key](std::uint64_t value) { key = (key ^ value) * 1099511628211U; };
    add(static_cast<std::uint64_t>(font.face));
    add(static_cast<std::uint64_t>(std::lround(font.px * PANGO_SCALE)));
    for (const char byte : text) add(static_cast<unsigned char>(byte));
    return key;
}

/// One pixel of cairo, which holds colours times alpha.
void put_pixel(std::uint32_t pixel, std::uint8_t* rgba) {
    const std::uint32_t alpha = pixel >> 24U;
    const auto part = [&](unsigned shift) {
        const std::uint32_t value = pixel >> shift & 0xFFU;
        return static_cast<std::uint8_t>(
            alpha == 0 ? 0 : std::min(255U, (value * 255U + alpha / 2) / alpha));
    };
    rgba[0] = part(16);
    rgba[1] = part(8);
    rgba[2] = part(0);
    rgba[3] = static_cast<std::uint8_t>(alpha);
}

}  // namespace

void Layout::Unref::operator()(PangoLayout* layout) const { g_object_unref(layout); }

Layout::Layout(const view::Font& font, std::string_view text)
    : layout_(new_layout()), text_(directed(text)), key_(key_of(font, text)) {
    PangoLayout* const layout = layout_.get();
    set_font(layout, font);
    pango_layout_set_single_paragraph_mode(layout, TRUE);
    pango_layout_set_auto_dir(layout, FALSE);
    pango_layout_set_text(layout, text_.data(), static_cast<int>(text_.size()));
    if (const auto places = missing(layout); !places.empty()) {
        complete_ = false;
        for (const std::size_t at : places)
            text_.replace(at, first_code_point(std::string_view(text_).substr(at)).bytes, "\uFFFD");
        pango_layout_set_text(layout, text_.data(), static_cast<int>(text_.size()));
    }
    PangoRectangle ink, logical;
    pango_layout_line_get_extents(line_of(layout), &ink, &logical);
    width_ = static_cast<float>(logical.width) / PANGO_SCALE;
    ink_ = whole_pixels(ink);
    each_run(layout, [this](const PangoGlyphItem& run) {
        colored_ = colored_ || has_colors(run.item->analysis.font);
    });
}

std::vector<std::string> Layout::families() const {
    std::vector<std::string> names;
    each_run(layout_.get(), [&](const PangoGlyphItem& run) {
        if (seen_glyphs(run).empty()) return;
        const Ptr<PangoFontDescription> font(pango_font_describe(run.item->analysis.font));
        const std::string name = pango_font_description_get_family(font.get());
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    });
    return names;
}

std::vector<std::uint32_t> Layout::glyphs() const {
    std::vector<std::uint32_t> glyphs;
    each_run(layout_.get(), [&](const PangoGlyphItem& run) {
        for (const std::uint32_t glyph : seen_glyphs(run)) glyphs.push_back(glyph);
    });
    return glyphs;
}

/// After the character before it, on that one's side; at the beginning before the first.
float Layout::caret(std::string_view text, std::size_t byte) const {
    std::size_t at = 0, last = 0;
    const auto here = [&] { return first_code_point(std::string_view(text_).substr(at)); };
    for (std::size_t n = 0; n < text.size() && (n == 0 || n < byte);) {
        const CodePoint typed = first_code_point(text.substr(n));
        while (here().value != typed.value && is_mark(here().value)) at += here().bytes;
        last = std::exchange(at, at + here().bytes);
        n += typed.bytes;
    }
    int x = 0;
    pango_layout_line_index_to_x(line_of(layout_.get()), static_cast<int>(last),
                                 byte > 0 ? TRUE : FALSE, &x);
    return static_cast<float>(x) / PANGO_SCALE;
}

void Layout::draw(cairo_t* cairo) const {
    pango_cairo_show_layout_line(cairo, line_of(layout_.get()));
}

view::Image Layout::image(view::Color color) const {
    view::Image image{ink_.right - ink_.left, ink_.bottom - ink_.top, {}};
    const Ptr<cairo_surface_t> surface(
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, image.width, image.height));
    const Ptr<cairo_t> cairo(cairo_create(surface.get()));
    cairo_set_source_rgb(cairo.get(), color.r / 255.0, color.g / 255.0, color.b / 255.0);
    cairo_move_to(cairo.get(), -ink_.left, -ink_.top);
    draw(cairo.get());
    cairo_surface_flush(surface.get());
    const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(surface.get()));
    const unsigned char* const rows = cairo_image_surface_get_data(surface.get());
    image.rgba.resize(4 * static_cast<std::size_t>(image.width) *
                      static_cast<std::size_t>(image.height));
    std::uint8_t* to = image.rgba.data();
    for (std::size_t y = 0; y < static_cast<std::size_t>(image.height); ++y) {
        const auto* const row = reinterpret_cast<const std::uint32_t*>(rows + y * stride);
        for (int x = 0; x < image.width; ++x, to += 4) put_pixel(row[x], to);
    }
    return image;
}

const Layout* lay_out(const view::Font& font, std::string_view text) {
    const FcFontSet* const all = FcConfigGetFonts(nullptr, FcSetSystem);
    if (!all || all->nfont == 0) return nullptr;
    using Key = std::tuple<view::Face, float, std::string>;
    static thread_local std::map<Key, Layout> known;
    Key key{font.face, font.px, text};
    auto place = known.find(key);
    if (place != known.end()) return &place->second;
    if (known.size() >= kMaxCached) known.clear();
    return &known.try_emplace(std::move(key), font, text).first->second;
}

}  // namespace attn::fonts
