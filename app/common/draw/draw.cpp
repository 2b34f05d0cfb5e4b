#include "app/common/draw/draw.h"

#include <iterator>

#include "app/common/draw/heading.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/set_field.h"
#include "app/fonts/script.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kRing = 2.0F, kRingEdge = 1.0F, kBoxRadius = 4.0F;

/// The end of the first `count` characters of UTF-8 `text`.
std::size_t prefix_bytes(std::string_view text, std::size_t count) {
    std::size_t at = 0;
    while (at < text.size() && count-- > 0) at += fonts::first_character(text.substr(at));
    return at;
}

/// Where the characters of `text` end.
std::vector<std::size_t> ends_of(std::string_view text) {
    std::vector<std::size_t> ends;
    for (std::size_t end = 0; end < text.size(); ends.push_back(end))
        end += prefix_bytes(text.substr(end), 1);
    return ends;
}

/// The end of as many characters as fit in `width`. In a simple text widths add up: no letter leans on the next.
std::size_t fitting_bytes(const Frame& frame, const view::Font& font, std::string_view text,
                          float width) {
    std::size_t end = 0;
    if (!fonts::is_simple(text)) {
        const auto ends = ends_of(text);
        const auto over = std::ranges::partition_point(ends, [&](std::size_t at) {
            return frame.text_width(font, text.substr(0, at)) <= width;
        });
        return over == ends.begin() ? 0 : *std::prev(over);
    }
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
    float space = width;
    while (end < text.size() && text[end] != '\n') {
        const std::size_t stop = std::min(text.find_first_of(" \n", end + 1), text.size());
        space -= frame.text_width(font, text.substr(end, stop - end));
        if (space < 0.0F)
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

ImVec2 size_of(const Frame& frame, const view::Font& font,
               const std::vector<std::string_view>& lines) {
    float width = 0.0F;
    for (const std::string_view line : lines)
        width = std::max(width, std::ceil(frame.text_width(font, line)));
    return {width, font.px * static_cast<float>(lines.size())};
}

/// As an item of its own, wrapped in `room`; "" is none.
void draw_lines(const Frame& frame, const view::Font& font, Color color, std::string_view text,
                float space) {
    if (text.empty()) return;
    const auto lines = wrap(frame, font, text, space);
    ImVec2 at = place_text(size_of(frame, font, lines));
    for (const std::string_view line : lines) {
        frame.painter.text(font, at, color, line);
        at.y += font.px;
    }
}

// ---- tooltips

// Design units.
constexpr float kWrap = 420.0F;
constexpr float kPointer = 20.0F;  // around the pointer on what is larger than a control
constexpr float kControl = 72.0F;  // the tallest thing that a tooltip stands beneath

struct Text {
    const std::string& heading;
    const std::string& text;
};

ImVec2 padding(const Frame& frame) { return {frame.px(12), frame.px(8)}; }

/// Of the whole tooltip, before it is drawn.
ImVec2 size_of(const Frame& frame, const Text& text) {
    const ImVec2 pad = padding(frame);
    ImVec2 size{0.0F, 0.0F};
    for (const std::string* part : {&text.heading, &text.text}) {
        if (part->empty()) continue;
        const Font& font = frame.fonts.body;
        const ImVec2 block = size_of(frame, font, wrap(frame, font, *part, frame.px(kWrap)));
        const float gap = size.y > 0.0F ? ImGui::GetStyle().ItemSpacing.y : 0.0F;
        size = {std::max(size.x, block.x), size.y + gap + block.y};
    }
    return {size.x + 2 * pad.x, size.y + 2 * pad.y};
}

/// What floats leaves so much free at the edges of the window.
ImVec2 edge() { return ImGui::GetStyle().DisplaySafeAreaPadding; }

bool fits(ImVec2 at, ImVec2 size) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    return at.x >= edge().x && at.y >= edge().y && at.x + size.x <= display.x - edge().x &&
           at.y + size.y <= display.y - edge().y;
}

ImVec2 on_screen(ImVec2 at, ImVec2 size) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    return {within(at.x, edge().x, display.x - edge().x - size.x),
            within(at.y, edge().y, display.y - edge().y - size.y)};
}

/// Beside `low` … `high`: beneath or to the right first, then where there is room.
ImVec2 place(const Frame& frame, ImVec2 low, ImVec2 high, ImVec2 size, Beside first) {
    const float gap = frame.px(kSpace8);
    const ImVec2 below{low.x, high.y + gap};
    const ImVec2 above{low.x, low.y - gap - size.y};
    const ImVec2 right{high.x + gap, low.y};
    const ImVec2 left{low.x - gap - size.x, low.y};
    const bool beneath = first == Beside::below;
    const ImVec2 order[] = {beneath ? below : right, beneath ? above : left,
                            beneath ? right : below, beneath ? left : above};
    for (const ImVec2 at : order) {
        const bool vertical = at.y != low.y;
        const ImVec2 inside = on_screen(at, size);
        const ImVec2 slid = vertical ? ImVec2{inside.x, at.y} : ImVec2{at.x, inside.y};
        if (fits(slid, size)) return slid;
    }
    return on_screen(order[0], size);
}

void draw_description(const Frame& frame, const Text& text) {
    draw_lines(frame, frame.fonts.body, frame.theme.text, text.heading, frame.px(kWrap));
    draw_lines(frame, frame.fonts.body, frame.theme.muted, text.text, frame.px(kWrap));
}

void draw_tooltip(const Frame& frame, ImVec2 low, ImVec2 high, Beside first, const Text& text) {
    ImGui::SetNextWindowPos(place(frame, low, high, size_of(frame, text), first));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding(frame));
    ImGui::BeginTooltip();
    draw_description(frame, text);
    ImGui::EndTooltip();
    ImGui::PopStyleVar();
}

bool is_wanted(const Frame& frame, const Text& text) {
    if (frame.quiet || (text.heading.empty() && text.text.empty())) return false;
    if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return false;
    return !ImGui::IsItemActive();  // it would cover the value while a slider is pulled
}

}  // namespace

std::size_t characters(std::string_view text) {
    std::size_t count = 0;
    for (; !text.empty(); ++count) text.remove_prefix(fonts::first_character(text));
    return count;
}

ImU32 to_u32(Color color, double alpha) {
    return IM_COL32(color.r, color.g, color.b, std::lround(color.a * alpha));
}

ImVec4 to_vec4(Color color) { return ImGui::ColorConvertU32ToFloat4(to_u32(color)); }

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
    const float space = width - frame.text_width(font, "…");
    return std::string(text.substr(0, fitting_bytes(frame, font, text, space))) + "…";
}

std::string_view cut_text(const Frame& frame, const view::Font& font, std::string_view text,
                          float width) {
    return text.substr(0, fitting_bytes(frame, font, text, width));
}

std::string middle_ellipsis(std::string_view text, std::size_t most) {
    const std::size_t count = characters(text);
    if (count <= most) return std::string(text);
    const std::size_t tail = (most - 1) / 2;
    const std::size_t head = prefix_bytes(text, most - 1 - tail);
    return std::string(text.substr(0, head)) + "…" +
           std::string(text.substr(prefix_bytes(text, count - tail)));
}

std::string fit_ends(const Frame& frame, const view::Font& font, std::string_view text,
                     float width) {
    const std::string_view begins = cut_text(frame, font, text, width);
    if (begins.size() == text.size()) return std::string(text);
    std::size_t most = characters(begins);
    std::string shown = middle_ellipsis(text, most);
    while (most > 1 && frame.text_width(font, shown) > width) shown = middle_ellipsis(text, --most);
    const std::size_t gap = shown.find("…");
    const std::size_t word = shown.rfind(' ', gap), rest = shown.find(' ', gap);
    if (gap == shown.npos || word == shown.npos || rest == shown.npos) return shown;
    return shown.substr(0, word) + " … " + shown.substr(rest + 1);
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

void draw_ring(Painter& painter, Point low, Point high, const Theme& theme, float scale) {
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

void put_text(const Frame& frame, const view::Font& font, Color color, std::string_view text) {
    const Point size = frame.painter.text_size(font, text);
    const ImVec2 at = place_text({std::ceil(size.x), size.y});
    frame.painter.text(font, at, color, text);
}

float wrapped_height(const Frame& frame, const view::Font& font, std::string_view text,
                     float width) {
    return size_of(frame, font, wrap(frame, font, text, width)).y;
}

void wrapped_text(const Frame& frame, const view::Font& font, Color color, std::string_view text) {
    draw_lines(frame, font, color, text, ImGui::GetContentRegionAvail().x);
}

void tooltip_beside(const Frame& frame, ImVec2 low, ImVec2 high, Beside first,
                    const std::string& heading, const std::string& description) {
    const Text text{heading, description};
    // The headline beneath a control of the bar shows its effect.
    const bool in_bar = first == Beside::below && high.y <= bar_height(frame);
    if (in_bar) high.y = std::max(high.y, bar_height(frame) + heading_height(frame));
    if (is_wanted(frame, text)) draw_tooltip(frame, low, high, first, text);
}

void tooltip_at_pointer(const Frame& frame, const std::string& heading, const std::string& text) {
    if (frame.quiet) return;
    const ImVec2 at = ImGui::GetMousePos();
    const float away = frame.px(kPointer);
    draw_tooltip(frame, {at.x - away, at.y - away}, {at.x + away, at.y + away}, Beside::below,
                 {heading, text});
}

void tooltip_now(const Frame& frame, const std::string& heading, const std::string& text) {
    if (!frame.quiet)
        draw_tooltip(frame, ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), Beside::below,
                     {heading, text});
}

void tooltip(const Frame& frame, const std::string& heading, const std::string& text) {
    const ImVec2 low = ImGui::GetItemRectMin();
    const ImVec2 high = ImGui::GetItemRectMax();
    if (high.y - low.y <= frame.px(kControl))
        return tooltip_beside(frame, low, high, Beside::below, heading, text);
    const ImVec2 at = ImGui::GetMousePos();
    const float away = frame.px(kPointer);
    tooltip_beside(frame, {at.x - away, at.y - away}, {at.x + away, at.y + away}, Beside::right,
                   heading, text);
}

}  // namespace attn::ui
