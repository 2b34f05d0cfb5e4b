#include "app/common/draw/draw.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

#include "app/common/draw/imgui_compat.h"

namespace attn::ui {
namespace {

using view::Color;
using view::Point;

// Design units.
constexpr float kRing = 2.0F;
constexpr float kRingEdge = 1.0F;
constexpr float kBoxRadius = 4.0F;

/// The end of the first `count` code points of UTF-8 `text`.
std::size_t prefix_bytes(std::string_view text, std::size_t count) {
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
        const bool starts = (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U;
        if (starts && count-- == 0) break;
    }
    return at;
}

std::size_t code_points(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

/// The end of as many characters as fit in `width`. Widths add up: no letter leans on the next.
std::size_t fitting_bytes(const Frame& frame, const view::Font& font, std::string_view text,
                          float width) {
    std::size_t end = 0;
    while (end < text.size()) {
        const std::size_t next = prefix_bytes(text.substr(end), 1);
        width -= frame.text_width(font, text.substr(end, next));
        if (width < 0.0F) break;
        end += next;
    }
    return end;
}

/// Where a line of at most `width` ends: before a blank, or within a word that is too wide for any
/// line, after a character at least.
std::size_t line_end(const Frame& frame, const view::Font& font, std::string_view text,
                     float width) {
    std::size_t end = 0;
    float room = width;
    while (end < text.size() && text[end] != '\n') {
        const std::size_t stop = std::min(text.find_first_of(" \n", end + 1), text.size());
        room -= frame.text_width(font, text.substr(end, stop - end));
        if (room < 0.0F)
            return end > 0 ? end
                           : std::max(fitting_bytes(frame, font, text.substr(0, stop), width),
                                      prefix_bytes(text, 1));
        end = stop;
    }
    return end;
}

/// Lines without the blanks and line breaks between them.
std::vector<std::string_view> wrap(const Frame& frame, const view::Font& font,
                                   std::string_view text, float width) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = line_end(frame, font, text, width);
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end);
        while (text.starts_with(' ')) text.remove_prefix(1);
        if (text.starts_with('\n')) text.remove_prefix(1);
    }
    return lines;
}

}  // namespace

ImU32 to_u32(view::Color color, double alpha) {
    return IM_COL32(color.r, color.g, color.b, std::lround(color.a * alpha));
}

ImVec4 to_vec4(view::Color color) { return ImGui::ColorConvertU32ToFloat4(to_u32(color)); }

void draw_text_in(const Frame& frame, const view::Font& font, Point low, Point high, Align align,
                  Color color, std::string_view text) {
    const Point size = frame.painter.text_size(font, text);
    const float slack = high.x - low.x - size.x;
    const float share = align == Align::left ? 0.0F : align == Align::center ? 0.5F : 1.0F;
    frame.painter.text(font, {low.x + slack * share, (low.y + high.y - size.y) / 2}, color, text);
}

std::string fit_text(const Frame& frame, const view::Font& font, std::string_view text,
                     float width) {
    if (frame.text_width(font, text) <= width) return std::string(text);
    const float room = width - frame.text_width(font, "…");
    return std::string(text.substr(0, fitting_bytes(frame, font, text, room))) + "…";
}

std::string_view cut_text(const Frame& frame, const view::Font& font, std::string_view text,
                          float width) {
    return text.substr(0, fitting_bytes(frame, font, text, width));
}

std::string middle_ellipsis(std::string_view text, std::size_t most) {
    const std::size_t count = code_points(text);
    if (count <= most) return std::string(text);
    const std::size_t tail = (most - 1) / 2;
    const std::size_t head = prefix_bytes(text, most - 1 - tail);
    return std::string(text.substr(0, head)) + "…" +
           std::string(text.substr(prefix_bytes(text, count - tail)));
}

void draw_rotated_text(const Frame& frame, const view::Font& font, Point at, float degrees,
                       Color color, std::string_view text) {
    const float height = frame.painter.text_size(font, text).y;
    frame.painter.push_rotation(at, degrees);
    frame.painter.text(font, {at.x, at.y - height / 2}, color, text);
    frame.painter.pop_rotation();
}

void draw_arrow(const Frame& frame, Point from, Point to, Color color, float thickness) {
    const float head = 3.0F * thickness;
    frame.painter.line(from, to, color, thickness);
    frame.painter.line({to.x - head, to.y - head}, to, color, thickness);
    frame.painter.line({to.x - head, to.y + head}, to, color, thickness);
}

void draw_ring(view::Painter& painter, Point low, Point high, const view::Theme& theme,
               float scale) {
    const float middle = kRing * scale / 2;  // of the line: it ends where the cell begins
    const Point from{low.x - middle, low.y - middle};
    const Point to{high.x + middle, high.y + middle};
    painter.outline(from, to, theme.background, (kRing + 2 * kRingEdge) * scale, kRing * scale);
    painter.outline(from, to, theme.text, kRing * scale, kRing * scale);
}

void draw_box(const Frame& frame, Point low, Point high, Color fill) {
    frame.painter.rect(low, high, fill, frame.px(kBoxRadius));
    frame.painter.outline(low, high, frame.theme.control, frame.px(1), frame.px(kBoxRadius));
}

void words(const Frame& frame, const view::Font& font, Color color, std::string_view text) {
    const Point size = frame.painter.text_size(font, text);
    const ImVec2 at = place_text({std::ceil(size.x), size.y});
    frame.painter.text(font, at, color, text);
}

void wrapped_words(const Frame& frame, const view::Font& font, Color color, std::string_view text) {
    if (text.empty()) return;
    const auto lines = wrap(frame, font, text, ImGui::GetContentRegionAvail().x);
    float width = 0.0F;
    for (const std::string_view line : lines)
        width = std::max(width, std::ceil(frame.text_width(font, line)));
    ImVec2 at = place_text({width, font.px * static_cast<float>(lines.size())});
    for (const std::string_view line : lines) {
        frame.painter.text(font, at, color, line);
        at.y += font.px;
    }
}

}  // namespace attn::ui
