#include "app/common/draw/imgui_painter.h"

#include <imgui_internal.h>

#include <cfloat>
#include <numbers>

#include "app/common/draw/draw.h"
#include "app/common/draw/imgui_compat.h"
#include "app/fonts/layout.h"
#include "app/fonts/script.h"

namespace attn::ui {
namespace {

using view::Part;

// Rectangles up to here, one texture above: 65 k rectangles take 56 ms a frame.
constexpr Index kMostCells = 1024;

ImDrawList& list() { return *ImGui::GetWindowDrawList(); }
ImVec2 vec(Point p) { return {p.x, p.y}; }

/// A thin edge between two pixels would be half as strong on both.
ImVec2 on_pixel(Point p) { return {std::round(p.x), std::round(p.y)}; }

std::vector<ImVec2> vecs(std::span<const Point> points) {
    std::vector<ImVec2> out;
    out.reserve(points.size());
    for (const Point& point : points) out.push_back(vec(point));
    return out;
}

/// A symbol stands on its baseline to the pixel, at any size; words begin at a pixel.
ImVec2 top_left(ImFont& face, const view::Font& font, Point at) {
    const bool symbol = font.face == Face::italic || font.face == Face::roman;
    if (!symbol) return {std::round(at.x), std::round(at.y)};
    return {std::round(at.x), std::round(at.y + font.ascent()) - drawn_ascent(face, font.px)};
}

/// Turns the vertices from `first` on.
void rotate_vertices(ImDrawList& list, int first, Point about, float degrees) {
    const float radians = degrees * std::numbers::pi_v<float> / 180.0F;
    const float c = std::cos(radians);
    const float s = std::sin(radians);
    for (int v = first; v < list.VtxBuffer.Size; ++v) {
        ImVec2& p = list.VtxBuffer[v].pos;
        const ImVec2 d{p.x - about.x, p.y - about.y};
        p = {about.x + d.x * c - d.y * s, about.y + d.x * s + d.y * c};
    }
}

bool is_ascii(char byte) { return static_cast<unsigned char>(byte) < 0x80U; }

/// Whether the font draws all of them, and not what stands for any it lacks.
bool has_glyphs(ImFont& font, std::string_view text) {
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at < end;) {
        if (is_ascii(*at)) {
            ++at;
            continue;
        }
        unsigned int character = 0;
        at += ImTextCharFromUtf8(&character, at, end);
        if (!has_glyph(font, character)) return false;
    }
    return true;
}

/// The whole pixels of a line that is laid out, on the base line that ImGui gives its own.
void draw_layout(const fonts::Layout& layout, const Texture& texture, Point base, Color color) {
    const fonts::Layout::Box& ink = layout.ink();
    if (ink.right <= ink.left) return;
    const Color ink_color = layout.is_colored() ? color : Color{255, 255, 255};
    const Color tint = layout.is_colored() ? Color{255, 255, 255, color.a} : color;
    const std::uint64_t key =
        layout.key() ^ (to_u32({ink_color.r, ink_color.g, ink_color.b}) * 0x9E3779B97F4A7C15U);
    const Picture picture{key, [&] { return layout.image(ink_color); }};
    const auto across = [&](int x) { return base.x + static_cast<float>(x); };
    const auto down = [&](int y) { return base.y + static_cast<float>(y); };
    list().AddImage(texture_id(texture(picture, true)), {across(ink.left), down(ink.top)},
                    {across(ink.right), down(ink.bottom)}, {0.0F, 0.0F}, {1.0F, 1.0F},
                    to_u32(tint));
}

}  // namespace

const fonts::Layout* laid_out(const Fonts& fonts, const view::Font& font, std::string_view text) {
    if (std::ranges::all_of(text, is_ascii)) return nullptr;  // nearly all there is: asks no font
    if (fonts::is_simple(text) && has_glyphs(loaded(fonts, font), text)) return nullptr;
    return fonts::lay_out(font, fonts::clean_text(text));
}

Point ImguiPainter::text_size(const view::Font& font, std::string_view text) {
    if (const auto* const layout = laid_out(fonts_, font, text)) return {layout->width(), font.px};
    return loaded(fonts_, font)
        .CalcTextSizeA(font.px, FLT_MAX, 0.0F, text.data(), text.data() + text.size());
}

/// Turned glyphs are culled by no clip rectangle: they are elsewhere in the end.
void ImguiPainter::text(const view::Font& font, Point at, Color color, std::string_view text) {
    ImFont& face = loaded(fonts_, font);
    if (const auto* const layout = laid_out(fonts_, font, text)) {
        const Point base{at.x, at.y + drawn_ascent(face, font.px)};
        return draw_layout(*layout, texture_, turn_.first_vertex < 0 ? on_pixel(base) : base,
                           color);
    }
    const char* const end = text.data() + text.size();
    if (turn_.first_vertex < 0)
        return list().AddText(&face, font.px, top_left(face, font, at), to_u32(color), text.data(),
                              end);
    const ImVec4 everywhere{-FLT_MAX, -FLT_MAX, FLT_MAX, FLT_MAX};
    face.RenderText(&list(), font.px, vec(at), to_u32(color), everywhere, text.data(), end);
}

void ImguiPainter::rect(Point low, Point high, Color fill, float radius) {
    list().AddRectFilled(vec(low), vec(high), to_u32(fill), radius);
}

void ImguiPainter::outline(Point low, Point high, Color color, float thickness, float radius) {
    list().AddRect(on_pixel(low), on_pixel(high), to_u32(color), radius, 0, thickness);
}

void ImguiPainter::gradient(Point low, Point high, std::span<const Color> colors) {
    const auto steps = static_cast<float>(colors.size() - 1);
    const auto x = [&](std::size_t n) {
        return low.x + (high.x - low.x) * static_cast<float>(n) / steps;
    };
    for (std::size_t n = 1; n < colors.size(); ++n) {
        const ImU32 from = to_u32(colors[n - 1]);
        const ImU32 to = to_u32(colors[n]);
        list().AddRectFilledMultiColor({x(n - 1), low.y}, {x(n), high.y}, from, to, to, from);
    }
}

void ImguiPainter::line(Point from, Point to, Color color, float thickness) {
    const bool upright = from.x == to.x || from.y == to.y;
    list().AddLine(upright ? on_pixel(from) : vec(from), upright ? on_pixel(to) : vec(to),
                   to_u32(color), thickness);
}

void ImguiPainter::polyline(std::span<const Point> points, Color color, float thickness) {
    // At an acute angle AddPolyline draws a splinter: there a new line begins.
    const std::vector<ImVec2> path = vecs(points);
    const auto turns_back = [&](std::size_t n) {
        const ImVec2 a{path[n].x - path[n - 1].x, path[n].y - path[n - 1].y};
        const ImVec2 b{path[n + 1].x - path[n].x, path[n + 1].y - path[n].y};
        return a.x * b.x + a.y * b.y < 0.0F;
    };
    for (std::size_t from = 0, to = 1; to < path.size(); ++to) {
        if (to + 1 < path.size() && !turns_back(to)) continue;
        list().AddPolyline(path.data() + from, static_cast<int>(to - from + 1), to_u32(color), 0,
                           thickness);
        from = to;
    }
}

void ImguiPainter::polygon(std::span<const Point> corners, Color fill) {
    const std::vector<ImVec2> path = vecs(corners);
    list().AddConvexPolyFilled(path.data(), static_cast<int>(path.size()), to_u32(fill));
}

/// One convex quad for each step, without the soft edges that would show as seams.
void ImguiPainter::band(std::span<const Point> upper, std::span<const Point> lower, Color fill) {
    ImDrawList& to = list();
    const ImDrawListFlags flags = to.Flags;
    to.Flags &= ~ImDrawListFlags_AntiAliasedFill;
    for (std::size_t n = 1; n < upper.size(); ++n)
        to.AddQuadFilled(vec(upper[n - 1]), vec(upper[n]), vec(lower[n]), vec(lower[n - 1]),
                         to_u32(fill));
    to.Flags = flags;
}

void ImguiPainter::circle(Point middle, float radius, Color fill) {
    list().AddCircleFilled(vec(middle), radius, to_u32(fill));
}

void ImguiPainter::ring(Point middle, float radius, Color color, float thickness) {
    list().AddCircle(vec(middle), radius, to_u32(color), 0, thickness);
}

void ImguiPainter::image(const Picture& picture, Point low, Point high, const Part& part) {
    list().AddImage(texture_id(texture_(picture, false)), vec(low), vec(high), vec(part.low),
                    vec(part.high));
}

void ImguiPainter::push_clip(Point low, Point high) {
    list().PushClipRect(vec(low), vec(high), true);
}

void ImguiPainter::pop_clip() { list().PopClipRect(); }

void ImguiPainter::push_rotation(Point about, float degrees) {
    turn_ = {about, degrees, list().VtxBuffer.Size};
}

void ImguiPainter::pop_rotation() {
    rotate_vertices(list(), turn_.first_vertex, turn_.about, turn_.degrees);
    turn_ = {};
}

Index ImguiPainter::most_cells() const { return kMostCells; }

}  // namespace attn::ui
